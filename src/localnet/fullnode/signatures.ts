import { toBase64 } from "@mysten/sui/utils";
import { verifyTransactionSignature } from "@mysten/sui/verify";
import { RpcFailure, Status } from "./failures.ts";

/**
 * Checks that exactly the sender and the gas owner signed these transaction bytes. Throws RpcFailure INVALID_ARGUMENT
 * with the same messages as Sui.
 */
export async function checkSignatures(
  bytes: Uint8Array,
  signatures: readonly Uint8Array[],
  required: readonly string[],
): Promise<void> {
  const signers = new Set(required);
  if (signatures.length !== signers.size) {
    throw refused(`Expect ${signers.size} signer signatures but got ${signatures.length}`);
  }
  const present = new Set<string>();
  for (const signature of signatures) present.add(await signerOf(bytes, signature));
  for (const signer of signers) {
    if (!present.has(signer)) {
      throw refused(`Required Signature from ${signer} is absent [${[...present].join(", ")}]`);
    }
  }
}

async function signerOf(bytes: Uint8Array, signature: Uint8Array): Promise<string> {
  try {
    const publicKey = await verifyTransactionSignature(bytes, toBase64(signature));
    return publicKey.toSuiAddress();
  } catch (error) {
    throw refused(`Signature is not valid: ${(error as Error).message}`);
  }
}

function refused(reason: string): RpcFailure {
  return new RpcFailure(Status.InvalidArgument, `Invalid user signature: ${reason}`);
}
