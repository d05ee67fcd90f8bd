import type { Log } from "../telemetry/log.ts";

/** What the store tells of; a pino logger is one. */
export type StoreLog = Pick<Log, "info" | "warn" | "error">;
