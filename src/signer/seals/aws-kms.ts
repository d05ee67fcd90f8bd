import type { KeyWrapper } from "./wrapped-seal.ts";

/**
 * Wraps keys with a symmetric key of AWS KMS, which binds them to the context as encryption context. The SDK finds the
 * credentials. Throws if its package is not installed.
 *
 * @param key the id, the ARN or an alias of the key
 */
export async function awsKms(key: string): Promise<KeyWrapper> {
  const { KMSClient, EncryptCommand, DecryptCommand } = await load();
  const [, region] = /^arn:[^:]+:kms:([^:]+):/.exec(key) ?? [];
  const client = new KMSClient({
    ...(region && { region }),
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
  });
  const named = (context: string) => ({ KeyId: key, EncryptionContext: { [CONTEXT_NAME]: context } });
  return {
    by: "aws-kms",
    keyName: key,
    async wrap(plain, context) {
      const command = new EncryptCommand({ ...named(context), Plaintext: plain });
      const { CiphertextBlob } = await client.send(command).catch(tell);
      if (CiphertextBlob === undefined) throw new Error("AWS KMS returns no ciphertext");
      return CiphertextBlob;
    },
    async unwrap(wrapped, context) {
      const command = new DecryptCommand({ ...named(context), CiphertextBlob: wrapped });
      const { Plaintext } = await client.send(command).catch(tell);
      if (Plaintext === undefined) throw new Error("AWS KMS returns no plaintext");
      return Plaintext;
    },
  };
}

/** The name in the encryption context, which a key policy can require. */
const CONTEXT_NAME = "tss-signer-store";
const MAX_ATTEMPTS = 3;
const CONNECT_TIMEOUT_MS = 5_000;
const TIMEOUT_MS = 10_000;

function tell(error: unknown): never {
  const { name, message } = error instanceof Error ? error : new Error("unknown");
  throw new Error(`AWS KMS: ${name}: ${message.slice(0, 300)}`, { cause: error });
}

async function load() {
  try {
    return await import("@aws-sdk/client-kms");
  } catch (cause) {
    throw new Error("SIGNER_SEAL=aws-kms needs the package @aws-sdk/client-kms: install it", { cause });
  }
}
