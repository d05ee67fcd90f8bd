import type { Log } from "../../src/service/platform/telemetry/logger.ts";

/** A log that keeps nothing. A test that reads some levels replaces them: `{ ...silentLog, error: record }`. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
