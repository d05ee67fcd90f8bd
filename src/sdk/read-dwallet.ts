import { type CurveName, curveNumber } from "../protocol/algorithms.ts";
import { type ChainDWallet, parseDWallet } from "../protocol/chain-objects.ts";
import type { Action } from "./action.ts";
import { call } from "./call.ts";
import type { ClientContext } from "./context.ts";
import { TssError } from "./errors.ts";

/** How many Active dWallets one client remembers. */
const MAX_REMEMBERED_COUNT = 1000;

/** An Active dWallet as the chain has it. */
export interface ActiveDWallet {
  readonly id: string;
  readonly networkEncryptionKeyId: string;
  readonly publicOutput: Uint8Array;
}

/**
 * Reads an Active dWallet from the chain, once for each client: what it holds never changes. The chain and not the
 * service is asked, so that nobody can put another public key in its place.
 */
export async function readActiveDWallet(
  context: ClientContext,
  action: Action,
  dwalletId: string,
  curve: CurveName,
): Promise<ActiveDWallet> {
  const dwallet = context.activeDWallets.get(dwalletId) ?? (await readDWallet(context, action, dwalletId));
  const { state, networkEncryptionKeyId } = dwallet;
  if (dwallet.curveNumber !== curveNumber(curve)) {
    throw new TssError("UNSUPPORTED_ALGORITHM", `the dWallet is not on ${curve}`);
  }
  if (state.kind !== "Active") {
    throw new TssError("DWALLET_NOT_ACTIVE", `the dWallet is ${state.kind}`, {
      metadata: { state: state.kind },
    });
  }
  if (context.activeDWallets.size >= MAX_REMEMBERED_COUNT) context.activeDWallets.clear();
  context.activeDWallets.set(dwalletId, dwallet);
  return { id: dwalletId, networkEncryptionKeyId, publicOutput: state.publicOutput };
}

/** Reads a dWallet from the chain in whatever state it is. */
export async function readDWallet(
  context: ClientContext,
  action: Action,
  dwalletId: string,
): Promise<ChainDWallet> {
  const content = await readObject(context, action, dwalletId);
  if (content !== undefined) return parseDWallet(content);
  // The service says whether the key is wrong or the dWallet unknown; if it has it, the two disagree.
  await call(action, (options) => context.raw.onboarding.getDWallet({ dwalletId }, options));
  throw new TssError("DWALLET_NOT_FOUND", "the chain has no such dWallet");
}

/** The contents of one object on the chain, or undefined. One repeat when the fullnode does not answer. */
export async function readObject(
  context: ClientContext,
  action: Action,
  objectId: string,
): Promise<Uint8Array | undefined> {
  const reader = await context.chainReader(action);
  const read = async (): Promise<Uint8Array | undefined> =>
    (await reader.getObjects([objectId], action.signal)).get(objectId);
  return await read().catch(async (cause) => {
    action.signal.throwIfAborted();
    return await read().catch(() => {
      throw new TssError("CHAIN_UNAVAILABLE", "the fullnode does not answer", { cause });
    });
  });
}
