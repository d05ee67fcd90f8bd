import { parseArgs } from "node:util";
import type { Reconciliation } from "../app/reconcile.ts";
import { reconcileOffline } from "../app/reconcile-offline.ts";
import { loadConfig } from "../config.ts";
import { Lifecycle } from "../lifecycle/lifecycle.ts";
import { createLogger } from "../telemetry/logger.ts";

const STOP_TIMEOUT_MS = 10_000;

/** What no chain knows: said after every run, since nobody can tell whether there was any of it. */
const NOT_ON_THE_CHAIN = [
  "projects and API keys made since, and keys revoked since, which work again: see `--reissue-keys`",
  "credit given or taken since, and the price that each signature had",
  "reservations that were never submitted; they cost nothing",
  "idempotency keys, and the audit trail since",
];

/**
 * `tss reconcile [--json]`: brings a restored copy of the database in line with the chain, with every replica
 * stopped. Exits with 0 also where something could not be put back; the report names it.
 */
export async function runReconcile(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...argv], options: { json: { type: "boolean" } } });
  const config = loadConfig();
  const log = createLogger({ level: "warn", stream: process.stderr });
  const lifecycle = new Lifecycle({ log, stopTimeoutMs: STOP_TIMEOUT_MS });
  try {
    const report = await reconcileOffline(config, { lifecycle, log });
    const notOnTheChain = NOT_ON_THE_CHAIN;
    console.log(values.json ? JSON.stringify({ ...report, notOnTheChain }) : describe(report));
  } finally {
    await lifecycle.stop();
  }
}

function describe({
  transactionCount,
  counts,
  adoptedCount,
  burntCount,
  heldCount,
  unrecoverable,
}: Reconciliation): string {
  const rows: [number, string][] = [
    [transactionCount, "transactions that the database did not know"],
    [counts.register, "encryption keys brought forward"],
    [counts.dkg, "dWallets put back"],
    [counts.accept, "acceptances put back"],
    [counts.presign, "presigns brought forward"],
    [counts.sign, "signatures put back and charged"],
    [adoptedCount, "operations that had been sent"],
    [burntCount, "presigns of the pool that had been used"],
    [heldCount, "presigns that the Treasury holds"],
  ];
  return [
    ...rows.map(([count, what]) => `${String(count).padStart(8)}  ${what}`),
    "",
    unrecoverable.length === 0 ? "Everything on the chain is known." : "Not put back:",
    ...unrecoverable.map(({ what, id, reason }) => `  ${what} ${id}: ${reason}`),
    "",
    "What no chain knows:",
    ...NOT_ON_THE_CHAIN.map((line) => `  ${line}`),
  ].join("\n");
}
