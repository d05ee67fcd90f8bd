import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import type { CryptoEngine } from "../crypto/engine.ts";
import { type CurveName, curveNumber } from "../protocol/algorithms.ts";
import type { Action } from "./action.ts";
import type { ParametersSource } from "./context.ts";
import { readNetworkKeyOutput } from "./network-key-output.ts";
import type { TrustedChain } from "./trusted-chain.ts";

/**
 * Creates a source of protocol parameters. The client's own engine builds them from the network key's output on the
 * chain. Parameters from a third party would have to be trusted: a shorter randomness range or a different table in
 * them leaks the user's share. Where the engine needs no tables, building takes milliseconds, less than reading and
 * checking a file, so the cache is in memory only.
 */
export function createChainParameters(chain: TrustedChain, engine: CryptoEngine): ParametersSource {
  // All outputs of a key encode the same parameters.
  const known = new Map<string, Uint8Array>();
  return {
    async load(action, { curve, networkEncryptionKeyId }) {
      const key = `${networkEncryptionKeyId} ${curve}`;
      const found = known.get(key);
      if (found !== undefined) return found;
      const output = await readNetworkKeyOutput(chain, action, networkEncryptionKeyId, curveNumber(curve));
      const octets = await parametersOf(engine, action, curve, output);
      remember(known, key, octets);
      return octets;
    },
  };
}

/** The size of the cache: two network keys on four curves. */
const MAX_REMEMBERED_COUNT = 8;

/**
 * The parameters that each engine has built, by curve and output. They depend on nothing else, so all clients of an
 * engine share them.
 */
const built = new WeakMap<CryptoEngine, Map<string, Uint8Array>>();

async function parametersOf(
  engine: CryptoEngine,
  { signal }: Action,
  curve: CurveName,
  networkKeyOutput: Uint8Array,
): Promise<Uint8Array> {
  const ofEngine = built.get(engine) ?? new Map<string, Uint8Array>();
  built.set(engine, ofEngine);
  const key = `${curve} ${bytesToHex(sha256(networkKeyOutput))}`;
  const found = ofEngine.get(key);
  if (found !== undefined) return found;
  const octets = await engine.buildParameters({ curve, networkKeyOutput, signal });
  remember(ofEngine, key, octets);
  return octets;
}

/** Adds an entry and evicts the oldest one when the cache is full. */
function remember(map: Map<string, Uint8Array>, key: string, octets: Uint8Array): void {
  const [oldest] = map.keys();
  if (map.size >= MAX_REMEMBERED_COUNT && oldest !== undefined) map.delete(oldest);
  map.set(key, octets);
}
