import { randomUUID } from "node:crypto";
import pg from "pg";
import { type FillStatement, fillStatements, type OldRowParameters } from "./old-row-statements.ts";
import { sealOldEvents } from "./seal-old-events.ts";

/** The rows that {@link fillOldRows} writes. */
export interface FillOptions {
  /** Number of projects that share the rows. */
  readonly projects: number;
  /** The share of the first project. Default: a fifth of all rows. */
  readonly largestShare?: "fifth" | "nine-tenths";
  /** Approximate number of rows afterwards in all growing tables together: eleven for each signature. */
  readonly rows: number;
  /** Default `localnet`. */
  readonly network?: "localnet" | "testnet" | "mainnet";
  /**
   * The network key of the old presigns and dWallets. If it is the chain's key, new requests search among them.
   * Default: a made-up key, with failed dWallets, so that workers request no presigns for them.
   */
  readonly networkEncryptionKeyId?: string;
}

const ROWS_PER_REQUEST = 11;
/** The pattern of requests repeats after this number, and must not be cut. */
const PATTERN_COUNT = 50;
const REQUESTS_PER_DWALLET = 2;
/** Rows per statement, which bounds the size of a transaction. */
const PIECE_COUNT = 100_000;

/**
 * Fills an up-to-date database with the rows that a year of signatures leaves: presigns, sign requests, ledger entries,
 * operations, transactions, sealed audit events and idempotency keys of the last day. The ledger adds up; the seals'
 * hashes are made up. Then it updates the planner's statistics. Nothing else may use the database meanwhile, and its
 * user must be a superuser, because triggers and foreign keys are switched off. Returns the ids of the projects, each
 * of which has credit. Ten million rows take some minutes and about 5 GB.
 */
export async function fillOldRows(databaseUrl: string, options: FillOptions): Promise<string[]> {
  const projectCount = Math.max(1, Math.round(options.projects));
  const requestCount =
    Math.max(1, Math.ceil(options.rows / ROWS_PER_REQUEST / PATTERN_COUNT)) * PATTERN_COUNT;
  const dwalletCount = Math.ceil(requestCount / REQUESTS_PER_DWALLET / projectCount) * projectCount;
  const isMadeUp = options.networkEncryptionKeyId === undefined;
  const parameters: OldRowParameters = {
    tag: randomUUID(),
    now: new Date(),
    network: options.network ?? "localnet",
    networkEncryptionKeyId: options.networkEncryptionKeyId ?? `0x${"01".repeat(32)}`,
    dwalletState: isMadeUp ? "Failed" : "Active",
    projectCount,
    dwalletCount,
    requestCount,
    largestShare: options.largestShare ?? "fifth",
  };
  const counts = { projects: projectCount, dwallets: dwalletCount, requests: requestCount };
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("SET session_replication_role = replica; SET synchronous_commit = off");
    for (const statement of fillStatements(parameters)) await fill(client, statement, counts);
    await sealOldEvents(client);
    await client.query(BALANCES, [parameters.tag]);
    await client.query("VACUUM (ANALYZE)");
    const { rows } = await client.query<{ id: string }>(PROJECTS, [parameters.tag]);
    return rows.map(({ id }) => id);
  } finally {
    await client.end();
  }
}

async function fill(
  client: pg.Client,
  { of, db }: FillStatement,
  counts: Readonly<Record<FillStatement["of"], number>>,
): Promise<void> {
  for (let first = 0; first < counts[of]; first += PIECE_COUNT)
    await client.query(db, [first, Math.min(first + PIECE_COUNT, counts[of]) - 1]);
}

/** A run's projects: only they have ledger entries with its tag. */
const PROJECTS = `SELECT project_id AS id FROM ledger_entry WHERE starts_with(key, 'credit:' || $1) ORDER BY id`;

const BALANCES = `
UPDATE project p SET balance_micro_usd = (SELECT sum(amount_micro_usd) FROM ledger_entry WHERE project_id = p.id)
WHERE p.id IN (SELECT project_id FROM ledger_entry WHERE starts_with(key, 'credit:' || $1))`;
