import type { AlgorithmTriple } from "../../../../protocol/algorithms.ts";
import { SecretBytes } from "../../../crypto/secret-bytes.ts";
import { type Action, ownSeed } from "../../action.ts";
import {
  checkIdempotencyKey,
  checkMessage,
  checkObjectId,
  checkSeed,
  checkTriple,
  readSecretHex,
  readSessionDigest,
} from "../../checks.ts";
import type { Hash, SignatureAlgorithm } from "../../names.ts";
import type { ShareSource } from "../recovery/recover-within.ts";

/** Arguments of `sign`. */
export interface SignArgs extends ShareSource {
  readonly dwalletId: string;
  readonly signatureAlgorithm: SignatureAlgorithm;
  readonly hashScheme: Hash;
  /** The message before hashing, 1 to 16,381 bytes. */
  readonly message: Uint8Array;
  /**
   * The user's share from the onboarding. The client checks that it fits the dWallet, but not that it follows from the
   * seed. Default: derive it from the seed and check it, which asks the service for the DKG's session unless
   * `sessionDigestHex` is given.
   */
  readonly userSecretKeyShareHex?: string | undefined;
  /** The time limit of the action, in milliseconds. Default 180,000. */
  readonly timeoutMs?: number | undefined;
}

/** Checks the arguments of a signature. Throws VALIDATION, UNSUPPORTED_ALGORITHM or MESSAGE_TOO_LARGE. */
export function checkSignArgs(args: SignArgs, idempotencyKey: string): CheckedSign {
  checkSeed(args.seed);
  const triple = checkTriple(args.curve, args.signatureAlgorithm, args.hashScheme);
  checkMessage(args.message);
  // A copy, because the caller may reuse its buffer before the half is computed.
  const message = Uint8Array.from(args.message);
  const { dwalletId, userSecretKeyShareHex: shareHex } = args;
  checkObjectId("dwalletId", dwalletId);
  if (args.sessionDigestHex !== undefined) readSessionDigest(args.sessionDigestHex);
  checkIdempotencyKey(idempotencyKey);
  return {
    source: args,
    dwalletId,
    triple,
    idempotencyKey,
    message,
    given:
      shareHex === undefined ? undefined : new SecretBytes(readSecretHex("userSecretKeyShareHex", shareHex)),
  };
}

/** The checked arguments of a signature, copied where the caller may change them. */
export interface CheckedSign {
  readonly source: ShareSource;
  readonly dwalletId: string;
  readonly triple: AlgorithmTriple;
  readonly idempotencyKey: string;
  readonly message: Uint8Array;
  readonly given: SecretBytes | undefined;
}

/** Returns the same signature with secrets that the action owns: the share, and a copy of the seed. */
export function ownSecrets(action: Action, request: CheckedSign): CheckedSign {
  const { source, given } = request;
  if (given !== undefined) action.own(given);
  return { ...request, source: { ...source, seed: ownSeed(action, source.seed) } };
}
