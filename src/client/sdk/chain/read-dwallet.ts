import { type CurveName, curveNumber } from "../../../protocol/algorithms.ts";
import { type ChainDWallet, parseDWallet } from "../../../protocol/chain/chain-objects.ts";
import type { Action } from "../action.ts";
import type { ClientContext } from "../context.ts";
import { TssError } from "../errors.ts";
import { DWALLET, type ObjectKind } from "./object-kinds.ts";

/** The size of a client's cache of Active dWallets. */
const MAX_REMEMBERED_COUNT = 1000;

/** A dWallet with a published output. */
export type CompletedDWallet = ChainDWallet & {
  readonly state: {
    readonly kind: "AwaitingKeyHolderSignature" | "Active";
    readonly publicOutput: Uint8Array;
  };
};

/**
 * Reads an Active dWallet from the chain, once per client, because its contents never change. It does not ask the
 * service, which could substitute another public key.
 */
export async function readActiveDWallet(
  context: ClientContext,
  action: Action,
  dwalletId: string,
  curve: CurveName,
  explainMissing: ExplainMissing = askForReason,
): Promise<CompletedDWallet> {
  const dwallet =
    context.activeDWallets.get(dwalletId) ??
    (await readChainDWallet(context, action, dwalletId, explainMissing));
  const { state } = dwallet;
  if (dwallet.curveNumber !== curveNumber(curve)) {
    throw new TssError("UNSUPPORTED_ALGORITHM", `the dWallet is not on ${curve}`);
  }
  if (state.kind !== "Active") {
    throw new TssError("DWALLET_NOT_ACTIVE", `the dWallet is ${state.kind}`, {
      metadata: { state: state.kind },
    });
  }
  rememberActive(context, dwallet);
  return { ...dwallet, state };
}

/** Caches an Active dWallet, so that the next action does not read it. Evicts the oldest when the cache is full. */
export function rememberActive({ activeDWallets }: ClientContext, dwallet: ChainDWallet): void {
  activeDWallets.set(dwallet.id, dwallet);
  const [oldest] = activeDWallets.keys();
  if (activeDWallets.size > MAX_REMEMBERED_COUNT && oldest !== undefined) activeDWallets.delete(oldest);
}

/** Reads a dWallet in any state from the chain. */
export async function readChainDWallet(
  context: ClientContext,
  action: Action,
  dwalletId: string,
  explainMissing: ExplainMissing = askForReason,
): Promise<ChainDWallet> {
  const content = await readObject(context, action, DWALLET, dwalletId);
  if (content !== undefined) return parseDWalletOf(dwalletId, content);
  await explainMissing(context, action, dwalletId);
  throw new TssError("DWALLET_NOT_FOUND", "the chain has no such dWallet");
}

/** Throws the reason why the chain lacks a dWallet, if there is a better one than its absence. */
export type ExplainMissing = (context: ClientContext, action: Action, dwalletId: string) => Promise<unknown>;

/** The service reports a wrong key or an unknown dWallet. If it knows the dWallet, it disagrees with the chain. */
const askForReason: ExplainMissing = (context, action, dwalletId) =>
  context.call(action, (options) => context.raw.onboarding.getDWallet({ dwalletId }, options));

/** Parses a dWallet from a fullnode's contents. Throws OUTPUT_MISMATCH when they belong to another dWallet. */
export function parseDWalletOf(dwalletId: string, content: Uint8Array): ChainDWallet {
  const dwallet = parseDWallet(content);
  if (dwallet.id === dwalletId) return dwallet;
  throw new TssError("OUTPUT_MISMATCH", "the fullnode returned a different dWallet");
}

/** Returns the contents of an object on the chain, or undefined. */
export async function readObject(
  context: ClientContext,
  action: Action,
  kind: ObjectKind,
  objectId: string,
): Promise<Uint8Array | undefined> {
  const reader = await context.chainReader(action, kind);
  return (await reader.getObjects([objectId], action.signal)).get(objectId);
}
