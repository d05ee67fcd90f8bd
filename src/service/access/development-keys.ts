import { randomBytes } from "node:crypto";
import { creditProject } from "../ledger/credit-project.ts";
import type { Database } from "../platform/store/database.ts";
import { Secret } from "../platform/telemetry/secret.ts";
import { insertApiKey } from "./api-keys.ts";
import { SCOPES } from "./caller.ts";
import { insertProject } from "./projects.ts";
import { ANY_ORIGIN } from "./web-origins.ts";

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
