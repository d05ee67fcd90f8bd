import { sleep } from "../../../protocol/chain/poll.ts";
import { signerAddressOf } from "../../crypto/user-keys.ts";
import type { ActionOptions } from "../../sdk/action.ts";
import {
  checkCurve,
  checkObjectId,
  checkSeed,
  checkTimeout,
  checkUserReference,
  checkUuid,
  invalid,
  readSessionDigest,
} from "../../sdk/checks.ts";
import type { TssClient } from "../../sdk/client.ts";
import { TssError, withMetadata } from "../../sdk/errors.ts";
import type { Curve } from "../../sdk/names.ts";
import { arePieceNumbers, MAX_PIECES, MIN_THRESHOLD } from "./piece-text.ts";
import { splitSeed } from "./split-seed.ts";

/**
 * Makes a second holder of a dWallet whose seed nobody has: it shares the dWallet with the key of a fresh random seed,
 * accepts the share, recovers it from the chain as a later recovery will, and splits that seed into pieces. Any
 * `threshold` pieces and the chain then give the share, without the owner's seed and without the service.
 *
 * It returns no pieces unless the chain shows the accepted share of the fresh seed's own key, and the share leads to the
 * dWallet's public key. The share costs the price of a share, once. If the call fails, no pieces exist:
 * `metadata.holderAddress` names the holder, which the owner can remove. A call with the same `recoverySeed` goes on with
 * the same holder, and is not charged again.
 *
 * @param client the client of the dWallet's owner
 * @throws {TssError} VALIDATION when an argument is malformed.
 * @throws {TssError} RECIPIENT_MISMATCH when the chain shows another key than the fresh seed's.
 * @throws {TssError} SHARE_UNVERIFIED when the owner's share is not derived from `seed`.
 * @throws {TssError} SHARE_MISMATCH or OUTPUT_MISMATCH when the chain does not show the accepted share.
 * @throws {TssError} TOO_MANY_HOLDERS when the dWallet has 8 holders.
 * @throws {TssError} INSUFFICIENT_CREDIT when the project's credit is below the price of a share.
 * @throws {TssError} TIMEOUT when the deadline passes, and ABORTED with the caller's signal.
 * @example
 * ```ts
 * const { pieces } = await addRecovery(client, { seed, curve, dwalletId, threshold: 2, count: 3 });
 * for (const piece of pieces) await giveToSomebodyElse(piece); // never log or store them together
 * ```
 */
export async function addRecovery(
  client: RecoveryClient,
  args: AddRecoveryArgs,
  options: AddRecoveryOptions = {},
): Promise<AddedRecovery> {
  checkArgs(args);
  const secrets = {
    seed: Uint8Array.from(args.seed),
    recoverySeed: Uint8Array.from(args.recoverySeed ?? crypto.getRandomValues(new Uint8Array(32))),
  };
  const own = { ...args, ...secrets };
  const holderAddress = signerAddressOf(own.recoverySeed, own.curve);
  try {
    return await addHolder(client, own, holderAddress, options);
  } catch (error) {
    if (error instanceof TssError) throw withMetadata(error, { holderAddress });
    if (options.signal?.aborted !== true) throw error;
    throw new TssError("ABORTED", "the caller aborted", { metadata: { holderAddress }, cause: error });
  } finally {
    for (const secret of Object.values(secrets)) secret.fill(0);
  }
}

/** The actions of a client that a recovery is made with. */
export type RecoveryClient = Pick<
  TssClient,
  "registerRecipient" | "shareWith" | "acceptShare" | "recoverShare"
>;

/** The options of `addRecovery`, as of every action. */
export type AddRecoveryOptions = Pick<ActionOptions, "signal" | "traceparent">;

/** Arguments of `addRecovery`. */
export interface AddRecoveryArgs {
  /** The 32 bytes that the dWallet was made with. */
  readonly seed: Uint8Array;
  readonly curve: Curve;
  readonly dwalletId: string;
  /** How many pieces give the seed, from 2 to `count`. */
  readonly threshold: number;
  /** How many pieces to make, from 2 to 16. */
  readonly count: number;
  /** The user that the recovery signs as, the project's own id of them. Default: no user. */
  readonly userReference?: string | undefined;
  /**
   * The seed to split, 32 random bytes, and never the owner's. Default: fresh bytes, which are overwritten. Pass it, and
   * overwrite it after success, to be able to repeat a call that was interrupted.
   */
  readonly recoverySeed?: Uint8Array | undefined;
  /** The project that the owner consents to. Default: the client's own, as the service names it. */
  readonly projectId?: string | undefined;
  /** The `sessionDigestHex` that `onboard` returned. Default: ask the service and the chain. */
  readonly sessionDigestHex?: string | undefined;
  /** The time limit of the whole call, in milliseconds. Default 300,000. */
  readonly timeoutMs?: number | undefined;
}

/** A recovery that the chain confirms. */
export interface AddedRecovery {
  /**
   * The pieces, in order, each a text of 191 characters. Each is a secret. Give them to different people or devices.
   */
  readonly pieces: readonly string[];
  readonly dwalletId: string;
  /** The Sui address of the recovery's key. `removeHolder` removes it, and a leaving dWallet can be sent to it. */
  readonly holderAddress: string;
  readonly encryptedUserSecretKeyShareId: string;
}

function checkArgs(args: AddRecoveryArgs): void {
  const { seed, curve, dwalletId, threshold, count, recoverySeed, timeoutMs } = args;
  checkSeed(seed);
  checkCurve(curve);
  checkObjectId("dwalletId", dwalletId);
  checkUserReference(args.userReference);
  if (args.projectId !== undefined) checkUuid("projectId", args.projectId);
  if (args.sessionDigestHex !== undefined) readSessionDigest(args.sessionDigestHex);
  if (timeoutMs !== undefined) checkTimeout(timeoutMs);
  if (!arePieceNumbers(count, count))
    throw invalid("count", `must be a whole number from ${MIN_THRESHOLD} to ${MAX_PIECES}`);
  if (!arePieceNumbers(threshold, count))
    throw invalid("threshold", `must be a whole number from ${MIN_THRESHOLD} to count`);
  if (recoverySeed === undefined) return;
  if (!(recoverySeed instanceof Uint8Array) || recoverySeed.length !== 32)
    throw invalid("recoverySeed", "must be 32 bytes");
  // A caller that repeats a call may have overwritten the seed after the first one. Everybody knows the keys of zeros.
  if (recoverySeed.every((byte) => byte === 0))
    throw invalid("recoverySeed", "must not be overwritten before the call");
  if (recoverySeed.every((byte, at) => byte === seed[at]))
    throw invalid("recoverySeed", "must not be the owner's seed");
}

type OwnArgs = AddRecoveryArgs & { readonly recoverySeed: Uint8Array };

async function addHolder(
  client: RecoveryClient,
  args: OwnArgs,
  holderAddress: string,
  options: AddRecoveryOptions,
): Promise<AddedRecovery> {
  const { seed, recoverySeed, curve, dwalletId, threshold, count, userReference } = args;
  const { projectId, sessionDigestHex, timeoutMs = 300_000 } = args;
  const deadline = performance.now() + timeoutMs;
  const time = () => ({ timeoutMs: Math.max(1, deadline - performance.now()) });
  const toRegister = { seed: recoverySeed, curve, userReference, ...time() };
  const recipient = await client.registerRecipient(toRegister, options);
  // The dWallet is shared with nobody else's key, whatever the client returned.
  const toShare = { seed, curve, dwalletId, userReference, projectId, sessionDigestHex, ...time() };
  const shared = await client.shareWith(
    { ...toShare, recipient: { ...recipient, address: holderAddress } },
    options,
  );
  const { publicKeyHex, encryptedUserSecretKeyShareId } = shared;
  await client.acceptShare({ seed: recoverySeed, curve, dwalletId, publicKeyHex, ...time() }, options);
  await recoverAccepted(client, args, { encryptedUserSecretKeyShareId, deadline, options });
  const facts = { dwalletId, curve, holderAddress, threshold, count };
  const pieces = await splitSeed(recoverySeed, facts);
  return { pieces, dwalletId, holderAddress, encryptedUserSecretKeyShareId };
}

/** Recovers the share as a later recovery will. A fullnode may need a moment to show what the service reports. */
async function recoverAccepted(
  client: RecoveryClient,
  { recoverySeed, curve, dwalletId }: OwnArgs,
  { encryptedUserSecretKeyShareId, deadline, options }: Accepted,
): Promise<void> {
  const lastTry = Math.min(deadline, performance.now() + CONFIRM_MS);
  for (;;) {
    try {
      const timeoutMs = Math.max(1, deadline - performance.now());
      const source = { seed: recoverySeed, curve, dwalletId, acceptUnverifiedShare: true, timeoutMs };
      const found = await client.recoverShare(source, options);
      if (found.encryptedUserSecretKeyShareId === encryptedUserSecretKeyShareId) return;
      // The chain keeps the share of an attempt whose holder was removed. It recovers too, and so must the new one.
      const named = await client.recoverShare({ ...source, encryptedUserSecretKeyShareId }, options);
      if (named.encryptedUserSecretKeyShareId === encryptedUserSecretKeyShareId) return;
      throw new TssError("SHARE_MISMATCH", "the chain shows another share of the recovery's key");
    } catch (error) {
      if (!isNotYetShown(error) || performance.now() >= lastTry) throw error;
    }
    await sleep(PAUSE_MS, options.signal);
  }
}

interface Accepted {
  readonly encryptedUserSecretKeyShareId: string;
  /** As `performance.now()` counts. */
  readonly deadline: number;
  readonly options: AddRecoveryOptions;
}

/** Returns whether the chain does not show the accepted share, perhaps only for a moment. */
function isNotYetShown(error: unknown): boolean {
  return error instanceof TssError && NOT_SHOWN.includes(error.reason);
}

const NOT_SHOWN: readonly string[] = ["OUTPUT_MISMATCH", "SHARE_MISMATCH", "SHARE_UNVERIFIED"];
const CONFIRM_MS = 30_000;
const PAUSE_MS = 500;
