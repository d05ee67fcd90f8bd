import { sha256 } from "@noble/hashes/sha2.js";
import type { GetNetworkResponse, ProtocolParameters } from "../../gen/proto/tss/v1/onboarding_pb.ts";
import { bytesToHex, concatBytes } from "../protocol/bytes.ts";
import { poll } from "../protocol/poll.ts";
import type { Action } from "./action.ts";
import type { ParametersSource, RawClients } from "./context.ts";
import { TssError } from "./errors.ts";
import { protoCurve } from "./names.ts";
import type { NetworkSource } from "./network.ts";
import type { ParametersCache } from "./parameters-cache.ts";

/** No network's parameters are larger: with full tables they are 45 MB. */
const MAX_PARAMETERS_BYTES = 64 * 1024 * 1024;

/** Reads the octets of one digest, without checking them. */
export type FetchParameters = (action: Action, announced: ProtocolParameters) => Promise<Uint8Array>;

/**
 * Parameters as the service hands them out, each checked against the digest that GetNetwork announces. That digest is
 * the service's own word, so this is for networks whose service is trusted, such as a localnet.
 */
export function createServiceParameters(
  network: NetworkSource,
  fetchParameters: FetchParameters,
  cache: ParametersCache | undefined,
): ParametersSource {
  const inMemory = new Map<string, Uint8Array>();
  const read = async (action: Action, announced: ProtocolParameters): Promise<Uint8Array> => {
    const cached = await cache?.get(announced.sha256);
    if (cached !== undefined && digest(cached) === announced.sha256) return cached;
    if (announced.sizeBytes > MAX_PARAMETERS_BYTES) {
      throw new TssError("PARAMETERS_MISMATCH", "the announced parameters are larger than any network's");
    }
    const octets = await fetchParameters(action, announced);
    if (digest(octets) !== announced.sha256) {
      throw new TssError("PARAMETERS_MISMATCH", "the parameters do not have the announced digest");
    }
    await cache?.put(announced.sha256, octets);
    return octets;
  };
  return {
    async load(action, { curve, networkEncryptionKeyId }) {
      const key = `${networkEncryptionKeyId} ${curve}`;
      const known = inMemory.get(key);
      if (known !== undefined) return known;
      // A service that names no key with its parameters has those of the newest one alone.
      const find = (answer: GetNetworkResponse): ProtocolParameters | undefined =>
        answer.protocolParameters.find(
          (entry) =>
            entry.curve === protoCurve(curve) &&
            (entry.networkEncryptionKeyId || answer.networkEncryptionKeyId) === networkEncryptionKeyId,
        );
      // What is not listed is still being prepared, if the service knows the key.
      const findAnew = (answer: GetNetworkResponse): ProtocolParameters | undefined => {
        const keyIds = [...answer.networkEncryptionKeyIds, answer.networkEncryptionKeyId];
        if (keyIds.includes(networkEncryptionKeyId)) return find(answer);
        throw new TssError(
          "PARAMETERS_MISMATCH",
          "the service hands out parameters of another network encryption key; use those of the chain",
        );
      };
      const announced =
        find(await network.known(action)) ??
        (await poll(async () => findAnew(await network.read(action)), {
          timeoutMs: action.remainingMs(),
          signal: action.signal,
          initialIntervalMs: 200,
          maxIntervalMs: 2000,
        }));
      const octets = await read(action, announced);
      inMemory.set(key, octets);
      return octets;
    },
  };
}

/** Over REST, as raw octets: GET /v1/protocol-parameters/{sha256}. One repeat when the connection breaks. */
export function fetchOverRest(baseUrl: string, headers: Readonly<Record<string, string>>): FetchParameters {
  const url = (sha256Hex: string): string =>
    `${baseUrl.replace(/\/+$/, "")}/v1/protocol-parameters/${sha256Hex}`;
  return async (action, announced) => {
    const get = (): Promise<Response> =>
      fetch(url(announced.sha256), { headers: { ...headers }, signal: action.signal });
    const response = await get().catch(async (cause) => {
      action.signal.throwIfAborted();
      return await get().catch(() => {
        throw new TssError("UNREACHABLE", "the parameters could not be read", { cause });
      });
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new TssError("PARAMETERS_NOT_FOUND", `the parameters could not be read: HTTP ${response.status}`);
    }
    return new Uint8Array(await response.arrayBuffer());
  };
}

/** Over the generated client's stream, for transports that are not a URL. */
export function fetchOverRpc(onboarding: RawClients["onboarding"]): FetchParameters {
  return async (action, announced) => {
    const chunks: Uint8Array[] = [];
    let sizeBytes = 0;
    const request = { sha256: announced.sha256, offset: 0n };
    for await (const chunk of onboarding.getProtocolParameters(request, { signal: action.signal })) {
      sizeBytes += chunk.data.length;
      if (sizeBytes > MAX_PARAMETERS_BYTES) {
        throw new TssError("PARAMETERS_MISMATCH", "the parameters are larger than any network's");
      }
      chunks.push(chunk.data);
    }
    return concatBytes(...chunks);
  };
}

function digest(octets: Uint8Array): string {
  return bytesToHex(sha256(octets));
}
