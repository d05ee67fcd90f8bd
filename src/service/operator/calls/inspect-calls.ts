import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import sql, { type Sql } from "sql-template-tag";
import {
  type Admin,
  InspectedOperation_State,
  type InspectedOperationSchema,
  type InspectSubjectResponse,
  InspectSubjectResponseSchema,
} from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { Curve } from "../../../../gen/proto/tss/v1/types_pb.ts";
import { curveOfNumber } from "../../../protocol/algorithms.ts";
import { type AdminCaller, callerOf } from "../../access/caller.ts";
import { writeAuditEvent } from "../../audit/audit-event.ts";
import { kindEnum, readEntriesOf } from "../../billing/ledger-entries.ts";
import { type OperationRow, readOperationsOf } from "../../chain/read-operations.ts";
import { ServiceError } from "../../platform/errors/service-error.ts";
import { bigint, boolean, type Columns, nullable, number, text, time } from "../../platform/store/columns.ts";
import { type Database, type Queryable, readRows } from "../../platform/store/database.ts";
import { encodeSignRequest } from "../../signing/encode-sign-request.ts";
import { readSignRequestOfNetwork } from "../../signing/shown-sign-request.ts";
import { encodeChainTransaction, OPERATION_KINDS } from "./chain-calls.ts";

/** Implements {@link AdminInspectCalls}. */
export function createInspectCalls(database: Database): AdminInspectCalls {
  return {
    inspectSubject: ({ subjectId }, context) =>
      inspectSubject(database, callerOf(context, "admin"), subjectId),
  };
}

/** The calls of `tss.v1.Admin` that tell what happened to one subject. */
type AdminInspectCalls = Pick<ServiceImpl<typeof Admin>, "inspectSubject">;

/** Nobody gets a reply without the event: both are of one transaction. Throws SUBJECT_NOT_FOUND. */
function inspectSubject(
  database: Database,
  { network, origin }: AdminCaller,
  id: string,
): Promise<InspectSubjectResponse> {
  return database.transaction(async (db) => {
    const request = id.startsWith("0x") ? undefined : await readSignRequestOfNetwork(db, network, id);
    const dwallet = request === undefined ? await readInspected(db, network, id) : undefined;
    const subjectId = request?.id ?? dwallet?.id ?? (id.startsWith("0x") ? undefined : id);
    const operations = subjectId === undefined ? [] : await readOperationsOf(db, network, subjectId);
    if (subjectId === undefined || (request ?? dwallet ?? operations[0]) === undefined)
      throw new ServiceError("SUBJECT_NOT_FOUND", "the network has nothing with this id", {
        metadata: { subjectId: id },
      });
    const entries = await readEntriesOf(db, subjectId);
    const projectId = request?.projectId ?? dwallet?.projectId;
    await writeAuditEvent(db, origin, { action: "subject.inspect", projectId, subject: subjectId });
    return create(InspectSubjectResponseSchema, {
      subjectId,
      ...(projectId !== undefined && { projectId }),
      ...(request && {
        signRequest: encodeSignRequest({
          ...request,
          message: new Uint8Array(),
          signature: null,
          userReference: null,
        }),
      }),
      ...(dwallet && { dwallet: encodeInspected(dwallet) }),
      operations: operations.map(encodeOperation),
      ledgerEntries: entries.map(({ key, kind, amountMicroUsd, createdAt }) => ({
        ledgerEntryId: key,
        kind: kindEnum(kind),
        amountMicroUsd,
        createTime: timestampFromDate(createdAt),
      })),
    });
  });
}

/** A dWallet as an operator sees it. */
interface InspectedRow {
  readonly id: string;
  readonly projectId: string;
  /** The id of its object; null before it exists. */
  readonly objectId: string | null;
  readonly curve: number;
  readonly state: string;
  readonly failureReason: string | null;
  readonly priceMicroUsd: bigint;
  readonly refunded: boolean;
  readonly networkEncryptionKeyId: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const INSPECTED: Columns<InspectedRow> = {
  id: text,
  projectId: text,
  objectId: nullable(text),
  curve: number,
  state: text,
  failureReason: nullable(text),
  priceMicroUsd: bigint,
  refunded: boolean,
  networkEncryptionKeyId: text,
  createdAt: time,
  updatedAt: time,
};

/** Reads a dWallet of any project by the id of its row or its object. */
async function readInspected(db: Queryable, network: string, id: string): Promise<InspectedRow | undefined> {
  const isIt: Sql = id.startsWith("0x") ? sql`object_id = ${id}` : sql`id = ${id}::uuid`;
  const [row] = await readRows(
    db,
    sql`SELECT id, project_id AS "projectId", object_id AS "objectId", curve, state, failure_reason AS "failureReason",
          price_micro_usd AS "priceMicroUsd", refunded, network_encryption_key_id AS "networkEncryptionKeyId",
          created_at AS "createdAt", updated_at AS "updatedAt"
        FROM dwallet WHERE network = ${network} AND ${isIt}`,
    INSPECTED,
  );
  return row;
}

function encodeInspected({ objectId, curve, failureReason, createdAt, updatedAt, ...shown }: InspectedRow) {
  const name = curveOfNumber(curve);
  return {
    dwalletId: objectId ?? "",
    curve: name === undefined ? Curve.CURVE_UNSPECIFIED : Curve[name],
    state: shown.state,
    priceMicroUsd: shown.priceMicroUsd,
    refunded: shown.refunded,
    networkEncryptionKeyId: shown.networkEncryptionKeyId,
    createTime: timestampFromDate(createdAt),
    updateTime: timestampFromDate(updatedAt),
    ...(failureReason !== null && { failureReason }),
  };
}

function encodeOperation(row: OperationRow): MessageInitShape<typeof InspectedOperationSchema> {
  const { kind, state, attempts, failureReason, failureDetail, createdAt, updatedAt, transaction } = row;
  return {
    kind: OPERATION_KINDS[kind],
    state: InspectedOperation_State[state],
    attemptCount: attempts,
    createTime: timestampFromDate(createdAt),
    updateTime: timestampFromDate(updatedAt),
    ...(failureReason !== null && { failureReason }),
    ...(failureDetail !== null && { failureMessage: failureDetail }),
    ...(transaction && { chainTransaction: encodeChainTransaction(transaction) }),
  };
}
