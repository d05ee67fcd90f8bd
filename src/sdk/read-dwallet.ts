import { type CurveName, curveNumber } from "../protocol/algorithms.ts";
import { type ChainDWallet, parseDWallet } from "../protocol/chain-objects.ts";
import type { Action } from "./action.ts";
import { call } from "./call.ts";
import type { ClientContext } from "./context.ts";
import { TssError } from "./errors.ts";
import { DWALLET, type ObjectKind } from "./object-kinds.ts";

/** How many Active dWallets one client remembers. */
const MAX_REMEMBERED_COUNT = 1000;

/** A dWallet whose output the network has published. */
export type CompletedDWallet = ChainDWallet & {
  readonly state: {
    readonly kind: "AwaitingKeyHolderSignature" | "Active";
    readonly publicOutput: Uint8Array;
  };
};

/**
 * Reads an Active dWallet from the chain, once for each client: what it holds never changes. The chain and not the
 * service is asked, so that nobody can put another public key in its place.
 */
export async function readActiveDWallet(
  context: ClientContext,
  action: Action,
  dwalletId: string,
  curve: CurveName,
): Promise<CompletedDWallet> {
  const dwallet = context.activeDWallets.get(dwalletId) ?? (await readDWallet(context, action, dwalletId));
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

/** Remembers an Active dWallet, so that the next action does not read it. The oldest goes when there are too many. */
export function rememberActive(
  { activeDWallets }: Pick<ClientContext, "activeDWallets">,
  dwallet: ChainDWallet,
): void {
  activeDWallets.set(dwallet.id, dwallet);
  const [oldest] = activeDWallets.keys();
  if (activeDWallets.size > MAX_REMEMBERED_COUNT && oldest !== undefined) activeDWallets.delete(oldest);
}

/** Reads a dWallet from the chain in whatever state it is. */
export async function readDWallet(
  context: ClientContext,
  action: Action,
  dwalletId: string,
): Promise<ChainDWallet> {
  const content = await readObject(context, action, DWALLET, dwalletId);
  if (content !== undefined) return parseDWalletOf(dwalletId, content);
  // The service says whether the key is wrong or the dWallet unknown; if it has it, the two disagree.
  await call(action, (options) => context.raw.onboarding.getDWallet({ dwalletId }, options));
  throw new TssError("DWALLET_NOT_FOUND", "the chain has no such dWallet");
}

/** Reads a dWallet out of what a fullnode says to be its contents. Throws OUTPUT_MISMATCH for those of another. */
export function parseDWalletOf(dwalletId: string, content: Uint8Array): ChainDWallet {
  const dwallet = parseDWallet(content);
  if (dwallet.id === dwalletId) return dwallet;
  throw new TssError("OUTPUT_MISMATCH", "the fullnode answered with another dWallet than the one asked for");
}

/** The contents of one object on the chain, or undefined. */
export async function readObject(
  context: ClientContext,
  action: Action,
  kind: ObjectKind,
  objectId: string,
): Promise<Uint8Array | undefined> {
  const reader = await context.chainReader(action, kind);
  return (await reader.getObjects([objectId], action.signal)).get(objectId);
}
