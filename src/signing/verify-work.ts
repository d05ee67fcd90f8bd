import type { CurveName, HashName, SignatureAlgorithmName } from "../protocol/algorithms.ts";
import { MalformedBytesError } from "../protocol/bytes.ts";
import { publicKeyFromDWalletOutput } from "../protocol/dwallet-output.ts";
import { signatureFromChain } from "../protocol/signature-forms.ts";
import { verifySignature } from "../protocol/verify-signature.ts";
import { checkSignMessage, type SignMessageClaim } from "./check-sign-message.ts";

/** A signature as the network made it, with what it is said to sign. */
export interface NetworkSignatureClaim {
  readonly curve: CurveName;
  readonly signatureAlgorithm: SignatureAlgorithmName;
  readonly hash: HashName;
  /** Null: the key is read from the output. */
  readonly publicKey: Uint8Array | null;
  readonly dwalletOutput: Uint8Array;
  readonly message: Uint8Array;
  /** What the session on the chain has. */
  readonly signature: Uint8Array;
}

/** What one thread is asked to verify. */
export type VerifyJob =
  | { readonly kind: "half"; readonly claim: SignMessageClaim }
  | { readonly kind: "signature"; readonly claim: NetworkSignatureClaim };

/** Of a half: what is wrong with it, if anything. Of a signature: its form in the contract, if it verifies. */
export type VerifyResult = { readonly wrong?: string } | { readonly signature?: Uint8Array };

/** Verifies. Takes milliseconds, and up to 20 for long messages: not for an event loop. */
export function verifyWork(job: VerifyJob): VerifyResult {
  return job.kind === "half" ? checkHalf(job.claim) : checkSignature(job.claim);
}

function checkHalf(claim: SignMessageClaim): VerifyResult {
  try {
    checkSignMessage(claim);
    return {};
  } catch (error) {
    if (error instanceof MalformedBytesError) return { wrong: error.message };
    throw error;
  }
}

function checkSignature({ curve, dwalletOutput, ...claim }: NetworkSignatureClaim): VerifyResult {
  const publicKey = claim.publicKey ?? publicKeyFromDWalletOutput(curve, dwalletOutput);
  let signature: Uint8Array;
  try {
    signature = signatureFromChain(claim.signatureAlgorithm, claim.signature);
  } catch (error) {
    if (error instanceof MalformedBytesError) return {};
    throw error;
  }
  return verifySignature({ ...claim, publicKey, signature }) ? { signature } : {};
}
