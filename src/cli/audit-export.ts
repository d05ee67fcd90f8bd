import { once } from "node:events";
import { open, writeFile } from "node:fs/promises";
import { exportAudit } from "../audit/export-audit.ts";
import { countUnsealed } from "../audit/seal-events.ts";
import { loadConfig } from "../config/config.ts";
import { command } from "./command.ts";
import { openConfiguredDatabase } from "./open-configured-database.ts";
import { optional } from "./option.ts";
import { nonEmptyText, rowNumber } from "./option-values.ts";

export const auditExport = command({
  summary: "export the sealed audit trail of the database, one entry per line",
  details:
    "Never overwrites a file.\n" +
    "You can run it beside a running service, except on the embedded database: stop the service first.",
  options: {
    fromSeal: optional("<number>", "the first seal; default the oldest", rowNumber),
    toSeal: optional("<number>", "the last seal; default the newest", rowNumber),
    output: optional("<file>", "a new file; default standard output", nonEmptyText),
  },
  async run({ fromSeal, toSeal, output }, { environment, note, openDatabase = openConfiguredDatabase }) {
    const database = await openDatabase(loadConfig(environment), { migrates: false });
    try {
      const lines = exportAudit(database, { fromSeal, toSeal });
      if (output === undefined) await writeToStandardOutput(lines);
      else await writeToFile(output, lines);
      const count = await countUnsealed(database);
      if (count > 0) note(`${count} newer events are not sealed yet and are not in the export`);
    } finally {
      await database.close();
    }
  },
});

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
