import { randomUUID } from "node:crypto";
import pg from "pg";
import { type FillStatement, fillStatements, type OldRowParameters } from "./old-row-statements.ts";
import { sealOldEvents } from "./seal-old-events.ts";

/** What {@link fillOldRows} makes. */
export interface FillOptions {
  /** How many projects the rows are spread over. A fifth of all is the first one's. */
  readonly projects: number;
  /** How many rows there are afterwards, about, in all tables that grow together: eleven for each signature. */
  readonly rows: number;
  /** Default `localnet`. */
  readonly network?: "localnet" | "testnet" | "mainnet";
  /**
   * The key that the old presigns and dWallets are of. With the one that the chain has, new requests search among them.
   * By default a made-up one, and dWallets that failed: workers then want no presigns for them.
   */
  readonly networkEncryptionKeyId?: string;
}

const ROWS_PER_REQUEST = 11;
/** Requests repeat after so many: there are no pieces of that. */
const PATTERN_COUNT = 50;
const REQUESTS_PER_DWALLET = 2;
/** So many numbers in one statement, which bounds what a transaction writes at once. */
const PIECE_COUNT = 100_000;

/**
 * Fills a database that is up to date with what a year of signatures leaves behind: presigns, sign requests, ledger
 * entries, operations, transactions, sealed audit events and idempotency keys of the last day. The ledger adds up; the
 * seals' hashes are made up. Then it has the planner's statistics taken. Nothing else may use the database
 * meanwhile, and its user has to be a superuser, since triggers and foreign keys are switched off. Returns the
 * ids of the projects, each of which has credit. Ten million rows take some minutes and about 5 GB.
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

/** The projects of a run have the only ledger entries with its tag. */
const PROJECTS = `SELECT project_id AS id FROM ledger_entry WHERE starts_with(key, 'credit:' || $1) ORDER BY id`;

const BALANCES = `
UPDATE project p SET balance_micro_usd = (SELECT sum(amount_micro_usd) FROM ledger_entry WHERE project_id = p.id)
WHERE p.id IN (SELECT project_id FROM ledger_entry WHERE starts_with(key, 'credit:' || $1))`;
