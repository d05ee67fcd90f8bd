import type { TokenBuckets } from "../coordination/coordination.ts";
import type { Signals } from "../coordination/signals.ts";
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
  const { parameterStore, signals, wrongHalves, readiness } = shared;
  const curves = [...new Set([...own.presignBuckets.map((bucket) => bucket.curveNumber), ...CURVES.keys()])];
  const { clock } = network;
  const parameters = createParameterBuilder({ reader, store: parameterStore, curves, clock, log });
  await startLoopsTogether(lifecycle, { parameters });
  await warmUp(database);
  const checkHalf = createCheckHalf({ clock, verifier, wrongHalves });
  return implementNetworkServices(
    {
      ...parts,
      signals,
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

/** What the networks of a process share for callers. */
export interface ServeNetworkOptions {
  /** Holds parameters by their digest, of any network. */
  readonly parameterStore: ParameterStore;
  readonly signals: Signals;
  /** Counts the wrong halves of each project. */
  readonly wrongHalves: TokenBuckets;
  /** Of the process, with all its networks. */
  readonly readiness: () => Promise<Readiness>;
}
