import { GrpcTypes } from "@mysten/sui/grpc";
import { checkpointProto, decodeExecuted } from "../execution/executed-transaction.ts";
import { RpcFailure, Status } from "../execution/failures.ts";
import type { Ledger, LedgerTransaction } from "../objects/ledger.ts";
import { parseAddress } from "../objects/sui-types.ts";
import { withEventJson } from "../wire/event-json.ts";
import type { MoveJson } from "../wire/move-json.ts";
import { type UnaryMethod, unary } from "../wire/node-methods.ts";
import { type ObjectMask, objectMask, type ProjectObject } from "../wire/object-proto.ts";
import { type FieldMask, parseReadMask, type ReadMask } from "../wire/read-mask.ts";
import { timestampProto } from "../wire/transaction-proto.ts";
import { getEpoch } from "./epoch.ts";

/**
 * Implements `sui.rpc.v2.LedgerService`: objects, transactions, checkpoints and the epoch. `toJson` renders events.
 * `keptCheckpoints` is the number of checkpoints that are not pruned; 0 for all.
 */
export function ledgerService(
  ledger: Ledger,
  projectObject: ProjectObject,
  toJson: MoveJson,
  keptCheckpoints: () => number = () => 0,
): readonly UnaryMethod[] {
  const service = GrpcTypes.LedgerService;
  const lowestAvailable = () => lowestCheckpoint(ledger, keptCheckpoints());
  return [
    unary(
      service,
      "GetServiceInfo",
      GrpcTypes.GetServiceInfoRequest,
      GrpcTypes.GetServiceInfoResponse,
      () => {
        const { epoch, timestampMs } = ledger.now();
        return {
          chainId: ledger.chainId,
          chain: "localnet",
          epoch,
          checkpointHeight: ledger.latestCheckpoint,
          timestamp: timestampProto(timestampMs),
          lowestAvailableCheckpoint: lowestAvailable(),
          lowestAvailableCheckpointObjects: ledger.latestCheckpoint,
          server: "ika-localnet/1",
        };
      },
    ),
    unary(service, "GetObject", GrpcTypes.GetObjectRequest, GrpcTypes.GetObjectResponse, (request) => ({
      object: getObject(ledger, projectObject, request, objectMask(request.readMask)),
    })),
    unary(
      service,
      "BatchGetObjects",
      GrpcTypes.BatchGetObjectsRequest,
      GrpcTypes.BatchGetObjectsResponse,
      (batch) => {
        refuseLargeBatch(batch.requests.length);
        const mask = objectMask(batch.readMask);
        return {
          objects: batch.requests.map((request) => objectResult(ledger, projectObject, request, mask)),
        };
      },
    ),
    unary(
      service,
      "GetTransaction",
      GrpcTypes.GetTransactionRequest,
      GrpcTypes.GetTransactionResponse,
      (request) => ({
        transaction: getTransaction(ledger, toJson, request.digest, transactionMask(request.readMask)),
      }),
    ),
    unary(
      service,
      "BatchGetTransactions",
      GrpcTypes.BatchGetTransactionsRequest,
      GrpcTypes.BatchGetTransactionsResponse,
      (batch) => {
        refuseLargeBatch(batch.digests.length);
        const mask = transactionMask(batch.readMask);
        return {
          transactions: batch.digests.map((digest) => transactionResult(ledger, toJson, digest, mask)),
        };
      },
    ),
    unary(
      service,
      "GetCheckpoint",
      GrpcTypes.GetCheckpointRequest,
      GrpcTypes.GetCheckpointResponse,
      (request) => ({
        checkpoint: getCheckpoint(ledger, toJson, request, lowestAvailable()),
      }),
    ),
    unary(service, "GetEpoch", GrpcTypes.GetEpochRequest, GrpcTypes.GetEpochResponse, (request) => ({
      epoch: getEpoch(ledger, request),
    })),
  ];
}

type TransactionMask = ReadMask<GrpcTypes.ExecutedTransaction>;

function transactionMask(mask: FieldMask): TransactionMask {
  return parseReadMask(GrpcTypes.ExecutedTransaction, mask, ["digest"]);
}

/** The maximum number of objects or transactions in one batch call. */
const MAX_BATCH = 1_000;

function getObject(
  ledger: Ledger,
  projectObject: ProjectObject,
  request: GrpcTypes.GetObjectRequest,
  mask: ObjectMask,
): GrpcTypes.Object {
  const id = parseAddress(request.objectId, "object_id");
  const object = ledger.objects.get(id);
  if (object === undefined) throw new RpcFailure(Status.NotFound, `Object ${id} not found`);
  if (request.version !== undefined && request.version !== object.version) {
    throw new RpcFailure(Status.NotFound, `Object ${id} with version ${request.version} not found`);
  }
  return projectObject(object, mask);
}

function objectResult(
  ledger: Ledger,
  projectObject: ProjectObject,
  request: GrpcTypes.GetObjectRequest,
  mask: ObjectMask,
): GrpcTypes.GetObjectResult {
  return asResult<GrpcTypes.GetObjectResult>(
    () => ({ result: { oneofKind: "object", object: getObject(ledger, projectObject, request, mask) } }),
    (error) => ({ result: { oneofKind: "error", error } }),
  );
}

function getTransaction(
  ledger: Ledger,
  toJson: MoveJson,
  digest: string | undefined,
  mask: TransactionMask,
): GrpcTypes.ExecutedTransaction {
  if (digest === undefined || digest === "") throw new RpcFailure(Status.InvalidArgument, "missing digest");
  const stored = ledger.transaction(digest);
  if (stored === undefined)
    throw new RpcFailure(Status.NotFound, `Transaction ${digest.slice(0, 64)} not found`);
  return mask.project(withEventJson(decodeExecuted(stored.executed), mask, toJson));
}

function transactionResult(
  ledger: Ledger,
  toJson: MoveJson,
  digest: string,
  mask: TransactionMask,
): GrpcTypes.GetTransactionResult {
  return asResult<GrpcTypes.GetTransactionResult>(
    () => ({
      result: { oneofKind: "transaction", transaction: getTransaction(ledger, toJson, digest, mask) },
    }),
    (error) => ({ result: { oneofKind: "error", error } }),
  );
}

function asResult<T>(get: () => T, failed: (error: { code: number; message: string; details: [] }) => T): T {
  try {
    return get();
  } catch (error) {
    if (!(error instanceof RpcFailure)) throw error;
    return failed({ code: error.code, message: error.message, details: [] });
  }
}

function getCheckpoint(
  ledger: Ledger,
  toJson: MoveJson,
  request: GrpcTypes.GetCheckpointRequest,
  lowest: bigint,
): GrpcTypes.Checkpoint {
  const mask = parseReadMask<GrpcTypes.Checkpoint>(GrpcTypes.Checkpoint, request.readMask, [
    "sequence_number",
    "digest",
  ]);
  const stored = findCheckpoint(ledger, request.checkpointId);
  if (stored === undefined || stored.checkpoint < lowest)
    throw new RpcFailure(Status.NotFound, "Checkpoint not found");
  return checkpointProto(stored, mask, toJson);
}

/** A checkpoint has the digest of its first transaction. The other one, if any, is a settlement. */
function findCheckpoint(
  ledger: Ledger,
  id: GrpcTypes.GetCheckpointRequest["checkpointId"],
): LedgerTransaction | undefined {
  switch (id.oneofKind) {
    case "sequenceNumber":
      return ledger.checkpoint(id.sequenceNumber);
    case "digest":
      return ledger.transaction(id.digest);
    case undefined:
      return ledger.checkpoint(ledger.latestCheckpoint);
  }
}

/** Returns the lowest checkpoint that is not pruned. `keptCount` is 0 if all are kept. */
export function lowestCheckpoint(ledger: Ledger, keptCount: number): bigint {
  const lowest = ledger.latestCheckpoint - BigInt(keptCount) + 1n;
  return keptCount === 0 || lowest < 0n ? 0n : lowest;
}

function refuseLargeBatch(count: number): void {
  if (count > MAX_BATCH)
    throw new RpcFailure(Status.InvalidArgument, `a batch may contain at most ${MAX_BATCH} requests`);
}
