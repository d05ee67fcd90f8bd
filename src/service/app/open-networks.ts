import type { Logger } from "pino";
import type { NetworkConfig } from "../config/networks.ts";
import type { HealthNetwork } from "../operator/health/checks/health-check.ts";
import { openDoctorChain } from "../operator/health/doctor/doctor-chain.ts";
import { type Clock, pause } from "../platform/lifecycle/clock.ts";
import { type KeptOpen, keepOpen } from "../platform/lifecycle/keep-open.ts";
import type { Lifecycle } from "../platform/lifecycle/lifecycle.ts";
import type { Metrics } from "../platform/telemetry/metrics.ts";
import type { OpenNetwork } from "./network.ts";
import type { NetworkServices } from "./serve-network.ts";
import { accessOf, type Service } from "./service.ts";

/**
 * Opens the networks concurrently. Throws the failure of a single network. With several, returns once one is open and
 * the others have finished their first attempt or a few seconds have passed; the others continue in the background.
 * Throws if the first attempts of all networks fail.
 */
export async function openNetworks(service: Service, open: OpenServed): Promise<Networks> {
  const { clock, lifecycle } = service;
  const { networks } = service.config;
  const isRetried = networks.length > 1;
  const kept = networks.map((config) => {
    const log = service.log.child({ network: config.name });
    const entry = {
      config,
      ...keepOpen({ open: (own) => open(config, own, log), clock, log, isRetried }),
    };
    entry.first.catch(() => {});
    return entry;
  });
  lifecycle.onStop("networks", () => stopAll(kept), STOP_TIMEOUT_MS);
  showOpen(service.metrics, kept);
  await firstAttempts(kept, clock);
  return {
    opened: (name) => kept.find(({ config }) => config.name === name)?.opened(),
    anyOpen: () => kept.map((entry) => entry.opened()).find((one) => one !== undefined),
    health: kept.map((entry) => healthOf(entry, service)),
  };
}

/** The networks of this process. */
export interface Networks {
  /** Returns the network; undefined while it is not open. */
  opened(name: string): ServedNetwork | undefined;
  /** Returns the first open network, if any. */
  anyOpen(): ServedNetwork | undefined;
  readonly health: readonly HealthNetwork[];
}

/** An open network with its services. */
export interface ServedNetwork {
  readonly network: OpenNetwork;
  /** Undefined in a worker. */
  readonly services: NetworkServices | undefined;
}

/** Opens one network. Its lifecycle is its own, so that it can end before the process. */
export type OpenServed = (config: NetworkConfig, lifecycle: Lifecycle, log: Logger) => Promise<ServedNetwork>;

type Entry = KeptOpen<ServedNetwork> & { readonly config: NetworkConfig };

/** The longest wait for the first attempts of other networks once one is open. */
const OTHERS_MS = 5_000;
/** Bounds the stop of all networks. Each part has its own limit. */
const STOP_TIMEOUT_MS = 120_000;

/** Stops the networks concurrently, because one may wait for its fullnode. Returns true if all stopped cleanly. */
async function stopAll(kept: readonly Entry[]): Promise<boolean> {
  const areClean = await Promise.all(kept.map((entry) => entry.stop()));
  return areClean.every((isClean) => isClean);
}

async function firstAttempts(kept: readonly Entry[], clock: Clock): Promise<void> {
  const firsts = kept.map(({ first }) => first);
  const waiting = new AbortController();
  try {
    await Promise.any(firsts);
    await Promise.race([Promise.allSettled(firsts), pause(clock, OTHERS_MS, waiting.signal)]);
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error;
    if (kept.length === 1) throw error.errors[0];
    const causes = error.errors.map((cause, index) => `${kept[index]?.config.name}: ${messageOf(cause)}`);
    throw new Error(`no network can be opened\n${causes.join("\n")}`, { cause: error });
  } finally {
    waiting.abort();
  }
}

function showOpen(metrics: Pick<Metrics, "gauge">, kept: readonly Entry[]): void {
  metrics.gauge(
    "network_open",
    "1 while this replica has opened the network, 0 while it refuses the network's calls.",
    ["network"],
    (gauge) => {
      for (const { config, opened } of kept)
        gauge.set({ network: config.name }, Number(opened() !== undefined));
    },
  );
}

function healthOf({ config, opened }: Entry, service: Service): HealthNetwork {
  const access = () => accessOf(service, config.name);
  const outside = openDoctorChain(config, access);
  return {
    config,
    isOpen: () => opened() !== undefined,
    chain: {
      access,
      client: async () => opened()?.network.chain.client ?? outside.client(),
      network: async () => opened()?.network.chain ?? outside.network(),
    },
  };
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
