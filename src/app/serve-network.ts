import type { Coordination } from "../coordination/coordination.ts";
import type { Readiness } from "../health/readiness.ts";
import { startLoopsTogether } from "../lifecycle/start-loops.ts";
import { createParameterBuilder } from "../onboarding/build-parameters.ts";
import type { ParameterStore } from "../onboarding/parameter-store.ts";
import { CURVES } from "../protocol/algorithms.ts";
import { createCheckHalf } from "../signing/check-half.ts";
import { implementNetworkServices, type NetworkServices } from "./network-services.ts";
import type { NetworkParts } from "./open-network.ts";
import { warmUp } from "./warm-up.ts";

/** Builds a network's parts for callers, and implements its services. */
export async function serveNetwork(
  parts: NetworkParts,
  shared: ServeNetworkOptions,
): Promise<NetworkServices> {
  const { own, database, network, reader, verifier, lifecycle, log } = parts;
  const { parameterStore, coordination, readiness } = shared;
  const curves = [...new Set([...own.presignBuckets.map((bucket) => bucket.curveNumber), ...CURVES.keys()])];
  const { clock } = network;
  const parameters = createParameterBuilder({ reader, store: parameterStore, curves, clock, log });
  if (parts.config.servesParameters)
    await startLoopsTogether(lifecycle, [{ name: "parameters", loop: parameters }]);
  await warmUp(database);
  const perMinute = own.wrongHalvesPerMinute;
  const size = { burstCount: perMinute, perSecond: perMinute / 60 };
  const wrongHalves = coordination.buckets("wrong halves", size);
  const checkHalf = createCheckHalf({ clock, verifier, wrongHalves });
  return implementNetworkServices(
    {
      ...parts,
      signals: coordination.signals,
      checkHalf,
      parameters,
      parameterStore,
      readiness,
      networks: parts.config.networks.map(({ name }) => name),
      processType: parts.config.processType,
    },
    own,
  );
}

/** The parts that all networks of a process share for callers. */
export interface ServeNetworkOptions {
  /** Caches protocol parameters of all networks by their digest. */
  readonly parameterStore: ParameterStore;
  readonly coordination: Pick<Coordination, "signals" | "buckets">;
  /** The readiness of the process with all its networks. */
  readonly readiness: () => Promise<Readiness>;
}
