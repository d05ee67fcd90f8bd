import { type BackgroundLoop, createBackgroundLoop } from "../lifecycle/background-loop.ts";
import type { Clock } from "../lifecycle/clock.ts";
import { SEAL_MAX_COUNT } from "../seals/audit-seal.ts";
import type { Log } from "../telemetry/log.ts";
import { type SealEventsDeps, sealEvents } from "./seal-events.ts";

/** Seals the events of the audit trail. Any number of replicas may run it; one at a time seals. */
export function createAuditSealer({ clock, log, intervalMs, ...deps }: AuditSealerDeps): BackgroundLoop {
  return createBackgroundLoop({
    name: "audit sealer",
    intervalMs: intervalMs ?? DEFAULT_INTERVAL_MS,
    clock,
    log,
    // The next pass seals the events that arrive meanwhile: a busy trail gets one seal per interval, not per event.
    pass: async () => (await sealEvents(deps)) >= SEAL_MAX_COUNT,
  });
}

export interface AuditSealerDeps extends SealEventsDeps {
  readonly clock: Clock;
  readonly log: Pick<Log, "error">;
  /** The maximum time that an event waits for its seal, apart from the sealing itself. Default 5 s. */
  readonly intervalMs?: number;
}

const DEFAULT_INTERVAL_MS = 5_000;
