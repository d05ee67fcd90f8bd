import type { CryptoEngine } from "./engine.ts";
import { loadPart } from "./load-part.ts";

/**
 * Creates an engine that loads its code at the first call. The input of a call must stay unchanged until the call ends.
 */
export function deferredEngine(load: () => Promise<CryptoEngine>): CryptoEngine {
  let loaded: CryptoEngine | undefined;
  const engine = async (signal?: AbortSignal): Promise<CryptoEngine> => {
    if (loaded !== undefined) return loaded;
    const found = await loadPart(load, signal);
    loaded ??= found;
    return loaded;
  };
  return {
    ready: async () => await (await engine()).ready(),
    buildParameters: async (input) => await (await engine(input.signal)).buildParameters(input),
    deriveUserKeys: async (input) => await (await engine(input.signal)).deriveUserKeys(input),
    prepareDkg: async (input) => await (await engine(input.signal)).prepareDkg(input),
    decryptShare: async (input) => await (await engine(input.signal)).decryptShare(input),
    isOutputOfShare: async (input) => await (await engine(input.signal)).isOutputOfShare(input),
    signAsUser: async (input) => await (await engine(input.signal)).signAsUser(input),
    createSignMessage: async (input) => await (await engine(input.signal)).createSignMessage(input),
    close: async () => await (await engine()).close(),
  };
}
