import type { Log } from "../telemetry/log.ts";

/** The store's log. */
export type StoreLog = Pick<Log, "info" | "warn" | "error">;
