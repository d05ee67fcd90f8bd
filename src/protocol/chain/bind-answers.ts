import type { GrpcTypes, RpcTransport } from "@mysten/sui/grpc";
import { deriveDynamicFieldID, normalizeStructTag, normalizeSuiAddress } from "@mysten/sui/utils";
import { bytesToHex } from "@noble/hashes/utils.js";
import { MixedUpAnswerError } from "./read-errors.ts";
import { transactionDigest } from "./sui-hash.ts";

/**
 * Wraps the transport of a Sui client and checks that each answer matches its request: every object, transaction,
 * listing and coin type must be the requested one. The content of an object must begin with its id, as the BCS of every
 * object does. The wrapper replaces a wrong object in a batch with an error, so that the caller still gets the others.
 * Any other wrong answer rejects the call with {@link MixedUpAnswerError}.
 */
export function bindAnswers(transport: RpcTransport, report: MixUpReport = () => {}): RpcTransport {
  return {
    mergeOptions: (options) => transport.mergeOptions(options),
    serverStreaming: (...call) => transport.serverStreaming(...call),
    clientStreaming: (...call) => transport.clientStreaming(...call),
    duplex: (...call) => transport.duplex(...call),
    unary(method, input, options) {
      const call = transport.unary(method, input, options);
      const check = CHECKS[method.name];
      if (check === undefined) return call;
      const response = call.response.then((answer) => {
        try {
          check(input, answer, report);
        } catch (error) {
          if (error instanceof MixedUpAnswerError) report(error);
          throw error;
        }
        return answer;
      });
      // Avoids an unhandled rejection: a caller that awaits the whole call may never await the response alone.
      response.catch(() => {});
      return Object.create(call, { response: { value: response } }) as typeof call;
    },
  };
}

/** Receives every answer that does not match its request. */
export type MixUpReport = (mixUp: MixedUpAnswerError) => void;

type Check = (question: object, answer: object, report: MixUpReport) => void;

/** The check of each method, by its name in `sui.rpc.v2`. Requests of the other methods name nothing to compare. */
const CHECKS: Readonly<Record<string, Check>> = {
  GetObject: check<GrpcTypes.GetObjectRequest, GrpcTypes.GetObjectResponse>(({ objectId }, { object }) =>
    checkObject(objectId, object),
  ),
  BatchGetObjects: check<GrpcTypes.BatchGetObjectsRequest, GrpcTypes.BatchGetObjectsResponse>(checkBatch),
  ListOwnedObjects: check<GrpcTypes.ListOwnedObjectsRequest, GrpcTypes.ListOwnedObjectsResponse>(checkOwned),
  ListDynamicFields: check<GrpcTypes.ListDynamicFieldsRequest, GrpcTypes.ListDynamicFieldsResponse>(
    ({ parent }, { dynamicFields }) => {
      for (const field of dynamicFields) checkField(parent ?? "", field);
    },
  ),
  GetCoinInfo: check<GrpcTypes.GetCoinInfoRequest, GrpcTypes.GetCoinInfoResponse>((question, answer) => {
    if (typeOf(answer.coinType) !== typeOf(question.coinType))
      throw new MixedUpAnswerError("coin", `asked for the coin ${question.coinType}, got ${answer.coinType}`);
  }),
  GetTransaction: check<GrpcTypes.GetTransactionRequest, GrpcTypes.GetTransactionResponse>(
    ({ digest }, { transaction }) => checkTransaction(digest, transaction),
  ),
  GetCheckpoint: check<GrpcTypes.GetCheckpointRequest, GrpcTypes.GetCheckpointResponse>(
    ({ checkpointId: wanted }, { checkpoint }) => {
      if (wanted.oneofKind === "sequenceNumber" && checkpoint?.sequenceNumber !== wanted.sequenceNumber)
        throw new MixedUpAnswerError(
          "checkpoint",
          `asked for checkpoint ${wanted.sequenceNumber}, got ${checkpoint?.sequenceNumber}`,
        );
    },
  ),
  ExecuteTransaction: check<GrpcTypes.ExecuteTransactionRequest, GrpcTypes.ExecuteTransactionResponse>(
    ({ transaction: sent }, { transaction }) => {
      const bytes = sent?.bcs?.value;
      if (bytes) checkTransaction(transactionDigest(bytes), transaction);
    },
  ),
};

function check<Question, Answer>(
  run: (question: Question, answer: Answer, report: MixUpReport) => void,
): Check {
  return run as unknown as Check;
}

/** `google.rpc.Code.DATA_LOSS`: the client reports an object with this error as unreadable, not as absent. */
const DATA_LOSS = 15;

function checkBatch(
  { requests }: GrpcTypes.BatchGetObjectsRequest,
  { objects }: GrpcTypes.BatchGetObjectsResponse,
  report: MixUpReport,
): void {
  if (objects.length !== requests.length)
    throw new MixedUpAnswerError("object", `asked for ${requests.length} objects, got ${objects.length}`);
  for (const [index, { objectId }] of requests.entries()) {
    const found = objects[index]?.result;
    if (found?.oneofKind !== "object") continue;
    try {
      checkObject(objectId, found.object);
    } catch (error) {
      if (!(error instanceof MixedUpAnswerError)) throw error;
      report(error);
      const status = { code: DATA_LOSS, message: error.message, details: [] };
      objects[index] = { result: { oneofKind: "error", error: status } };
    }
  }
}

function checkObject(objectId: string | undefined, object: GrpcTypes.Object | undefined): void {
  const wanted = addressOf(objectId);
  const content = object?.contents?.value;
  const contentId = content && `0x${bytesToHex(content.subarray(0, ID_BYTES))}`;
  for (const found of [addressOf(object?.objectId), contentId ?? wanted]) {
    if (found !== wanted)
      throw new MixedUpAnswerError("object", `asked for object ${wanted}, got ${found}`, [wanted]);
  }
}

const ID_BYTES = 32;

function checkOwned(
  { owner, objectType }: GrpcTypes.ListOwnedObjectsRequest,
  { objects }: GrpcTypes.ListOwnedObjectsResponse,
): void {
  for (const object of objects) {
    checkObject(object.objectId, object);
    if (addressOf(object.owner?.address) !== addressOf(owner))
      throw new MixedUpAnswerError(
        "owner",
        `asked for objects of ${owner}, got one of ${object.owner?.address}`,
      );
    if (objectType === undefined) continue;
    const [wanted, found] = [typeOf(objectType), typeOf(object.objectType)];
    // A requested type without type parameters matches the type with any parameters.
    if (found !== wanted && !found.startsWith(`${wanted}<`))
      throw new MixedUpAnswerError("owner", `asked for objects of type ${wanted}, got ${found}`);
  }
}

/** Checks that a field's id is the hash of its parent and its name. */
function checkField(parent: string, { kind, name, fieldId }: GrpcTypes.DynamicField): void {
  const type = kind === OBJECT_FIELD ? `0x2::dynamic_object_field::Wrapper<${name?.name}>` : name?.name;
  if (type !== undefined && name?.value !== undefined) {
    if (deriveDynamicFieldID(addressOf(parent), type, name.value) === addressOf(fieldId)) return;
  }
  throw new MixedUpAnswerError("field", `asked for fields of ${parent}, got ${fieldId} of another object`);
}

/** `DynamicField.DynamicFieldKind.OBJECT`. */
const OBJECT_FIELD = 2;

function checkTransaction(
  digest: string | undefined,
  transaction: GrpcTypes.ExecutedTransaction | undefined,
): void {
  if (transaction === undefined) return;
  const bytes = transaction.transaction?.bcs?.value;
  const found = [
    transaction.digest,
    transaction.transaction?.digest,
    transaction.effects?.transactionDigest,
    bytes && transactionDigest(bytes),
    ...(transaction.events?.events ?? []).map((event) => event.transactionDigest),
  ].find((one) => one !== undefined && one !== digest);
  if (found !== undefined || transaction.digest === undefined)
    throw new MixedUpAnswerError("transaction", `asked for transaction ${digest}, got ${found}`);
}

function addressOf(address: string | undefined): string {
  return normalizeSuiAddress(address ?? "");
}

function typeOf(type: string | undefined): string {
  try {
    return normalizeStructTag(type ?? "");
  } catch {
    return type ?? "";
  }
}
