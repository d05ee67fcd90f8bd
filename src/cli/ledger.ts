import { parseArgs } from "node:util";
import { type LedgerDifference, verifyLedger } from "../billing/verify-ledger.ts";
import { loadConfig } from "../config.ts";
import { openDatabase } from "../store/open-database.ts";
import { isSchemaMissing } from "../store/sql-errors.ts";
import { createLogger } from "../telemetry/logger.ts";

/**
 * `tss ledger verify [--json]`: recomputes all money from the ledger and the sign requests of the configured database.
 * Prints every difference and sets exit code 1 if there is one.
 */
export async function runLedger(argv: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: { json: { type: "boolean" } },
  });
  if (positionals.join(" ") !== "verify") throw new Error("usage: tss ledger verify [--json]");
  const { databaseUrl, dataDirectory } = loadConfig();
  const log = createLogger({ level: "warn", stream: process.stderr });
  const database = await openDatabase({ databaseUrl: databaseUrl?.reveal(), dataDirectory, log });
  try {
    const differences = await verifyLedger(database);
    console.log(values.json ? JSON.stringify(differences.map(plain)) : describe(differences));
    if (differences.length > 0) process.exitCode = 1;
  } catch (error) {
    if (!isSchemaMissing(error)) throw error;
    throw new Error("the database was not brought up to this version; run `tss migrate` first", {
      cause: error,
    });
  } finally {
    await database.close();
  }
}

/** JSON has no integers of 64 bits, so they go as text, as in the contract. */
function plain({ kind, subject, expected, actual }: LedgerDifference): Record<string, string> {
  return { kind, subject, expected: String(expected), actual: String(actual) };
}

function describe(differences: readonly LedgerDifference[]): string {
  if (differences.length === 0)
    return "the ledger adds up: every balance, hold, charge and refund is as recomputed";
  const lines = differences.map(
    ({ kind, subject, expected, actual }) =>
      `${kind.padEnd(12)}  ${subject}  expected ${expected}, found ${actual}`,
  );
  return [`${differences.length} differences (micro-USD)`, ...lines].join("\n");
}
