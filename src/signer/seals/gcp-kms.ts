import type { KeyWrapper } from "./wrapped-seal.ts";

/**
 * Wraps keys with a symmetric key of Google Cloud KMS, which binds them to the context as additional authenticated data.
 * Google's library finds the credentials. Throws if its package is not installed.
 *
 * @param key the resource name, `projects/…/locations/…/keyRings/…/cryptoKeys/…`
 * @param url the API. Default: Google's
 */
export async function gcpKms(key: string, url: string = API_URL): Promise<KeyWrapper> {
  const { GoogleAuth } = await load();
  const auth = new GoogleAuth({ scopes: [SCOPE] });

  async function call(action: "encrypt" | "decrypt", body: object, result: string): Promise<Uint8Array> {
    const token = await auth.getAccessToken().catch((cause: unknown) => {
      const told = cause instanceof Error ? cause.message.slice(0, MAX_TEXT_CHARACTERS) : "";
      throw new Error(`Google Cloud KMS: there are no credentials: ${told}`, { cause });
    });
    const reply = await fetch(`${url}/v1/${key}:${action}`, {
      method: "POST",
      headers: { authorization: `Bearer ${String(token)}`, "content-type": "application/json" },
      body: JSON.stringify(body),
      // A redirect would carry the token to another place.
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((cause: unknown) => {
      throw new Error("Google Cloud KMS does not answer", { cause });
    });
    const answer = await readJson(reply);
    if (reply.status !== 200) {
      const { message } = (answer["error"] ?? {}) as { readonly message?: unknown };
      const told = typeof message === "string" ? `: ${message.slice(0, MAX_TEXT_CHARACTERS)}` : "";
      throw new Error(`Google Cloud KMS refuses (${reply.status})${told}`);
    }
    const found = answer[result];
    if (typeof found !== "string") throw new Error(`Google Cloud KMS returns no ${result}`);
    return new Uint8Array(Buffer.from(found, "base64"));
  }

  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
  const bound = (context: string) => ({ additionalAuthenticatedData: base64(Buffer.from(context)) });
  return {
    by: "gcp-kms",
    keyName: key,
    wrap: (plain, context) => call("encrypt", { plaintext: base64(plain), ...bound(context) }, "ciphertext"),
    unwrap: (wrapped, context) =>
      call("decrypt", { ciphertext: base64(wrapped), ...bound(context) }, "plaintext"),
  };
}

const API_URL = "https://cloudkms.googleapis.com";
const SCOPE = "https://www.googleapis.com/auth/cloudkms";
const TIMEOUT_MS = 10_000;
const MAX_REPLY_BYTES = 65_536;
const MAX_TEXT_CHARACTERS = 300;

async function readJson(reply: Response): Promise<Record<string, unknown>> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of reply.body ?? []) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_REPLY_BYTES) throw new Error("Google Cloud KMS answers with too many bytes");
    chunks.push(chunk);
  }
  try {
    return (JSON.parse(Buffer.concat(chunks).toString()) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}

async function load() {
  try {
    return await import("google-auth-library");
  } catch (cause) {
    throw new Error("SIGNER_SEAL=gcp-kms needs the package google-auth-library: install it", { cause });
  }
}
