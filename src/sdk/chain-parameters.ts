import { sha256 } from "@noble/hashes/sha2.js";
import type { CryptoEngine } from "../crypto/engine.ts";
import { type CurveName, curveNumber } from "../protocol/algorithms.ts";
import { bytesToHex } from "../protocol/bytes.ts";
import type { Action } from "./action.ts";
import type { ParametersSource } from "./context.ts";
import { readNetworkKeyOutput } from "./network-key-output.ts";
import type { TrustedChain } from "./trusted-chain.ts";

/** How many parameters are remembered: two network keys on four curves. */
const MAX_REMEMBERED_COUNT = 8;

/** What each engine built before, by curve and output. It follows from these alone, so all its clients share it. */
const built = new WeakMap<CryptoEngine, Map<string, Uint8Array>>();

/**
 * Protocol parameters that this client has its engine build from the network key's output on the chain. Parameters that
 * somebody else made would have to be believed: a shorter range of randomness or another table in them gives the user's
 * share away. Building them takes milliseconds where the engine needs no tables, less than it takes to read and check
 * a file of them, so nothing is kept beyond the program.
 */
export function createChainParameters(chain: TrustedChain, engine: CryptoEngine): ParametersSource {
  // Every output of a key says the same.
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

/** The oldest goes when there are too many. */
function remember(map: Map<string, Uint8Array>, key: string, octets: Uint8Array): void {
  const [oldest] = map.keys();
  if (map.size >= MAX_REMEMBERED_COUNT && oldest !== undefined) map.delete(oldest);
  map.set(key, octets);
}
