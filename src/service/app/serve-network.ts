import { CURVES } from "../../protocol/algorithms.ts";
import { createParameterBuilder } from "../onboarding/build-parameters.ts";
import { findDWallet, findDWalletOfSession } from "../onboarding/dwallet-row.ts";
import { findKeyByObject, findKeyOfSigner } from "../onboarding/encryption-keys.ts";
import type { ParameterStore } from "../onboarding/parameter-store.ts";
import type { Readiness } from "../operator/health/readiness.ts";
import type { Coordination } from "../platform/coordination/coordination.ts";
import { startLoopsTogether } from "../platform/lifecycle/start-loops.ts";
import type { Database } from "../platform/store/database.ts";
import { listSigns } from "../signing/shown-sign-request.ts";
import { createCheckHalf } from "../signing/verifier.ts";
import { implementNetworkServices, type NetworkServices } from "./network-services.ts";
import type { NetworkParts } from "./open-network.ts";

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
interface ServeNetworkOptions {
  /** Caches protocol parameters of all networks by their digest. */
  readonly parameterStore: ParameterStore;
  readonly coordination: Pick<Coordination, "signals" | "buckets">;
  /** The readiness of the process with all its networks. */
  readonly readiness: () => Promise<Readiness>;
}

/**
 * Runs each of the requests' Prisma queries once, for rows that do not exist. The first query loads Prisma's query
 * compiler, and each one compiles its plan. Both block the event loop, so they run before the first call.
 */
async function warmUp(database: Database): Promise<void> {
  const projectId = "00000000-0000-0000-0000-000000000000";
  const nothing = "";
  await findKeyOfSigner(database, { projectId, curve: 0, signerAddress: nothing });
  await findKeyByObject(database, { projectId, objectId: nothing });
  await findDWalletOfSession(database, {
    network: nothing,
    senderAddress: nothing,
    sessionIdentifier: new Uint8Array(32),
  });
  // These two throw for a missing dWallet.
  await findDWallet(database, projectId, nothing).catch(() => undefined);
  const signs = { dwalletId: nothing, status: undefined, pageSize: 1, pageToken: "" };
  await listSigns(database, projectId, signs).catch(() => undefined);
}
