import type { Logger } from "pino";
import { createAdminKeyLookup } from "../access/admin-key-lookup.ts";
import { createApiKeyLookup } from "../access/api-key-lookup.ts";
import type { Deposits } from "../billing/deposits/deposits.ts";
import type { CallerReads } from "../chain/caller-reads.ts";
import type { ChainNetwork } from "../chain/network.ts";
import type { NetworkReader } from "../chain/reader.ts";
import type { Config } from "../config/config.ts";
import type { Coordination } from "../coordination/coordination.ts";
import type { Readiness } from "../health/readiness.ts";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";
import { startLoops } from "../lifecycle/start-loops.ts";
import type { ServiceMetrics } from "../observe/service-metrics.ts";
import { createParameterBuilder } from "../onboarding/build-parameters.ts";
import { createParameterStore } from "../onboarding/parameter-store.ts";
import type { PresignQueue } from "../presigns/presign-queue.ts";
import { CURVES } from "../protocol/algorithms.ts";
import { createCheckHalf } from "../signing/check-half.ts";
import type { Verifier } from "../signing/verifier.ts";
import type { Database } from "../store/database.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Tracer } from "../telemetry/tracer.ts";
import type { PlainRoute } from "../transport/plain-routes.ts";
import { startApiServer } from "./api-server.ts";
import { consoleRoutes } from "./console-routes.ts";
import { developmentBanner, ensureDevelopmentKeys, writeDevelopmentAccess } from "./development-access.ts";
import { warmUp } from "./warm-up.ts";

/** Builds the parts for callers, and serves the contract. */
export async function serveContract(
  options: ServeContractOptions,
): Promise<{ readonly url: string; readonly banner: readonly string[] }> {
  const { config, database, network, reader, coordination, lifecycle, log } = options;
  const { signals } = coordination;
  const { dataDirectory } = config;
  const parameterStore = createParameterStore(dataDirectory);
  const curves = [
    ...new Set([...config.presignBuckets.map((bucket) => bucket.curveNumber), ...CURVES.keys()]),
  ];
  const parameters = createParameterBuilder({
    reader,
    store: parameterStore,
    curves,
    clock: network.clock,
    log,
  });
  await startLoops(lifecycle, { parameters });

  const perMinute = config.wrongHalvesPerMinute;
  const wrongHalves = coordination.buckets("wrong halves", {
    burstCount: perMinute,
    perSecond: perMinute / 60,
  });
  const checkHalf = createCheckHalf({ verifier: options.verifier, wrongHalves });

  const isDevelopment = config.databaseUrl === undefined && network.name === "localnet";
  const keys = isDevelopment
    ? await ensureDevelopmentKeys(database, dataDirectory, config.adminApiKey)
    : undefined;
  const onLookup = (result: "hit" | "miss") => options.observe.onCache("api_key", result);
  const lookup = createApiKeyLookup({ database, signals, log, onLookup });
  const adminLookup = createAdminKeyLookup({ database, signals, log });
  await warmUp(database, lookup);
  const pages = config.hasConsole ? consoleRoutes() : [];
  if (config.hasConsole && pages.length === 0) log.warn("the console is not built: run npm run build");
  const { url } = await startApiServer(
    { ...options, signals, checkHalf, parameters, parameterStore, lookup, adminLookup },
    { ...options, pages, adminApiKey: keys?.adminApiKey ?? config.adminApiKey },
  );
  const consoleLines = pages.length > 0 ? [`console            ${url}/console`] : [];
  if (keys === undefined) return { url, banner: consoleLines };
  const fullnodeUrl = network.publicFullnodeUrl ?? "";
  writeDevelopmentAccess(dataDirectory, { baseUrl: url, fullnodeUrl, keys });
  return { url, banner: developmentBanner(dataDirectory, fullnodeUrl, keys, consoleLines) };
}

export interface ServeContractOptions {
  readonly config: Config;
  readonly database: Database;
  readonly network: ChainNetwork;
  readonly reader: NetworkReader;
  readonly callerReads: CallerReads;
  readonly coordination: Coordination;
  readonly presigns: PresignQueue;
  readonly verifier: Verifier;
  /** Undefined if the service takes no deposits. */
  readonly deposits: Deposits | undefined;
  readonly readiness: () => Promise<Readiness>;
  readonly probes: readonly PlainRoute[];
  readonly lifecycle: Lifecycle;
  readonly metrics: Metrics;
  readonly observe: Pick<ServiceMetrics, "onCache">;
  readonly tracer: Tracer;
  readonly log: Logger;
}
