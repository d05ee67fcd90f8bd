import { bcs } from "@mysten/sui/bcs";
import type { GrpcTypes } from "@mysten/sui/grpc";
import { toBase58 } from "@mysten/sui/utils";
import { concatBytes } from "@noble/hashes/utils.js";
import { type ChainObject, coinBalance } from "../objects/object.ts";
import { addressBytes, SUI_TYPE, withdrawalType } from "../objects/sui-types.ts";
import { type CommandTrace, traceCommand } from "./command-trace.ts";
import { buildEffects } from "./effects.ts";
import {
  createExecutionState,
  type EmittedEvent,
  type ExecutionState,
  type FundsChange,
  setBalance,
  type WorkingObject,
} from "./execution-state.ts";
import { ExecutionError, FailureKind } from "./failures.ts";
import { chargedGas, type GasUsed, gasUsed, netGas, storageCostOf } from "./gas.ts";
import type { CheckedInputs } from "./input-checks.ts";
import { runCommands } from "./interpreter.ts";
import type { FunctionTable, MoveValue } from "./move-function.ts";
import { balanceChanges, refuseLargeObjects, sealChanges } from "./seal-changes.ts";
import { CommandFailure, type Program, type Slot } from "./slots.ts";
import type { TransactionContent } from "./transaction-data.ts";

/**
 * Executes a checked transaction. A Move abort or another execution failure still bumps every mutable input and
 * charges gas, as on Sui.
 */
export function executeContent(
  content: TransactionContent,
  digest: string,
  inputs: CheckedInputs,
  context: ExecutionContext,
): ExecutionOutcome {
  return finish(content, digest, inputs, context, runToEnd(content, digest, inputs, context));
}

/** Returns the gas that a checked transaction uses. Builds neither objects nor effects, so it costs about half. */
export function gasOf(
  content: TransactionContent,
  inputs: CheckedInputs,
  context: ExecutionContext,
): GasUsed {
  return runToEnd(content, ANY_DIGEST, inputs, context).used;
}

/** New objects get their ids from a transaction's digest. The gas does not depend on it. */
const ANY_DIGEST = toBase58(new Uint8Array(32));

function runToEnd(
  content: TransactionContent,
  digest: string,
  inputs: CheckedInputs,
  context: ExecutionContext,
): Finished {
  const attempt =
    context.cancelled === undefined
      ? run(content, digest, inputs, context, undefined)
      : new CommandFailure(context.cancelled, 0);
  if (!(attempt instanceof CommandFailure)) return attempt;
  const failed = run(content, digest, inputs, context, attempt);
  if (failed instanceof CommandFailure) throw new Error("a failed transaction cannot fail again");
  return failed;
}

export interface ExecutionContext {
  readonly lookup: (id: string) => ChainObject | undefined;
  readonly functions: FunctionTable;
  readonly epoch: bigint;
  /** The reason to cancel the transaction, which still pays gas. */
  readonly cancelled?: ExecutionError | undefined;
  /** Gets the trace of each command that has run, also if a later one fails. Default: nothing is traced. */
  readonly observe?: ((trace: CommandTrace) => void) | undefined;
}

/** The changes and the answer of an execution. */
export interface ExecutionOutcome {
  readonly effects: GrpcTypes.TransactionEffects;
  readonly events: readonly EmittedEvent[];
  readonly balanceChanges: GrpcTypes.BalanceChange[];
  readonly funds: readonly FundsChange[];
  readonly written: readonly ChainObject[];
  readonly deleted: readonly string[];
  readonly gasUsed: GasUsed;
  readonly success: boolean;
}

function run(
  content: TransactionContent,
  digest: string,
  inputs: CheckedInputs,
  context: ExecutionContext,
  failure: CommandFailure | undefined,
): Finished | CommandFailure {
  const state = createExecutionState(context.lookup, digest);
  const gasCoin = smashGas(state, inputs.gas, content.gas.budget);
  const slots = inputSlots(state, content, inputs);
  const gasSlot: Slot | undefined = gasCoin && {
    value: { kind: "object", object: gasCoin },
    origin: "gas",
    access: "owned",
  };
  const { observe } = context;
  const program: Program = {
    state,
    functions: context.functions,
    sender: content.sender,
    epoch: context.epoch,
    slots: { inputs: slots, gas: gasSlot, results: [] },
    observe:
      observe && ((command, returned, borrows) => observe(traceCommand(program, command, returned, borrows))),
  };
  if (failure === undefined) {
    try {
      runCommands(program, content.commands);
      refuseLargeObjects(state, content.commands.length);
    } catch (error) {
      if (error instanceof CommandFailure) return error;
      throw error;
    }
  }
  const lamportVersion = nextVersion(inputs);
  const gasObject = gasCoin && (state.find(gasCoin.id) as WorkingObject);
  const remaining = gasObject && BigInt(coinBalance(state.contents(gasObject))) + content.gas.budget;
  if (gasObject !== undefined && remaining !== undefined) setBalance(state, gasObject, remaining);
  const used = usedGas(state, content);
  if (failure === undefined && netGas(used) > content.gas.budget) {
    return new CommandFailure(new ExecutionError(FailureKind.INSUFFICIENT_GAS, "Insufficient Gas."), 0);
  }
  const charge = chargedGas(used, content.gas.budget);
  if (gasObject !== undefined && remaining !== undefined) setBalance(state, gasObject, remaining - charge);
  else state.changeFunds(content.gas.owner, SUI_TYPE, -charge);
  return { state, failure, gasObject, lamportVersion, used };
}

interface Finished {
  readonly state: ExecutionState;
  readonly failure: CommandFailure | undefined;
  /** Undefined if an address balance pays. */
  readonly gasObject: WorkingObject | undefined;
  readonly lamportVersion: bigint;
  readonly used: GasUsed;
}

function finish(
  content: TransactionContent,
  digest: string,
  inputs: CheckedInputs,
  context: ExecutionContext,
  finished: Finished,
): ExecutionOutcome {
  const changes = sealChanges(finished.state, finished.lamportVersion, digest);
  const funds = finished.state.funds();
  const effects = buildEffects({
    digest,
    sender: content.sender,
    epoch: context.epoch,
    lamportVersion: finished.lamportVersion,
    gasUsed: finished.used,
    gasObjectId: finished.gasObject?.id,
    failure: finished.failure,
    changes,
    funds,
    readOnlyShared: content.inputs.flatMap((input, index) =>
      input.kind === "shared" && !input.mutable ? [inputs.objects[index] as ChainObject] : [],
    ),
    dependencies: dependenciesOf(inputs),
    events: finished.state.events,
  });
  return {
    effects,
    events: finished.state.events,
    balanceChanges: balanceChanges(changes, funds),
    funds,
    written: changes.flatMap((change) => (change.after === undefined ? [] : [change.after])),
    deleted: changes.flatMap((change) => (change.after === undefined ? [change.id] : [])),
    gasUsed: finished.used,
    success: finished.failure === undefined,
  };
}

/** Merges all gas coins into the first, if any. The budget is set aside while the commands run. */
function smashGas(
  state: ExecutionState,
  coins: readonly ChainObject[],
  budget: bigint,
): WorkingObject | undefined {
  if (coins.length === 0) return undefined;
  const [first, ...rest] = coins.map((coin) => state.find(coin.id) as WorkingObject);
  for (const coin of rest) state.remove(coin);
  const total = coins.reduce((sum, coin) => sum + coinBalance(coin.contents), 0n);
  setBalance(state, first as WorkingObject, total - budget);
  return first as WorkingObject;
}

/**
 * Returns the slots of the inputs. Every owned input and every mutable shared input gets a new version, even if it is
 * only read.
 */
function inputSlots(state: ExecutionState, content: TransactionContent, inputs: CheckedInputs): Slot[] {
  return content.inputs.map((input, index): Slot => {
    if (input.kind === "pure") {
      const value = {
        kind: "data",
        type: undefined,
        bytes: input.bytes,
        copyable: true,
        droppable: true,
      } as const;
      return { value, origin: "input", access: "free" };
    }
    if (input.kind === "withdrawal") {
      const owner = input.from === "sender" ? content.sender : content.gas.owner;
      return { value: withdrawalValue(owner, input), origin: "input", access: "free" };
    }
    const object = state.find((inputs.objects[index] as ChainObject).id) as WorkingObject;
    if (input.kind === "receiving")
      return { value: { kind: "receiving", object }, origin: "input", access: "free" };
    const access = input.kind === "owned" ? "owned" : input.mutable ? "sharedMutable" : "sharedReadOnly";
    if (access !== "sharedReadOnly") object.mutated = true;
    return { value: { kind: "object", object }, origin: "input", access };
  });
}

/** `0x2::funds_accumulator::Withdrawal`: the owner, and the limit as u256. It may be dropped. */
function withdrawalValue(
  owner: string,
  { amount, coinType }: { readonly amount: bigint; readonly coinType: string },
): MoveValue {
  const bytes = concatBytes(addressBytes(owner), bcs.u256().serialize(amount).toBytes());
  return { kind: "data", type: withdrawalType(coinType), bytes, copyable: false, droppable: true };
}

function nextVersion(inputs: CheckedInputs): bigint {
  let version = 0n;
  for (const object of [...inputs.gas, ...inputs.objects]) {
    if (object !== undefined && object.version > version) version = object.version;
  }
  return version + 1n;
}

function usedGas(state: ExecutionState, content: TransactionContent): GasUsed {
  const before: ChainObject[] = [];
  const after: { storageRebate: bigint }[] = [];
  for (const object of state.touched()) {
    if (!object.mutated && !object.deleted) continue;
    if (object.input !== undefined) before.push(object.input);
    if (!object.deleted) after.push({ storageRebate: storageCostOf(state.contents(object)) });
  }
  return gasUsed(content.gas.price, content.commands.length, before, after);
}

function dependenciesOf(inputs: CheckedInputs): string[] {
  const digests = new Set<string>();
  for (const object of [...inputs.gas, ...inputs.objects]) {
    if (object !== undefined) digests.add(object.previousTransaction);
  }
  return [...digests].sort();
}
