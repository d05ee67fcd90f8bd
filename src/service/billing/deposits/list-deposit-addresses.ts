import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import sql from "sql-template-tag";
import { type DepositAddress, DepositAddressSchema } from "../../../../gen/proto/tss/v1/billing_pb.ts";
import { bigint, type Columns, text, time } from "../../platform/store/columns.ts";
import { type Queryable, readRows } from "../../platform/store/database.ts";
import { type Page, type PageRequest, readPage } from "../../platform/store/read-page.ts";

/**
 * Reads a page of the project's deposit addresses with a reference, sorted by the bytes of the reference, with the sums
 * of the deposits to each. Throws VALIDATION for a token of another list.
 */
export async function listDepositAddresses(
  db: Queryable,
  projectId: string,
  { reference, referencePrefix, ...request }: ListDepositAddressesInput,
): Promise<Page<DepositAddress>> {
  const which = reference === undefined ? sql`` : sql`AND a.reference = ${reference}`;
  const prefix = referencePrefix ?? "";
  const { rows, nextPageToken } = await readPage(request, {
    scope: ["deposit-address", projectId, reference ?? "", prefix],
    positionOf: (row: AddressRow) => row.reference,
    position: REFERENCE,
    read: (after = "", count) =>
      readRows(
        db,
        sql`SELECT a.address, a.reference, a.created_at AS "createdAt", sums.*
            FROM (
              SELECT a.address, a.reference, a.created_at FROM deposit_address a
              WHERE a.project_id = ${projectId}::uuid
                AND a.network = (SELECT network FROM project WHERE id = ${projectId}::uuid)
                AND a.reference > ${after} AND a.reference >= ${prefix}
                AND a.reference < ${prefix}::text || ${ABOVE} ${which}
              ORDER BY a.reference LIMIT ${count}
            ) a CROSS JOIN LATERAL (
              SELECT count(*) FILTER (WHERE d.state = 'credited') AS "creditedCount",
                coalesce(sum(d.value_micro_usd), 0)::bigint AS "creditedMicroUsd",
                count(*) FILTER (WHERE d.state = 'waiting') AS "waitingCount"
              FROM deposit d WHERE d.address = a.address
            ) sums ORDER BY a.reference`,
        COLUMNS,
      ),
  });
  return { rows: rows.map(encode), nextPageToken };
}

/** Filters deposit addresses and selects a page. */
export interface ListDepositAddressesInput extends PageRequest {
  /** Exactly this reference. Undefined means all. */
  readonly reference?: string | undefined;
  /** References that begin with this text. Undefined means all. */
  readonly referencePrefix?: string | undefined;
}

interface AddressRow {
  readonly address: string;
  readonly reference: string;
  readonly createdAt: Date;
  readonly creditedCount: bigint;
  readonly creditedMicroUsd: bigint;
  readonly waitingCount: bigint;
}

const COLUMNS: Columns<AddressRow> = {
  address: text,
  reference: text,
  createdAt: time,
  creditedCount: bigint,
  creditedMicroUsd: bigint,
  waitingCount: bigint,
};

const REFERENCE = /^[ -~]{1,128}$/;
/** Sorts after every printable ASCII character, because the column is collated by bytes. */
const ABOVE = "\x7f";

function encode({ createdAt, ...row }: AddressRow): DepositAddress {
  return create(DepositAddressSchema, { ...row, createTime: timestampFromDate(createdAt) });
}
