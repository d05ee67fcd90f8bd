import { bcs } from "@mysten/sui/bcs";
import { SimulationError, type SuiClientTypes } from "@mysten/sui/client";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { Transaction } from "@mysten/sui/transactions";
import { toBase58 } from "@mysten/sui/utils";
import { custodyPlaces, dwalletExits, refusedReleases } from "../../../protocol/chain/treasury-custody.ts";
import type { Action } from "../action.ts";
import { fetchBounded } from "../chain/fullnode.ts";
import { TREASURY } from "../chain/object-kinds.ts";
import { TssError } from "../errors.ts";
import type { SignedTreasuryConsent, TreasuryAuthorization } from "./treasury-authorization.ts";

/** Submits a consent over one fullnode. */
export async function submitConsent(
  action: Action,
  args: SubmitArgs,
  consent: SignedTreasuryConsent,
): Promise<SubmittedConsent> {
  const { signal } = action;
  const { signer } = args;
  const client = new SuiGrpcClient({
    network: "custom",
    baseUrl: args.fullnode,
    format: "binary",
    fetch: fetchBounded,
  });
  const { core } = client;
  const { chainIdentifier } = await reach(core.getChainIdentifier({ signal }));
  if (chainIdentifier !== toBase58(consent.chain))
    throw new TssError("NETWORK_MISMATCH", "the fullnode serves another chain than the user signed for");
  const { objects } = await reach(
    core.getObjects({ objectIds: [consent.treasuryId], include: { content: true }, signal }),
  );
  const treasury = treasuryOf(objects[0]);
  if (treasury === undefined)
    throw new TssError("TREASURY_MISMATCH", "the chain has no such Treasury", {
      metadata: { treasuryId: consent.treasuryId },
    });
  const { initialSharedVersion } = treasury;
  const packageId = args.packageId ?? treasury.packageId;
  const tx = new Transaction();
  tx.setSender(signer.toSuiAddress());
  tx.setGasBudget(GAS_BUDGET_MIST);
  addConsent(tx, { packageId, initialSharedVersion }, consent);
  const earlier = async () => {
    const { nonceEntryId } = custodyPlaces(treasury.content, consent.dwalletId);
    return await findUse(client, nonceEntryId, consent, signal);
  };
  const include = { effects: true, events: true } as const;
  let result: SuiClientTypes.TransactionResult<{ effects: true; events: true }>;
  try {
    const bytes = await tx.build({ client });
    const { signature } = await signer.signTransaction(bytes);
    result = await core.executeTransaction({ transaction: bytes, signatures: [signature], include, signal });
  } catch (cause) {
    signal.throwIfAborted();
    const used = await earlier();
    if (used !== undefined) return used;
    if (cause instanceof SimulationError) throw refused(cause.executionError, cause);
    throw new TssError("CHAIN_UNAVAILABLE", "the fullnode did not confirm the transaction; submit it again", {
      cause,
    });
  }
  const { status, digest } = result.Transaction ?? result.FailedTransaction;
  if (!status.success) {
    const used = await earlier();
    if (used !== undefined) return used;
    throw refused(status.error);
  }
  await reach(core.waitForTransaction({ digest, signal }));
  const use = useIn(result.Transaction?.events ?? [], consent);
  if (use === undefined)
    throw new TssError(
      "CHAIN_UNAVAILABLE",
      "the fullnode does not show what the transaction did; submit it again",
      { metadata: { transactionDigest: digest } },
    );
  return { transactionDigest: digest, ...use };
}

/** Arguments of `submitLeave` and `submitRefusal`. */
export interface SubmitArgs {
  /** The authorization that `signLeave` or `signRefusal` returned. */
  readonly authorization: TreasuryAuthorization;
  /** The gRPC-web URL of a Sui fullnode. */
  readonly fullnode: string;
  /** Signs and pays for the transaction. It needs less than 0.05 SUI. */
  readonly signer: GasSigner;
  /** The id of the Treasury's newest package, after an upgrade. Default: the first package. */
  readonly packageId?: string | undefined;
  /** The time limit of the action, in milliseconds. Default 60,000. */
  readonly timeoutMs?: number | undefined;
}

/** Signs transactions of a Sui address. Every keypair and `Signer` of `@mysten/sui` does. */
export interface GasSigner {
  /** Returns the address, which pays for the gas. */
  toSuiAddress(): string;
  /** Signs the bytes of a transaction. `signature` is Sui's serialized form, in base64. */
  signTransaction(bytes: Uint8Array): Promise<{ readonly signature: string }>;
}

/** A consent that the chain has executed. */
export interface SubmittedConsent {
  readonly transactionDigest: string;
  /** Empty for a refusal. */
  readonly dwalletCapId: string;
}

/**
 * Returns what a transaction needs of the Treasury; undefined unless the object is one. A fullnode's answer can leave out
 * an object, its owner, its version and its contents.
 */
export function treasuryOf(object: SuiClientTypes.Object<{ content: true }> | Error | undefined) {
  if (object === undefined || object instanceof Error || !TREASURY.type.test(object.type)) return undefined;
  const content: Uint8Array | undefined = object.content;
  const owner: SuiClientTypes.ObjectOwner | null = object.owner;
  const initialSharedVersion: string | undefined = owner?.Shared?.initialSharedVersion;
  if (content === undefined || initialSharedVersion === undefined) return undefined;
  return { packageId: object.type.split("::")[0] ?? "", content, initialSharedVersion };
}

/** Adds the call that uses a consent to a transaction. */
export function addConsent(
  tx: Transaction,
  target: { readonly packageId: string; readonly initialSharedVersion: string },
  consent: SignedTreasuryConsent,
): void {
  const { action, treasuryId, recipient } = consent;
  const bytes = (value: Uint8Array) => tx.pure(bcs.byteVector().serialize(value));
  const { initialSharedVersion } = target;
  tx.moveCall({
    target: `${target.packageId}::treasury::${action === "leave" ? "leave" : "refuse_release"}`,
    arguments: [
      tx.sharedObjectRef({ objectId: treasuryId, initialSharedVersion, mutable: true }),
      tx.pure.id(consent.dwalletId),
      bytes(consent.chain),
      ...(recipient === undefined ? [] : [tx.pure.address(recipient)]),
      tx.pure.u64(consent.nonce),
      tx.pure.u64(consent.expiresEpoch),
      bytes(consent.publicKey),
      bytes(consent.signature),
    ],
  });
}

/** Above the cost of the call. It bounds what a fullnode can make the signer pay. */
const GAS_BUDGET_MIST = 50_000_000n;

/** Finds in a transaction's events what the consent did; undefined if the transaction did not use it. */
function useIn(
  events: readonly { readonly eventType: string; readonly bcs: Uint8Array }[],
  { action, dwalletId, treasuryId, recipient }: SignedTreasuryConsent,
): { readonly dwalletCapId: string } | undefined {
  const typed = events.map(({ eventType: type, bcs: content }) => ({ type, bcs: content }));
  const isOwn = (event: { readonly treasuryId: string; readonly dwalletId: string }) =>
    event.treasuryId === treasuryId && event.dwalletId === dwalletId;
  if (action === "refuse") return refusedReleases(typed).some(isOwn) ? { dwalletCapId: "" } : undefined;
  const exit = dwalletExits(typed).find((one) => isOwn(one) && one.recipient === recipient);
  return exit && { dwalletCapId: exit.dwalletCapId };
}

/** Finds an earlier transaction that used the consent; undefined if there is none. */
async function findUse(
  { core }: SuiGrpcClient,
  nonceEntryId: string,
  consent: SignedTreasuryConsent,
  signal: AbortSignal,
): Promise<SubmittedConsent | undefined> {
  const { objects } = await reach(
    core.getObjects({ objectIds: [nonceEntryId], include: { previousTransaction: true }, signal }),
  );
  const [entry] = objects;
  if (entry === undefined || entry instanceof Error || !entry.previousTransaction) return undefined;
  const digest = entry.previousTransaction;
  const found = await reach(core.getTransaction({ digest, include: { events: true }, signal }));
  const use = useIn(found.Transaction?.events ?? [], consent);
  return use && { transactionDigest: digest, ...use };
}

/** Creates the error for a transaction that the Treasury refuses, with module and code of the abort in its metadata. */
export function refused(error: SuiClientTypes.ExecutionError | undefined, cause?: unknown): TssError {
  const abort = error?.MoveAbort;
  const code = abort && `${abort.location?.module ?? ""}:${abort.abortCode}`;
  const why = (code && WHY[code]) ?? error?.message ?? "the transaction cannot be executed";
  return new TssError("AUTHORIZATION_REFUSED", `the Treasury refuses the authorization: ${why}`, {
    metadata: code === undefined ? {} : { abort: code },
    cause,
  });
}

/** Explanations by module and abort code of the Treasury. */
const WHY: Readonly<Record<string, string>> = {
  "treasury:1": "the Treasury was upgraded; pass its newest package as packageId",
  "custody:1": "it does not hold the dWallet's capability",
  "custody:7": "the signature is not the owner's, or is over another message",
  "custody:8": "its last epoch has passed; sign another one",
  "custody:9": "its nonce is not the next one: it was used, or another one was; sign another one",
};

async function reach<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (cause) {
    throw new TssError("CHAIN_UNAVAILABLE", "the fullnode does not answer", { cause });
  }
}
