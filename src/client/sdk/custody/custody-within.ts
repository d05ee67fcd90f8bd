import { Code, ConnectError } from "@connectrpc/connect";
import { fromBase58 } from "@mysten/sui/utils";
import { curveOfNumber } from "../../../protocol/algorithms.ts";
import { sleep } from "../../../protocol/chain/poll.ts";
import {
  dwalletExits,
  type TreasuryConsent,
  treasuryConsentBytes,
} from "../../../protocol/chain/treasury-custody.ts";
import type { Action } from "../action.ts";
import { DWALLET_CAP, IMPORTED_KEY_CAP } from "../chain/object-kinds.ts";
import { readChainDWallet } from "../chain/read-dwallet.ts";
import type { ClientContext } from "../context.ts";
import { fromConnectError, TssError } from "../errors.ts";
import { readTreasuryCustody, type TreasuryCustody } from "./read-custody.ts";
import {
  type SignedTreasuryConsent,
  type TreasuryAuthorization,
  toAuthorization,
} from "./treasury-authorization.ts";

/** Takes a dWallet out. The arguments contain the action's copy of the seed. */
export async function leaveWithin(
  context: ClientContext,
  action: Action<CustodyStage>,
  args: LeaveArgs,
): Promise<LeaveResult> {
  const { dwalletId, recipient } = args;
  const treasuryId = await begin(context, action, dwalletId);
  const look = async (): Promise<LeaveResult | undefined> => {
    const custody = await readTreasuryCustody(context, action, treasuryId, dwalletId);
    return custody.held === undefined ? await findExit(context, action, custody, args) : undefined;
  };
  const custody = await readTreasuryCustody(context, action, treasuryId, dwalletId);
  if (custody.held === undefined) return await findExit(context, action, custody, args);
  const { signed } = await signFor(context, action, { action: "leave", ...args }, custody);
  action.stage("request");
  return await untilOnChain(action, look, (options) =>
    context.raw.onboarding.leaveDWallet({ ...requestOf(signed), recipient }, options),
  );
}

/** The stages of a custody action, in order. */
export type CustodyStage = "custody" | "keys" | "request" | "verify";

/** Arguments of `refuseRelease` and `signRefusal`. */
export interface RefuseArgs {
  /** The 32 bytes that the dWallet was made with. They never leave the client. */
  readonly seed: Uint8Array;
  readonly dwalletId: string;
  /**
   * The number of Sui epochs for which the authorization is valid, 0 to 1,000. An epoch takes about a day. Default 7.
   */
  readonly validForEpochs?: number | undefined;
  /** The time limit of the action, in milliseconds. Default 180,000. */
  readonly timeoutMs?: number | undefined;
}

/** Arguments of `leave` and `signLeave`. */
export interface LeaveArgs extends RefuseArgs {
  /** The Sui address that receives the capability. The user must hold its key. */
  readonly recipient: string;
}

/** A dWallet that has left, confirmed on the chain. */
export interface LeaveResult {
  /** The digest of the exit's transaction. Null if the fullnode no longer has it. */
  readonly transactionDigest: string | null;
  /** The object id of the capability. Its owner can approve messages to sign. */
  readonly dwalletCapId: string;
  readonly dwalletId: string;
  readonly recipient: string;
}

/** A dWallet whose release is refused, confirmed on the chain. */
export interface RefuseResult {
  readonly dwalletId: string;
}

/** Forbids a release. The arguments contain the action's copy of the seed. */
export async function refuseWithin(
  context: ClientContext,
  action: Action<CustodyStage>,
  args: RefuseArgs,
): Promise<RefuseResult> {
  const { dwalletId } = args;
  const treasuryId = await begin(context, action, dwalletId);
  const look = async (): Promise<RefuseResult | undefined> => {
    const { held } = await readTreasuryCustody(context, action, treasuryId, dwalletId);
    if (held === undefined) throw notHeld(treasuryId, dwalletId);
    return held.isRefused ? { dwalletId } : undefined;
  };
  const custody = await readTreasuryCustody(context, action, treasuryId, dwalletId);
  if (custody.held?.isRefused === true) return { dwalletId };
  const { signed } = await signFor(context, action, { action: "refuse", ...args }, custody);
  action.stage("request");
  return await untilOnChain(action, look, (options) =>
    context.raw.onboarding.refuseRelease(requestOf(signed), options),
  );
}

async function begin(
  context: ClientContext,
  action: Action<CustodyStage>,
  dwalletId: string,
): Promise<string> {
  action.facts["dwalletId"] = dwalletId;
  action.stage("custody");
  return await context.treasuryId(action);
}

type Signed = Awaited<ReturnType<typeof signFor>>["signed"];

function requestOf({ dwalletId, chain, treasuryId, nonce, expiresEpoch, publicKey, signature }: Signed) {
  return { dwalletId, chain, treasuryId, nonce, expiresEpoch, publicKey, signature };
}

interface CallTime {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly headers: Record<string, string>;
}

/** How long the chain may take to confirm what the service reports, because a fullnode may lag behind. */
const CONFIRM_MS = 30_000;
const CALL_MS = 60_000;
const PAUSE_MS = 500;

/**
 * Calls the service until the chain shows the result. Only the chain decides: the action reads the chain before it
 * accepts a reply or an error of the service.
 */
async function untilOnChain<R>(
  action: Action<CustodyStage>,
  look: () => Promise<R | undefined>,
  ask: (options: CallTime) => Promise<unknown>,
): Promise<R> {
  let claimedAt: number | undefined;
  for (;;) {
    const refusal = claimedAt === undefined ? await tryAsking(action, ask) : undefined;
    if (claimedAt === undefined && refusal === undefined) {
      claimedAt = performance.now();
      action.stage("verify");
    }
    const done = await look();
    if (done !== undefined) return done;
    if (refusal !== undefined && !isPassing(refusal)) throw refusal;
    if (claimedAt !== undefined && performance.now() - claimedAt > CONFIRM_MS) {
      throw new TssError(
        "EXIT_UNCONFIRMED",
        "the service reports success, but the chain does not show it; submit the authorization yourself",
      );
    }
    await sleep(Math.max(PAUSE_MS, Math.min(refusal?.retryAfterMs ?? 0, CALL_MS)), action.signal);
  }
}

/** Calls the service and returns its error; undefined if the service reports success. */
async function tryAsking(
  action: Action<CustodyStage>,
  ask: (options: CallTime) => Promise<unknown>,
): Promise<TssError | undefined> {
  const timeoutMs = Math.min(Math.ceil(action.remainingMs()), CALL_MS);
  try {
    await ask({ signal: action.signal, timeoutMs, headers: { ...action.headers } });
    return undefined;
  } catch (cause) {
    action.signal.throwIfAborted();
    return fromConnectError(ConnectError.from(cause));
  }
}

/** Returns whether another call may succeed: the operation continues, or the service asks for a retry. */
function isPassing({ reason, retryAfterMs, cause }: TssError): boolean {
  return (
    reason === "DEADLINE" ||
    retryAfterMs !== undefined ||
    (cause instanceof ConnectError && cause.code === Code.DeadlineExceeded)
  );
}

/**
 * Finds the exit of a dWallet that the Treasury does not hold. Succeeds if all fullnodes report that the recipient owns
 * the capability, or if the owner's exit gave it to the recipient, who may have transferred it since.
 *
 * Throws DWALLET_LEFT, with the capability's owner, if it went to another address.
 */
export async function findExit(
  context: ClientContext,
  action: Action,
  { treasuryId, nonceEntryId }: TreasuryCustody,
  { dwalletId, recipient }: Pick<LeaveArgs, "dwalletId" | "recipient">,
): Promise<LeaveResult> {
  const { dwalletCapId, isImportedKey } = await readChainDWallet(context, action, dwalletId);
  const kind = isImportedKey ? IMPORTED_KEY_CAP : DWALLET_CAP;
  const owner = await context.ownerOf(action, kind, dwalletCapId);
  const last = await context.lastChange(action, nonceEntryId);
  const exit = dwalletExits(last?.events ?? []).find(
    (one) => one.treasuryId === treasuryId && one.dwalletId === dwalletId && one.recipient === recipient,
  );
  if (owner === recipient || exit?.dwalletCapId === dwalletCapId) {
    return {
      transactionDigest: exit === undefined ? null : (last?.digest ?? null),
      dwalletCapId,
      dwalletId,
      recipient,
    };
  }
  throw new TssError("DWALLET_LEFT", "the dWallet has left, and its capability is not the recipient's", {
    metadata: { dwalletId, treasuryId, owner: owner ?? "" },
  });
}

/** Reads the Treasury and signs. The arguments contain the action's copy of the seed. */
export async function signAuthorization(
  context: ClientContext,
  action: Action<CustodyStage>,
  args: AuthorizationArgs,
): Promise<SignedAuthorization> {
  const { dwalletId } = args;
  action.facts["dwalletId"] = dwalletId;
  action.stage("custody");
  const custody = await readTreasuryCustody(context, action, await context.treasuryId(action), dwalletId);
  if (custody.held === undefined) throw notHeld(custody.treasuryId, dwalletId);
  return await signFor(context, action, args, custody);
}

/** Creates the error for a dWallet whose capability the Treasury does not hold. */
export function notHeld(treasuryId: string, dwalletId: string): TssError {
  return new TssError("DWALLET_LEFT", "the Treasury does not hold the dWallet's capability", {
    metadata: { dwalletId, treasuryId },
  });
}

/** Signs an authorization for the Treasury's current state. */
export async function signFor(
  context: ClientContext,
  action: Action<CustodyStage>,
  args: AuthorizationArgs,
  { held, nextNonce: nonce, treasuryId }: TreasuryCustody,
): Promise<SignedAuthorization> {
  const { dwalletId, seed, recipient, validForEpochs = DEFAULT_VALID_EPOCHS } = args;
  const { signal } = action;
  action.stage("keys");
  const curve = held && curveOfNumber(held.curveNumber);
  if (curve === undefined) throw notHeld(treasuryId, dwalletId);
  await context.engine.ready();
  const keys = action.own(await context.engine.deriveUserKeys({ seed, curve, signal }));
  if (keys.signerAddress !== held?.owner) {
    throw new TssError("NOT_OWNER", "the Treasury records another owner of the dWallet than this seed's", {
      metadata: { dwalletId, treasuryId },
    });
  }
  const { chainIdentifier, epoch } = await context.chainPosition(action);
  const consent: TreasuryConsent = {
    action: args.action,
    chain: fromBase58(chainIdentifier),
    treasuryId,
    dwalletId,
    nonce,
    ...(args.action === "leave" && recipient !== undefined && { recipient }),
    expiresEpoch: epoch + BigInt(validForEpochs),
  };
  const { signerSecretKey, signerPublicKey: publicKey } = keys;
  const message = treasuryConsentBytes(consent);
  const signature = await context.engine.signAsUser({ signerSecretKey, message, signal });
  const signed = { ...consent, publicKey, signature };
  return { signed, authorization: toAuthorization(signed) };
}

export interface AuthorizationArgs extends Omit<LeaveArgs, "recipient"> {
  readonly action: "leave" | "refuse";
  readonly recipient?: string | undefined;
}

/** A signed authorization, in both forms. */
export interface SignedAuthorization {
  readonly signed: SignedTreasuryConsent;
  readonly authorization: TreasuryAuthorization;
}

const DEFAULT_VALID_EPOCHS = 7;
