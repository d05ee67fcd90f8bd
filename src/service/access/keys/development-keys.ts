import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { creditProject } from "../../ledger/credit-project.ts";
import type { Database } from "../../platform/store/database.ts";
import { Secret } from "../../platform/telemetry/secret.ts";
import { SCOPES } from "../caller.ts";
import { insertProject } from "../projects.ts";
import { ANY_ORIGIN } from "../web-origins.ts";
import { insertApiKey } from "./api-keys.ts";

/**
 * Returns the keys of the service at a start on embedded defaults. `dev.json` keeps them between starts and is readable
 * only by its owner.
 */
export function readDevelopmentKeys(
  database: Database,
  dataDirectory: string,
  adminApiKey: Secret | undefined,
): Promise<DevelopmentKeys> {
  return ensureDevelopmentKeys(database, readFileOrNothing(dataDirectory), adminApiKey);
}

/** Writes `dev.json` with the service's URL and keys, atomically. */
export function writeDevelopmentAccess(
  dataDirectory: string,
  access: { readonly baseUrl: string; readonly fullnodeUrl: string; readonly keys: DevelopmentKeys },
): void {
  const { baseUrl, fullnodeUrl, keys } = access;
  const content: DevelopmentFile = {
    baseUrl,
    apiKey: keys.apiKey.reveal(),
    adminApiKey: keys.adminApiKey.reveal(),
    network: "localnet",
    fullnodeUrl,
  };
  const file = path.join(dataDirectory, FILE);
  writeFileSync(`${file}.tmp`, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.tmp`, file);
}

/** Returns lines to print for the person who started the service, including `more`. They show only new keys. */
export function developmentBanner(
  dataDirectory: string,
  fullnodeUrl: string,
  keys: DevelopmentKeys,
  more: readonly string[],
): string[] {
  const lines = [
    "",
    `localnet fullnode  ${fullnodeUrl}`,
    `access             ${path.join(dataDirectory, FILE)}`,
    ...more,
  ];
  if (keys.areNew) {
    lines.push(
      `api key            ${keys.apiKey.reveal()}`,
      `admin key          ${keys.adminApiKey.reveal()}`,
    );
    lines.push("The keys are for development and are not shown again.");
  }
  return [...lines, ""];
}

const FILE = "dev.json";

interface DevelopmentFile {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly adminApiKey: string;
  readonly network: "localnet";
  readonly fullnodeUrl: string;
}

function readFileOrNothing(dataDirectory: string): DevelopmentFile | undefined {
  try {
    return JSON.parse(readFileSync(path.join(dataDirectory, FILE), "utf8")) as DevelopmentFile;
  } catch {
    return undefined;
  }
}

/**
 * Returns the keys of a development service. The known ones stay while the database has a project; otherwise this
 * creates a project with credit and an API key. A configured admin key replaces the known one.
 */
export async function ensureDevelopmentKeys(
  database: Database,
  known: KnownKeys | undefined,
  adminApiKey: Secret | undefined,
): Promise<DevelopmentKeys> {
  const admin = adminApiKey ?? new Secret(known?.adminApiKey ?? randomBytes(32).toString("base64url"));
  if (known && (await database.prisma.project.count()) > 0) {
    return { apiKey: new Secret(known.apiKey), adminApiKey: admin, areNew: false };
  }
  const projectId = await insertProject(database, ORIGIN, { name: "development", network: "localnet" });
  await creditProject(database, ORIGIN, {
    projectId,
    amountMicroUsd: CREDIT_MICRO_USD,
    reference: `development:${projectId}`,
    description: "credit for development",
  });
  const { plaintext } = await insertApiKey(database, ORIGIN, {
    projectId,
    name: "development",
    scopes: SCOPES,
    // It protects nothing of value, and a page under development runs anywhere.
    allowedOrigins: [ANY_ORIGIN],
  });
  return { apiKey: new Secret(plaintext), adminApiKey: admin, areNew: true };
}

/** The keys of an earlier start. */
export interface KnownKeys {
  readonly apiKey: string;
  readonly adminApiKey: string;
}

/** The keys of a development service. */
export interface DevelopmentKeys {
  readonly apiKey: Secret;
  readonly adminApiKey: Secret;
  /** True if the keys are new and should be printed. */
  readonly areNew: boolean;
}

/** Fifty US dollars, enough for five thousand signatures at the default price. */
const CREDIT_MICRO_USD = 50_000_000n;
const ORIGIN = { actor: "system" };
