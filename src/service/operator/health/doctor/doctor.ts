import { existsSync } from "node:fs";
import path from "node:path";
import pg from "pg";
import { readAnnouncedNetwork } from "../../../chain/fullnodes/announced-network.ts";
import { type Config, type ConfigReading, readConfig } from "../../../config/config.ts";
import { openRedis } from "../../../platform/coordination/open-redis.ts";
import { columnTypes } from "../../../platform/store/columns.ts";
import type { Queryable } from "../../../platform/store/database.ts";
import { openPglite } from "../../../platform/store/open-pglite.ts";
import { lookAtSession } from "../../../platform/store/open-postgres.ts";
import { withClient } from "../../../platform/store/pool-database.ts";
import { createRedact } from "../../../platform/telemetry/redact.ts";
import type { Secret } from "../../../platform/telemetry/secret.ts";
import {
  type Finding,
  type HealthDatabase,
  type NamedFinding,
  once,
  reachable,
  runChecks,
} from "../checks/health-check.ts";
import { healthChecks } from "../checks/health-checks.ts";
import { findAccess, openDoctorChain } from "./doctor-chain.ts";

/**
 * Checks everything that the service needs, and changes nothing. Works with or without a running service. If the
 * configuration is invalid, returns only its faults. Throws if `only` is not a configured network.
 */
export async function runDoctor(
  environment?: NodeJS.ProcessEnv,
  { timeoutMs = DEFAULT_TIMEOUT_MS, only }: DoctorOptions = {},
): Promise<NamedFinding[]> {
  const reading = readConfig(environment);
  const evaluated = evaluate(reading);
  if (reading.faults.length > 0) return evaluated;
  const { config } = reading;
  const networks = config.networks.filter(({ name }) => only === undefined || name === only);
  if (networks.length === 0) throw new Error(`${only} is not a network of NETWORKS`);
  const database = once(() => openDoctorDatabase(config));
  const subject = {
    config,
    isRunning: false,
    database,
    networks: networks.map((network) => ({
      config: network,
      chain: openDoctorChain(network, async () => {
        const access = await findAccess(network);
        if (access.hotWalletSecret !== undefined) return access;
        // An api process knows the wallets by what another process announced.
        return {
          ...access,
          walletAddresses: await readAnnouncedNetwork(await reachable({ database }), network.name),
        };
      }),
    })),
    askRedis: () => askRedis(config.redisUrl!),
  };
  try {
    const findings = await runChecks(healthChecks(subject), timeoutMs);
    const redact = createRedact(reading.secrets);
    // A failure may quote a URL.
    return [...evaluated, ...findings.map((finding) => ({ ...finding, found: redact(finding.found) }))];
  } finally {
    await database().then(
      (opened) => opened.close(),
      () => undefined,
    );
  }
}

/** Options of {@link runDoctor}. */
interface DoctorOptions {
  /** The time limit of each check. Default 15 s. */
  readonly timeoutMs?: number;
  /** The only network to check, with everything that the networks share. Default: every network of NETWORKS. */
  readonly only?: string | undefined;
}

const DEFAULT_TIMEOUT_MS = 15_000;

function evaluate({ config, faults, warnings }: ConfigReading): NamedFinding[] {
  const name = "configuration";
  if (faults.length > 0) {
    const advice = "set the variable; `tss config` prints the effective values";
    return faults.map((found) => ({ name, status: "fail", found, advice }));
  }
  const good: NamedFinding = {
    name,
    status: "ok",
    found: `for ${config.networks.map((network) => network.name).join(" and ")}`,
  };
  const advice = "see docs/operations/deploy.md, Configuration";
  return warnings.length === 0
    ? [good]
    : warnings.map((found): NamedFinding => ({ name, status: "warn", found, advice }));
}

/** Opens the database and changes nothing. Throws if PostgreSQL does not answer or refuses. */
export async function openDoctorDatabase({
  databaseUrl,
  dataDirectory,
}: Pick<Config, "databaseUrl" | "dataDirectory">): Promise<DoctorDatabase> {
  if (databaseUrl === undefined) return openEmbedded(dataDirectory);
  const pool = new pg.Pool({
    connectionString: databaseUrl.reveal(),
    max: CONNECTIONS_MAX_COUNT,
    connectionTimeoutMillis: DATABASE_TIMEOUT_MS,
    query_timeout: DATABASE_TIMEOUT_MS,
    application_name: "tss doctor",
    types: columnTypes,
  });
  // The statement on a broken connection reports the failure.
  pool.on("error", () => {});
  const { isPooled } = await withClient(pool, lookAtSession).catch(async (error: unknown) => {
    await pool.end();
    throw error;
  });
  const db: Queryable = {
    query: async <Row>(statement: string, parameters: readonly unknown[] = []) =>
      (await pool.query(statement, [...parameters])).rows as Row[],
  };
  return { kind: "postgres", db, isPooled, close: () => pool.end() };
}

/** The doctor's own connection to the database. */
type DoctorDatabase = HealthDatabase & { close(): Promise<void> };

const DATABASE_TIMEOUT_MS = 5_000;
/** Leaves the other connections to a service on the same server. */
const CONNECTIONS_MAX_COUNT = 2;

async function openEmbedded(dataDirectory: string): Promise<DoctorDatabase> {
  const outOfReach = (why: string): DoctorDatabase => ({ kind: "out-of-reach", why, close: async () => {} });
  if (!existsSync(path.join(dataDirectory, "pg"))) return outOfReach("embedded; created at the first start");
  try {
    const database = await openPglite(dataDirectory);
    return { kind: "pglite", db: database, close: () => database.close() };
  } catch (error) {
    if (error instanceof Error && /^process \d+ uses/.test(error.message))
      return outOfReach("embedded, and in use by a running service");
    throw error;
  }
}

/** Connects to Redis and checks its version and its eviction policy. */
async function askRedis(url: Secret): Promise<Finding> {
  let lose: (cause: Error) => void = () => {};
  const lost = new Promise<never>((_resolve, reject) => {
    lose = reject;
  });
  // The answer may come first.
  lost.catch(() => {});
  const outage = { lost: (_connection: object, cause: Error) => lose(cause), restored: () => {} };
  const client = openRedis({ url: url.reveal(), outage, commandTimeout: REDIS_TIMEOUT_MS });
  try {
    return checkRedis(await Promise.race([client.info(), lost]));
  } finally {
    client.disconnect();
  }
}

const REDIS_TIMEOUT_MS = 5_000;
const OLDEST_MAJOR = 6;

/** Returns the finding for a reply to `INFO`. */
export function checkRedis(info: string): Finding {
  const read = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1] ?? "";
  const version = read("redis_version");
  const policy = read("maxmemory_policy");
  const isBounded = Number(read("maxmemory")) > 0;
  const found = `Redis ${version}, ${isBounded ? `maxmemory-policy ${policy}` : "no memory limit"}`;
  if (Number(version.split(".")[0]) < OLDEST_MAJOR)
    return { status: "warn", found, advice: `move to Redis ${OLDEST_MAJOR} or newer` };
  if (isBounded && policy === "noeviction") {
    return {
      status: "warn",
      found,
      advice:
        "Redis refuses writes when it is full; set maxmemory-policy to volatile-ttl, because all keys expire",
    };
  }
  return { status: "ok", found };
}
