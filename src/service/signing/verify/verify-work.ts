import type { CurveName, HashName, SignatureAlgorithmName } from "../../../protocol/algorithms.ts";
import { MalformedBytesError } from "../../../protocol/bytes.ts";
import { publicKeyFromDWalletOutput } from "../../../protocol/dwallet-output.ts";
import { signatureFromChain } from "../../../protocol/signatures/signature-forms.ts";
import {
  checkSignMessageLayout,
  verifyPartialSignature,
} from "../../../protocol/signatures/verify-partial-signature.ts";
import { verifySignature } from "../../../protocol/signatures/verify-signature.ts";

/** Runs one job. Takes milliseconds, up to 20 for long messages, so do not call it on an event loop. */
export function verifyWork(job: VerifyJob): VerifyResult {
  return job.kind === "half" ? checkHalf(job.claim) : checkSignature(job.claim);
}

/** A signature of the network, with the data that it claims to sign. */
export interface NetworkSignatureClaim {
  readonly curve: CurveName;
  readonly signatureAlgorithm: SignatureAlgorithmName;
  readonly hash: HashName;
  /** If null, the key is derived from the output. */
  readonly publicKey: Uint8Array | null;
  readonly dwalletOutput: Uint8Array;
  readonly message: Uint8Array;
  /** The signature of the session on the chain. */
  readonly signature: Uint8Array;
}

export type VerifyJob =
  | { readonly kind: "half"; readonly claim: SignMessageClaim }
  | { readonly kind: "signature"; readonly claim: NetworkSignatureClaim };

/** For a half: its fault, if any. For a signature: its form in the contract, if it verifies. */
export type VerifyResult = { readonly wrong?: string } | { readonly signature?: Uint8Array };

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

/**
 * Checks a user's sign message as far as public data allows cheaply, before money or a presign is spent on it: the
 * layout, and for the Schnorr family the partial signature. The network checks the eight proofs of an ECDSA message.
 * Throws MalformedBytesError, which names the fault.
 */
export function checkSignMessage(claim: SignMessageClaim): void {
  const { curve, signatureAlgorithm, userSignMessage } = claim;
  checkSignMessageLayout(curve, signatureAlgorithm, userSignMessage);
  if (signatureAlgorithm === "ECDSASecp256k1" || signatureAlgorithm === "ECDSASecp256r1") return;
  if (!verifyPartialSignature({ ...claim, signatureAlgorithm })) {
    throw new MalformedBytesError("user sign message: the partial signature does not verify");
  }
}

/** A user's sign message and the public data that it belongs to. */
export interface SignMessageClaim {
  readonly curve: CurveName;
  readonly signatureAlgorithm: SignatureAlgorithmName;
  readonly dwalletOutput: Uint8Array;
  readonly presign: Uint8Array;
  /** The message before hashing. */
  readonly message: Uint8Array;
  readonly userSignMessage: Uint8Array;
}
