import { parseArgs } from "node:util";
import { SCOPES } from "../access/caller.ts";
import { createApiKey } from "../access/create-api-key.ts";
import { createProject } from "../access/create-project.ts";
import { creditProject } from "../billing/credit-project.ts";
import { loadConfig } from "../config.ts";
import { migrate } from "../store/migrate.ts";
import { openDatabase } from "../store/open-database.ts";
import { createLogger } from "../telemetry/logger.ts";

const MICRO_USD_PER_USD = 1_000_000;
const ORIGIN = { actor: "system" };

/**
 * `tss project create --name acme [--credit-usd 50] [--json]`: a project on the configured network with credit and an
 * API key, written to the database directly. The key is printed once.
 */
export async function runProject(argv: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: { name: { type: "string" }, "credit-usd": { type: "string" }, json: { type: "boolean" } },
  });
  const name = values.name?.trim();
  const creditUsd = Number(values["credit-usd"] ?? "0");
  if (positionals.join(" ") !== "create" || !name) throw new Error("usage: tss project create --name <name>");
  if (!Number.isFinite(creditUsd) || creditUsd < 0)
    throw new Error("--credit-usd takes an amount, such as 50");

  const config = loadConfig();
  const log = createLogger({ level: "warn", stream: process.stderr });
  const { dataDirectory } = config;
  const database = await openDatabase({ databaseUrl: config.databaseUrl?.reveal(), dataDirectory, log });
  try {
    await migrate(database, log);
    const projectId = await createProject(database, ORIGIN, { name, network: config.network.name });
    await creditProject(database, ORIGIN, {
      projectId,
      amountMicroUsd: BigInt(Math.round(creditUsd * MICRO_USD_PER_USD)),
      reference: `first:${projectId}`,
      description: "first credit",
    });
    const { plaintext } = await createApiKey(database, ORIGIN, { projectId, name, scopes: SCOPES });
    const report = { projectId, network: config.network.name, apiKey: plaintext };
    if (values.json) console.log(JSON.stringify(report));
    else console.log(`project  ${projectId}\nnetwork  ${report.network}\napi key  ${plaintext} (shown once)`);
  } finally {
    await database.close();
  }
}
