import { sha256 } from "@noble/hashes/sha2.js";
import { type CurveName, curveNumber } from "../protocol/algorithms.ts";
import { bytesToHex } from "../protocol/bytes.ts";
import { buildProtocolParameters } from "../protocol/parameters/build-protocol-parameters.ts";
import type { ParametersSource } from "./context.ts";
import { readNetworkKeyOutput } from "./network-key-output.ts";
import type { TrustedChain } from "./trusted-chain.ts";

/** How many parameters are remembered, of 2.4 MB each: two network keys on four curves. */
const MAX_REMEMBERED_COUNT = 8;

/** What was built before in this program, by curve and output. It follows from these alone, so all clients share it. */
const built = new Map<string, Uint8Array>();

/**
 * Protocol parameters that this client builds itself from the network key's output on the chain: one to two seconds for
 * a curve, once in a program. Parameters that somebody else made would have to be believed: a shorter range of
 * randomness or another table in them gives the user's share away, and checking the tables costs as much as building
 * them. For the same reason nothing is kept beyond the program.
 */
export function createChainParameters(chain: TrustedChain): ParametersSource {
  // Every output of a key says the same.
  const known = new Map<string, Uint8Array>();
  return {
    async load(action, { curve, networkEncryptionKeyId }) {
      const key = `${networkEncryptionKeyId} ${curve}`;
      const found = known.get(key);
      if (found !== undefined) return found;
      const output = await readNetworkKeyOutput(chain, action, networkEncryptionKeyId, curveNumber(curve));
      action.signal.throwIfAborted();
      const octets = parametersOf(curve, output);
      remember(known, key, octets);
      return octets;
    },
  };
}

function parametersOf(curve: CurveName, output: Uint8Array): Uint8Array {
  const key = `${curve} ${bytesToHex(sha256(output))}`;
  const found = built.get(key);
  if (found !== undefined) return found;
  const octets = buildProtocolParameters(curveNumber(curve), output);
  remember(built, key, octets);
  return octets;
}

/** The oldest goes when there are too many. */
function remember(map: Map<string, Uint8Array>, key: string, octets: Uint8Array): void {
  const [oldest] = map.keys();
  if (map.size >= MAX_REMEMBERED_COUNT && oldest !== undefined) map.delete(oldest);
  map.set(key, octets);
}
