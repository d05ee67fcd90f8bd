import { readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type DevelopmentKeys, ensureDevelopmentKeys } from "../access/development-keys.ts";
import type { Database } from "../platform/store/database.ts";
import type { Secret } from "../platform/telemetry/secret.ts";

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
