import sql, { type Sql } from "sql-template-tag";
import type { TreasuryConsent } from "../../../protocol/chain/treasury-custody.ts";
import { bigint, bytea, type Columns, nullable, oneOf, text } from "../../platform/store/columns.ts";
import { type Queryable, readRows } from "../../platform/store/database.ts";

/** A consent, read from its row and its dWallet's row. */
export interface ConsentRow {
  readonly id: string;
  readonly projectId: string;
  /** The id of the dWallet's row. */
  readonly dwalletRowId: string;
  /** The id of the dWallet's object. */
  readonly dwalletId: string;
  readonly action: "leave" | "refuse";
  readonly chain: Uint8Array;
  readonly treasuryId: string;
  readonly recipient: string | null;
  readonly nonce: bigint;
  readonly expiresEpoch: bigint;
  readonly publicKey: Uint8Array;
  readonly signature: Uint8Array;
  readonly state: ConsentState;
  readonly txDigest: string | null;
}

/** `settling`: a leave waits for the dWallet's sign requests to end. `queued`: the consent is in the outbox. */
export type ConsentState = (typeof CONSENT_STATES)[number];

const CONSENT_STATES = ["settling", "queued", "landed", "failed"] as const;

export function readConsents(db: Queryable, ids: readonly string[]): Promise<ConsentRow[]> {
  return readWhere(db, sql`c.id = ANY(${ids}::uuid[])`);
}

/** Reads the newest consent of a dWallet with this action; undefined if there is none. */
export async function newestConsent(
  db: Queryable,
  dwalletRowId: string,
  action: ConsentRow["action"],
): Promise<ConsentRow | undefined> {
  const rows = await readWhere(
    db,
    sql`c.dwallet_id = ${dwalletRowId} AND c.action = ${action} ORDER BY c.id DESC LIMIT 1`,
  );
  return rows[0];
}

const CONSENT: Columns<ConsentRow> = {
  id: text,
  projectId: text,
  dwalletRowId: text,
  dwalletId: text,
  action: oneOf("leave", "refuse"),
  chain: bytea,
  treasuryId: text,
  recipient: nullable(text),
  nonce: bigint,
  expiresEpoch: bigint,
  publicKey: bytea,
  signature: bytea,
  state: oneOf(...CONSENT_STATES),
  txDigest: nullable(text),
};

function readWhere(db: Queryable, where: Sql): Promise<ConsentRow[]> {
  return readRows(
    db,
    sql`SELECT c.id, c.project_id AS "projectId", c.dwallet_id AS "dwalletRowId", d.object_id AS "dwalletId", c.action,
               c.chain, c.treasury_id AS "treasuryId", c.recipient, c.nonce, c.expires_epoch AS "expiresEpoch",
               c.public_key AS "publicKey", c.signature, c.state, c.tx_digest AS "txDigest"
        FROM treasury_consent c JOIN dwallet d ON d.id = c.dwallet_id WHERE ${where}`,
    CONSENT,
  );
}

/** Returns the part of a consent's row that its owner signed. */
export function consentOfRow(row: ConsentRow): TreasuryConsent {
  const { action, chain, treasuryId, dwalletId, recipient, nonce, expiresEpoch } = row;
  return {
    action,
    chain,
    treasuryId,
    dwalletId,
    nonce,
    expiresEpoch,
    ...(recipient !== null && { recipient }),
  };
}
