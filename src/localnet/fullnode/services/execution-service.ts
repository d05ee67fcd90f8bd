import { GrpcTypes } from "@mysten/sui/grpc";
import { transactionDigest } from "../../../protocol/chain/sui-hash.ts";
import { executeContent } from "../execution/execute-content.ts";
import { decodeExecuted, encodeExecuted, executedTransaction } from "../execution/executed-transaction.ts";
import { congestedObjects, RpcFailure, Status } from "../execution/failures.ts";
import { checkInputs, checkSignatures, checkTransactionSize } from "../execution/input-checks.ts";
import type { FunctionTable } from "../execution/move-function.ts";
import { resolveInputs } from "../execution/resolve-transaction.ts";
import { simulate } from "../execution/simulate.ts";
import { withSettlement } from "../execution/system-transaction.ts";
import { decodeTransaction } from "../execution/transaction-data.ts";
import { clockObject } from "../objects/clock-object.ts";
import type { Ledger } from "../objects/ledger.ts";
import { encodeTransaction } from "../wire/encode-transaction.ts";
import { withEventJson } from "../wire/event-json.ts";
import type { MoveJson } from "../wire/move-json.ts";
import { type UnaryMethod, unary } from "../wire/node-methods.ts";
import { parseReadMask } from "../wire/read-mask.ts";
import { transactionProto } from "../wire/transaction-proto.ts";

/**
 * Implements `sui.rpc.v2.TransactionExecutionService`: executes a signed transaction, or simulates one. `toJson` renders
 * events. Calls `isCongested` for each transaction with shared objects.
 */
export function executionService(
  ledger: Ledger,
  functions: FunctionTable,
  toJson: MoveJson,
  isCongested: () => boolean = () => false,
): readonly UnaryMethod[] {
  const service = GrpcTypes.TransactionExecutionService;
  return [
    unary(
      service,
      "ExecuteTransaction",
      GrpcTypes.ExecuteTransactionRequest,
      GrpcTypes.ExecuteTransactionResponse,
      async (request) => {
        const mask = parseReadMask<GrpcTypes.ExecutedTransaction>(
          GrpcTypes.ExecutedTransaction,
          request.readMask,
          ["effects.status", "checkpoint"],
        );
        const transaction = await executeTransaction(ledger, functions, isCongested, request);
        return { transaction: mask.project(withEventJson(transaction, mask, toJson)) };
      },
    ),
    unary(
      service,
      "SimulateTransaction",
      GrpcTypes.SimulateTransactionRequest,
      GrpcTypes.SimulateTransactionResponse,
      async (request) => {
        const mask = parseReadMask<GrpcTypes.SimulateTransactionResponse>(
          GrpcTypes.SimulateTransactionResponse,
          request.readMask,
          ["transaction.effects.status", "transaction.checkpoint"],
        );
        const response = await simulate(ledger, functions, request, mask.keeps("command_outputs"));
        const { transaction } = response;
        return mask.project({
          ...response,
          ...(transaction && { transaction: withEventJson(transaction, mask, toJson, "transaction.") }),
          commandOutputs: OUTPUT_JSON.some(mask.keeps)
            ? response.commandOutputs.map((outputs) => withOutputJson(outputs, toJson))
            : response.commandOutputs,
        });
      },
    ),
  ];
}

const OUTPUT_JSON = ["command_outputs.return_values.json", "command_outputs.mutated_by_ref.json"];

/** Adds the JSON of the values that a command returned and changed, if this node can decode them. */
function withOutputJson(
  { returnValues, mutatedByRef }: GrpcTypes.CommandResult,
  toJson: MoveJson,
): GrpcTypes.CommandResult {
  const shown = (output: GrpcTypes.CommandOutput): GrpcTypes.CommandOutput => {
    const json = output.value?.value && toJson(output.value.name ?? "", output.value.value);
    return json === undefined ? output : { ...output, json };
  };
  return { returnValues: returnValues.map(shown), mutatedByRef: mutatedByRef.map(shown) };
}

/** Executes a transaction once. A repeated digest returns the first execution. */
async function executeTransaction(
  ledger: Ledger,
  functions: FunctionTable,
  isCongested: () => boolean,
  request: GrpcTypes.ExecuteTransactionRequest,
): Promise<GrpcTypes.ExecutedTransaction> {
  const bytes = bytesOf(ledger, functions, request);
  const signatures = request.signatures.map((signature) => {
    if (signature.bcs?.value === undefined)
      throw new RpcFailure(Status.InvalidArgument, "missing signature.bcs");
    return signature.bcs.value;
  });
  checkTransactionSize(bytes.length + signatures.reduce((total, signature) => total + signature.length, 0));
  const content = decodeTransaction(bytes);
  const digest = transactionDigest(bytes);
  await checkSignatures(bytes, signatures, [content.sender, content.gas.owner]);
  await ledger.exclusive((time) => {
    if (ledger.transaction(digest) !== undefined) return undefined;
    const clock = clockObject(ledger.chainId, time);
    const lookup = (id: string) => (id === clock.id ? clock : ledger.objects.get(id));
    const inputs = checkInputs(content, { lookup, chainId: ledger.chainId, checkOwners: true, ...time });
    const shared = content.inputs.flatMap((input) => (input.kind === "shared" ? [input.objectId] : []));
    const cancelled = shared.length > 0 && isCongested() ? congestedObjects(shared) : undefined;
    const { epoch } = time;
    const outcome = executeContent(content, digest, inputs, { lookup, functions, epoch, cancelled });
    const transaction = transactionProto(content, bytes, digest);
    const frame = { digest, sender: content.sender, transaction, signatures };
    const { checkpoint, timestampMs } = time;
    const executed = encodeExecuted(executedTransaction(frame, outcome, time));
    const { written, deleted, funds } = outcome;
    const commit = { digest, checkpoint, timestampMs, executed, written, deleted };
    return withSettlement(ledger, time, commit, funds);
  });
  const stored = ledger.transaction(digest);
  if (stored === undefined) throw new Error(`transaction ${digest} was not committed`);
  return decodeExecuted(stored.executed);
}

function bytesOf(
  ledger: Ledger,
  functions: FunctionTable,
  request: GrpcTypes.ExecuteTransactionRequest,
): Uint8Array {
  const transaction = request.transaction;
  if (transaction === undefined) throw new RpcFailure(Status.InvalidArgument, "missing transaction");
  if (transaction.bcs?.value !== undefined) return transaction.bcs.value;
  return encodeTransaction(resolveInputs(transaction, ledger.objects, functions).content);
}
