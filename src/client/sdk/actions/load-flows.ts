import { loadPart } from "../../crypto/load-part.ts";
import type { Action } from "../action.ts";
import type { OpenChainOptions } from "../chain/open-chain.ts";
import type { ContextParts } from "../context.ts";
import type { Flows } from "./flows.ts";

/**
 * Loads the asynchronous part of the actions. It is a separate chunk, which a page loads with the first action instead
 * of with the client. An action checks its arguments and copies its secrets before this call.
 */
export async function loadFlows({ signal }: Partial<Pick<Action, "signal">> = {}): Promise<Flows> {
  loaded ??= (await loadPart(() => import("./flows.ts"), signal)).FLOWS;
  return loaded;
}

let loaded: Flows | undefined;

/** Loads the code of the custody actions. It is a separate chunk, because most users never need it. */
export async function loadCustody({
  signal,
}: Pick<Action, "signal">): Promise<typeof import("../custody/custody-within.ts")> {
  return await loadPart(() => import("../custody/custody-within.ts"), signal);
}

/** Loads the code that rehearses an exit. It is a separate chunk, because it contains Sui's builder of transactions. */
export async function loadRehearsal({
  signal,
}: Pick<Action, "signal">): Promise<typeof import("../custody/rehearse-within.ts")> {
  return await loadPart(() => import("../custody/rehearse-within.ts"), signal);
}

/** Loads the code that finds dWallets. It is a separate chunk, because a page seldom needs it. */
export async function loadFinder({
  signal,
}: Pick<Action, "signal">): Promise<typeof import("./recovery/find-dwallets-within.ts")> {
  return await loadPart(() => import("./recovery/find-dwallets-within.ts"), signal);
}

/** Loads the code that adopts dWallets. It is a separate chunk, because a page seldom needs it. */
export async function loadAdoption({
  signal,
}: Pick<Action, "signal">): Promise<typeof import("./recovery/adopt-within.ts")> {
  return await loadPart(() => import("./recovery/adopt-within.ts"), signal);
}

/** Loads the code that shares dWallets. It is a separate chunk, because a page seldom needs it. */
export async function loadSharing({
  signal,
}: Pick<Action, "signal">): Promise<typeof import("./sharing/share-within.ts")> {
  return await loadPart(() => import("./sharing/share-within.ts"), signal);
}

/** Creates the parts of a context that are initialized on first use. */
export function deferredParts(options: OpenChainOptions): ContextParts {
  let made: ContextParts | undefined;
  const parts = async (action?: Action): Promise<ContextParts> => {
    const { createMadeHalves, openChain } = await loadFlows(action);
    made ??= { ...openChain(options), madeHalves: createMadeHalves(options.engine) };
    return made;
  };
  return {
    chainReader: async (action, kind) => await (await parts(action)).chainReader(action, kind),
    ownerOf: async (action, kind, objectId) => await (await parts(action)).ownerOf(action, kind, objectId),
    chainPosition: async (action) => await (await parts(action)).chainPosition(action),
    async *tableEntries(action, request) {
      yield* (await parts(action)).tableEntries(action, request);
    },
    lastChange: async (action, objectId) => await (await parts(action)).lastChange(action, objectId),
    fullnodeClients: async (action) => await (await parts(action)).fullnodeClients(action),
    treasuryId: async (action) => await (await parts(action)).treasuryId(action),
    parameters: {
      load: async (action, request) => await (await parts(action)).parameters.load(action, request),
    },
    async *chainSessions(action, dwallet, shareId) {
      yield* (await parts(action)).chainSessions(action, dwallet, shareId);
    },
    madeHalves: {
      for: async (presign, purpose, make) => await (await parts()).madeHalves.for(presign, purpose, make),
    },
  };
}
