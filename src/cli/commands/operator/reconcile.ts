import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import type { NetworkReconciliation, ReconciliationResult } from "../../../service/app/reconcile-offline.ts";
import { loadConfig } from "../../../service/config/config.ts";
import type { ReissuedKey } from "../../../service/restore/reissue-keys.ts";
import { type CommandContext, command, UsageError } from "../../command-line/command.ts";
import { flag, nonEmptyText, optional, uuidsOrNone } from "../../command-line/option.ts";
import { describeFailure } from "../../failure.ts";

const STOP_TIMEOUT_MS = 10_000;

/** Data that is not on the chain. Printed after every run, because its loss cannot be detected. */
const NOT_ON_THE_CHAIN = [
  "projects and API keys created since, and keys revoked since, which work again: see `--reissue-keys`",
  "credit added or removed since, and the price of each signature",
  "reservations that were never submitted; they cost nothing",
  "idempotency keys, and the audit trail since",
];

export const reconcileCommand = command({
  summary: "bring a restored database in line with the chain; stop every replica first",
  details:
    "Running it again changes nothing. The report names what cannot be restored, which does not change the exit code.\n" +
    "If a network fails, it continues with the next one and exits with 1 at the end.",
  options: {
    reissueKeys: optional(
      "<file>",
      "revoke every API key and write a replacement for each to this new file",
      nonEmptyText,
    ),
    revoked: optional(
      "<ids>",
      "with --reissue-keys: ids of keys revoked after the backup, or `none`; none is replaced",
      uuidsOrNone,
    ),
    network: optional("<network>", "only this network; default every network of NETWORKS", nonEmptyText),
    json: flag("print a JSON object; with several networks one per line"),
  },
  async run({ reissueKeys, revoked, network: named, json }, { environment, print }) {
    if ((reissueKeys === undefined) !== (revoked === undefined)) {
      throw new UsageError(
        "--reissue-keys needs --revoked: the ids of the keys that were revoked after the backup and must get no replacement, or `none`",
      );
    }
    const config = loadConfig(environment);
    const networks = config.networks.filter(({ name }) => named === undefined || name === named);
    if (networks.length === 0) throw new UsageError("--network takes a network of NETWORKS");
    const { reconcileOffline } = await import("../../../service/app/reconcile-offline.ts");
    const { Lifecycle } = await import("../../../service/platform/lifecycle/lifecycle.ts");
    const { createLogger } = await import("../../../service/platform/telemetry/logger.ts");
    const log = createLogger({ level: "warn", stream: process.stderr });
    const lifecycle = new Lifecycle({ log, stopTimeoutMs: STOP_TIMEOUT_MS });
    const keys = reissueKeys === undefined ? undefined : openKeyFile(reissueKeys);
    try {
      const reissue = keys && revoked && { keep: keys.keep, revokedIds: revoked };
      const results = reconcileOffline(config, networks, { lifecycle, log, reissue });
      await printReconciliations(results, { isOnly: networks.length === 1, json, print });
    } finally {
      keys?.close();
      await lifecycle.stop();
    }
  },
});

/**
 * Prints each report when its network ends. Throws afterwards if a network failed, with the names of those that did.
 */
export async function printReconciliations(
  results: AsyncIterable<ReconciliationResult>,
  { isOnly, json, print }: PrintOptions,
): Promise<void> {
  const failures: string[] = [];
  for await (const { network, report, failure } of results) {
    if (report !== undefined) {
      if (!isOnly && !json) print(`${network}:`);
      print(json ? JSON.stringify({ ...report, notOnTheChain: NOT_ON_THE_CHAIN }) : describe(report));
    }
    if (failure === undefined) continue;
    if (isOnly)
      throw failure instanceof Error ? failure : new Error("the reconciliation failed", { cause: failure });
    failures.push(`${network}: ${describeFailure(failure).message}`);
  }
  if (failures.length > 0)
    throw new Error(["these networks failed; run it again for each:", ...failures].join("\n  "));
}

/** Options of {@link printReconciliations}. */
export interface PrintOptions extends Pick<CommandContext, "print"> {
  /** True if it is the only network of the run, which then needs no name. */
  readonly isOnly: boolean;
  readonly json: boolean;
}

/**
 * Creates a file that only its owner can read. Each key is on disk, as a line of JSON, before the next one is created.
 */
function openKeyFile(file: string): { keep(key: ReissuedKey): void; close(): void } {
  const descriptor = openSync(file, "wx", 0o600);
  return {
    keep(key) {
      writeSync(descriptor, `${JSON.stringify(key)}\n`);
      fsyncSync(descriptor);
    },
    close: () => closeSync(descriptor),
  };
}

function describe({
  transactionCount,
  counts,
  adoptedCount,
  burntCount,
  heldCount,
  creditedCount,
  reissuedKeyCount,
  unrecoverable,
}: NetworkReconciliation): string {
  const rows: [number, string][] = [
    [transactionCount, "transactions unknown to the database"],
    [counts.register, "encryption keys updated"],
    [counts.dkg, "dWallets restored"],
    [counts.accept, "acceptances restored"],
    [counts.presign, "presigns updated"],
    [counts.sign, "signatures restored and charged"],
    [counts.sweep, "sweeps restored"],
    [creditedCount, "deposits found and credited"],
    [adoptedCount, "operations that were already sent"],
    [burntCount, "presigns of the pool that were already used"],
    [heldCount, "presigns that the Treasury holds"],
    [reissuedKeyCount, "API keys re-issued"],
  ];
  return [
    ...rows.map(([count, what]) => `${String(count).padStart(8)}  ${what}`),
    "",
    unrecoverable.length === 0 ? "The database knows everything on the chain." : "Not restored:",
    ...unrecoverable.map(({ what, id, reason }) => `  ${what} ${id}: ${reason}`),
    "",
    "Data that is not on the chain:",
    ...NOT_ON_THE_CHAIN.map((line) => `  ${line}`),
  ].join("\n");
}
