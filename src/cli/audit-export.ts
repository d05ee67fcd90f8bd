import { once } from "node:events";
import { open, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { exportAudit } from "../audit/export-audit.ts";
import { readUnsealed } from "../audit/read-unsealed.ts";
import { loadConfig } from "../config.ts";
import { openDatabase } from "../store/open-database.ts";
import { createLogger } from "../telemetry/logger.ts";

/**
 * `tss audit export [--from-seal N] [--to-seal N] [--output FILE]`: writes the sealed audit trail of the configured
 * database, line by line, to the file or to standard output. It never writes over a file.
 */
export async function runAuditExport(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      "from-seal": { type: "string" },
      "to-seal": { type: "string" },
      output: { type: "string" },
    },
  });
  const range = {
    fromSeal: numberOf("--from-seal", values["from-seal"]),
    toSeal: numberOf("--to-seal", values["to-seal"]),
  };
  const { databaseUrl, dataDirectory } = loadConfig();
  const log = createLogger({ level: "warn", stream: process.stderr });
  const database = await openDatabase({ databaseUrl: databaseUrl?.reveal(), dataDirectory, log });
  try {
    const lines = exportAudit(database, range);
    if (values.output === undefined) await writeToStandardOutput(lines);
    else await writeToFile(values.output, lines);
    const { count } = await readUnsealed(database);
    if (count > 0) console.error(`${count} newer events are not sealed yet, and not in the export`);
  } finally {
    await database.close();
  }
}

async function writeToFile(path: string, lines: AsyncIterable<Buffer>): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await writeFile(file, lines);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function writeToStandardOutput(lines: AsyncIterable<Buffer>): Promise<void> {
  for await (const line of lines) {
    if (!process.stdout.write(line)) await once(process.stdout, "drain");
  }
}

function numberOf(option: string, text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,17}$/.test(text)) throw new Error(`${option} takes the number of a seal, such as 1`);
  return BigInt(text);
}
