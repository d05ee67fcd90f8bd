import { randomInt } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { GrpcTypes } from "@mysten/sui/grpc";
import { transactionDigest } from "../../../protocol/chain/sui-hash.ts";
import { clockObject } from "../objects/clock-object.ts";
import type { Ledger } from "../objects/ledger.ts";
import { type ChainObject, Coin, sealObject } from "../objects/object.ts";
import { SUI_COIN_TYPE } from "../objects/sui-types.ts";
import { encodeTransaction } from "../wire/encode-transaction.ts";
import { argumentProto, transactionProto } from "../wire/transaction-proto.ts";
import type { CommandTrace, TracedValue } from "./command-trace.ts";
import { type ExecutionContext, type ExecutionOutcome, executeContent, gasOf } from "./execute-content.ts";
import { executedTransaction } from "./executed-transaction.ts";
import { RpcFailure, Status } from "./failures.ts";
import { REFERENCE_GAS_PRICE } from "./gas.ts";
import { checkInputs, checkTransactionSize } from "./input-checks.ts";
import { LIMITS } from "./limits.ts";
import type { FunctionTable } from "./move-function.ts";
import { type ResolvedTransaction, referenceTo, resolveInputs, selectGas } from "./resolve-transaction.ts";
import { decodeTransaction, type Expiration, type TransactionContent } from "./transaction-data.ts";

/**
 * Simulates a transaction on the current state: resolves it, selects gas on request, commits nothing. `hasOutputs` is
 * whether to record what the commands return and change; a transaction that fails has no outputs.
 */
export async function simulate(
  ledger: Ledger,
  functions: FunctionTable,
  request: GrpcTypes.SimulateTransactionRequest,
  hasOutputs: boolean,
): Promise<GrpcTypes.SimulateTransactionResponse> {
  const resolved = resolve(ledger, functions, request);
  const checkOwners = request.checks !== GrpcTypes.SimulateTransactionRequest_TransactionChecks.DISABLED;
  const content =
    request.doGasSelection === true
      ? await withGas(ledger, functions, resolved, checkOwners)
      : resolved.content;
  const bytes = encodeTransaction(content);
  checkTransactionSize(bytes.length);
  // A simulation that was not asked to select gas may leave it out.
  const isMocked = content.gas.payment.length === 0 && request.doGasSelection !== true;
  const traces: CommandTrace[] = [];
  const observe = hasOutputs ? (trace: CommandTrace) => void traces.push(trace) : undefined;
  const { outcome, timestampMs } = tryOut(ledger, functions, content, { checkOwners, isMocked, observe });
  const digest = transactionDigest(bytes);
  const transaction = transactionProto(content, bytes, digest);
  const frame = { digest, sender: content.sender, transaction, signatures: [] };
  return {
    transaction: executedTransaction(frame, outcome, { timestampMs, checkpoint: undefined }),
    commandOutputs: outcome.success ? traces.map(outputs) : [],
    suggestedGasPrice: REFERENCE_GAS_PRICE,
  };
}

/** The id of the mock coin for simulations without gas coins. */
const MOCK_GAS_ID = `0x${"f".repeat(64)}`;
const MOCK_GAS_BALANCE = 1_000_000_000_000_000_000n;
/** The computation units that an estimated budget adds to the simulated cost. */
const BUDGET_OVERHEAD_UNITS = 1_000n;

function resolve(
  ledger: Ledger,
  functions: FunctionTable,
  request: GrpcTypes.SimulateTransactionRequest,
): ResolvedTransaction {
  const { transaction } = request;
  if (transaction === undefined) throw new RpcFailure(Status.InvalidArgument, "missing transaction");
  if (transaction.bcs?.value !== undefined) {
    return { content: decodeTransaction(transaction.bcs.value), budgetGiven: true };
  }
  return resolveInputs(transaction, ledger.objects, functions);
}

/** Adds the budget, estimated with mock gas, and the coins that pay it. */
async function withGas(
  ledger: Ledger,
  functions: FunctionTable,
  resolved: ResolvedTransaction,
  checkOwners: boolean,
): Promise<TransactionContent> {
  const { content } = resolved;
  const budget = resolved.budgetGiven
    ? content.gas.budget
    : estimate(ledger, functions, content, checkOwners);
  // The simulation for the budget and the one for the answer run in separate turns of the event loop.
  if (!resolved.budgetGiven) await setImmediate();
  const withBudget = { ...content, gas: { ...content.gas, budget } };
  if (content.gas.payment.length > 0) return withBudget;
  const payment = selectGas(content, ledger.objects, budget);
  const { expiration } = content;
  return {
    ...withBudget,
    gas: { ...withBudget.gas, payment },
    expiration: payment.length > 0 || expiration.kind !== "none" ? expiration : validNow(ledger),
  };
}

/** The expiration that a fullnode gives to a transaction whose gas an address balance pays. */
function validNow(ledger: Ledger): Expiration {
  const { epoch } = ledger.now();
  return {
    kind: "during",
    minEpoch: epoch,
    maxEpoch: epoch + 1n,
    minTimestampMs: undefined,
    maxTimestampMs: undefined,
    chainId: ledger.chainId,
    nonce: randomInt(2 ** 32),
  };
}

function estimate(
  ledger: Ledger,
  functions: FunctionTable,
  content: TransactionContent,
  checkOwners: boolean,
): bigint {
  const mocked = { ...content, gas: { ...content.gas, payment: [], budget: LIMITS.maxGasBudget } };
  const { paid, inputs, context } = prepare(ledger, functions, mocked, { checkOwners, isMocked: true });
  const gasUsed = gasOf(paid, inputs, context);
  // Ignores the rebate, so that the budget suffices even if an object grows in the meantime.
  const cost = gasUsed.computationCost + BUDGET_OVERHEAD_UNITS * content.gas.price + gasUsed.storageCost;
  if (cost < LIMITS.minGasBudget) return LIMITS.minGasBudget;
  return cost > LIMITS.maxGasBudget ? LIMITS.maxGasBudget : cost;
}

function tryOut(
  ledger: Ledger,
  functions: FunctionTable,
  content: TransactionContent,
  options: TrialOptions,
): { outcome: ExecutionOutcome; timestampMs: bigint } {
  const { paid, inputs, context, timestampMs } = prepare(ledger, functions, content, options);
  const digest = transactionDigest(encodeTransaction(paid));
  return { outcome: executeContent(paid, digest, inputs, context), timestampMs };
}

interface TrialOptions {
  readonly checkOwners: boolean;
  /** True to pay with a coin that does not exist. */
  readonly isMocked: boolean;
  readonly observe?: ExecutionContext["observe"];
}

/** Checks a transaction on the current state. `paid` is the transaction with its gas. */
function prepare(
  ledger: Ledger,
  functions: FunctionTable,
  content: TransactionContent,
  { checkOwners, isMocked, observe }: TrialOptions,
) {
  const time = ledger.now();
  const mock = isMocked ? mockGas(ledger.chainId, content.gas.owner) : undefined;
  const clock = clockObject(ledger.chainId, time);
  const lookup = (id: string) => (id === mock?.id ? mock : id === clock.id ? clock : ledger.objects.get(id));
  const paid =
    mock === undefined
      ? content
      : { ...content, gas: { ...content.gas, payment: [referenceTo(mock)], budget: mockBudget(content) } };
  const inputs = checkInputs(paid, { lookup, chainId: ledger.chainId, checkOwners, ...time });
  return {
    paid,
    inputs,
    context: { lookup, functions, epoch: time.epoch, observe },
    timestampMs: time.timestampMs,
  };
}

function mockBudget(content: TransactionContent): bigint {
  const { budget } = content.gas;
  return budget < LIMITS.minGasBudget || budget > LIMITS.maxGasBudget ? LIMITS.maxGasBudget : budget;
}

function mockGas(chainId: string, owner: string): ChainObject {
  return sealObject({
    id: MOCK_GAS_ID,
    version: 1n,
    owner: { kind: "address", address: owner },
    type: SUI_COIN_TYPE,
    contents: Coin.serialize({ id: MOCK_GAS_ID, balance: MOCK_GAS_BALANCE }).toBytes(),
    previousTransaction: chainId,
    storageRebate: 0n,
    field: undefined,
  });
}

function outputs({ returned, changed }: CommandTrace): GrpcTypes.CommandResult {
  return {
    returnValues: returned.map(output),
    mutatedByRef: changed.map((value) => ({ argument: argumentProto(value.argument), ...output(value) })),
  };
}

function output({ type, bytes }: TracedValue): GrpcTypes.CommandOutput {
  return { value: { value: bytes, ...(type !== undefined && { name: type }) } };
}
