import { GrpcTypes } from "@mysten/sui/grpc";
import { addressBalance } from "../objects/address-balance.ts";
import { type ChainObject, coinBalance } from "../objects/object.ts";
import type { ObjectStore } from "../objects/object-store.ts";
import { parseAddress, parseStructType, SUI_COIN_TYPE, SUI_TYPE } from "../objects/sui-types.ts";
import { commandsFromProto, expirationFromProto } from "../wire/transaction-proto.ts";
import { invalidInput, RpcFailure, Status } from "./failures.ts";
import { REFERENCE_GAS_PRICE } from "./gas.ts";
import { withdrawals } from "./input-checks.ts";
import { LIMITS } from "./limits.ts";
import { type FunctionTable, lookUpFunction } from "./move-function.ts";
import type {
  ObjectReference,
  PtbArgument,
  PtbCommand,
  PtbInput,
  TransactionContent,
} from "./transaction-data.ts";

const InputKind = GrpcTypes.Input_InputKind;

/** A transaction with resolved inputs. Its gas may still be unresolved. */
export interface ResolvedTransaction {
  readonly content: TransactionContent;
  readonly budgetGiven: boolean;
}

/**
 * Resolves the fields that a client left open: object versions and digests, the mutability of shared objects, the gas
 * owner and price. Gas coins are selected later, when the budget is known.
 */
export function resolveInputs(
  proto: GrpcTypes.Transaction,
  objects: ObjectStore,
  functions: FunctionTable,
): ResolvedTransaction {
  const data = proto.kind?.data;
  if (data?.oneofKind !== "programmableTransaction") {
    throw new RpcFailure(Status.InvalidArgument, "only programmable transactions are supported");
  }
  const program = data.programmableTransaction;
  const sender = parseAddress(proto.sender, "transaction.sender");
  const commands = commandsFromProto(program.commands);
  const mutable = mutableInputs(commands, functions, objects);
  const gas = proto.gasPayment;
  return {
    budgetGiven: gas?.budget !== undefined,
    content: {
      sender,
      gas: {
        owner: gas?.owner === undefined ? sender : parseAddress(gas.owner, "gas_payment.owner"),
        payment: (gas?.objects ?? []).map(referenceFromProto),
        price: gas?.price ?? REFERENCE_GAS_PRICE,
        budget: gas?.budget ?? LIMITS.maxGasBudget,
      },
      expiration: expirationFromProto(proto.expiration),
      inputs: program.inputs.map((input, index) => resolveInput(input, mutable.get(index), objects)),
      commands,
    },
  };
}

/**
 * Selects the coins that pay `budget`, largest first. Selects all coins if the commands use the gas coin. Otherwise, an
 * address balance that suffices for the budget and the payer's withdrawals pays, and no coins are selected
 * (`setGasPayment` of the Sui SDK's resolver).
 */
export function selectGas(
  content: TransactionContent,
  objects: ObjectStore,
  budget: bigint,
): ObjectReference[] {
  const all = content.commands.some(usesGasCoin);
  if (!all && canPayFromBalance(content, objects, budget)) return [];
  const taken = new Set(
    content.inputs.flatMap((input) => (input.kind === "owned" ? [input.reference.objectId] : [])),
  );
  const coins = objects
    .owned(content.gas.owner, SUI_COIN_TYPE)
    .filter((coin) => !taken.has(coin.id))
    .sort((a, b) => compare(coinBalance(b.contents), coinBalance(a.contents)))
    .slice(0, LIMITS.gasObjects);
  const selected: ChainObject[] = [];
  let total = 0n;
  for (const coin of coins) {
    if (!all && total >= budget) break;
    selected.push(coin);
    total += coinBalance(coin.contents);
  }
  if (total < budget) {
    throw invalidInput(
      `Unable to perform gas selection due to insufficient SUI balance (in address balance or coins) for account ${content.gas.owner} to satisfy required budget ${budget}.`,
    );
  }
  return selected.map(referenceTo);
}

function canPayFromBalance(content: TransactionContent, objects: ObjectStore, budget: bigint): boolean {
  const { owner } = content.gas;
  const withdrawn = withdrawals({ ...content, gas: { ...content.gas, payment: [], budget } }).find(
    ({ address, coinType }) => address === owner && coinType === SUI_TYPE,
  );
  return addressBalance(objects.get, owner, SUI_TYPE) >= (withdrawn?.amount ?? 0n);
}

/** Returns a reference to the current version of an object. */
export function referenceTo(object: ChainObject): ObjectReference {
  return { objectId: object.id, version: object.version, digest: object.digest };
}

function resolveInput(
  input: GrpcTypes.Input,
  usedMutably: boolean | undefined,
  objects: ObjectStore,
): PtbInput {
  if (input.kind === InputKind.PURE || (input.pure !== undefined && input.objectId === undefined)) {
    return { kind: "pure", bytes: input.pure ?? new Uint8Array() };
  }
  if (input.kind === InputKind.FUNDS_WITHDRAWAL) return resolveWithdrawal(input.fundsWithdrawal);
  const objectId = parseAddress(input.objectId, "input.object_id");
  if (input.kind === InputKind.IMMUTABLE_OR_OWNED) {
    return { kind: "owned", reference: referenceFromProto({ ...input, objectId }) };
  }
  if (input.kind === InputKind.RECEIVING) {
    return { kind: "receiving", reference: referenceFromProto({ ...input, objectId }) };
  }
  const object = objects.get(objectId);
  if (input.kind === InputKind.SHARED && input.version !== undefined) {
    return {
      kind: "shared",
      objectId,
      initialVersion: input.version,
      mutable: input.mutable ?? usedMutably ?? true,
    };
  }
  if (object === undefined) throw new RpcFailure(Status.NotFound, `Object ${objectId} not found`);
  if (object.owner.kind === "shared") {
    const mutable = input.mutable ?? usedMutably ?? true;
    return { kind: "shared", objectId, initialVersion: object.owner.initialVersion, mutable };
  }
  const reference = referenceTo(object);
  return {
    kind: "owned",
    reference: {
      objectId,
      version: input.version ?? reference.version,
      digest: input.digest ?? reference.digest,
    },
  };
}

function resolveWithdrawal(withdrawal: GrpcTypes.FundsWithdrawal | undefined): PtbInput {
  const { amount = 0n, coinType = SUI_TYPE, source } = withdrawal ?? {};
  const { SENDER, SPONSOR } = GrpcTypes.FundsWithdrawal_Source;
  if (source !== SENDER && source !== SPONSOR)
    throw new RpcFailure(Status.InvalidArgument, "this node does not support this source of a withdrawal");
  const from = source === SENDER ? "sender" : "sponsor";
  return { kind: "withdrawal", amount, coinType: parseStructType(coinType, "coin_type"), from };
}

/** Returns for each used input whether a command needs it to be mutable. */
function mutableInputs(
  commands: readonly PtbCommand[],
  functions: FunctionTable,
  objects: ObjectStore,
): Map<number, boolean> {
  const mutable = new Map<number, boolean>();
  const mark = (argument: PtbArgument, asMutable: boolean): void => {
    if (argument.kind !== "input") return;
    mutable.set(argument.index, (mutable.get(argument.index) ?? false) || asMutable);
  };
  for (const command of commands) {
    if (command.kind === "moveCall") {
      const name = `${command.module}::${command.functionName}`;
      const target = lookUpFunction(functions, command.packageId, name, (id) => objects.get(id)?.type);
      const parameters = target?.parameters ?? [];
      for (const [index, argument] of command.arguments.entries()) {
        mark(argument, parameters[index]?.reference !== "immutable");
      }
    } else {
      for (const argument of argumentsOf(command)) mark(argument, true);
    }
  }
  return mutable;
}

function usesGasCoin(command: PtbCommand): boolean {
  return argumentsOf(command).some((argument) => argument.kind === "gas");
}

function argumentsOf(command: PtbCommand): readonly PtbArgument[] {
  switch (command.kind) {
    case "moveCall":
      return command.arguments;
    case "split":
      return [command.coin, ...command.amounts];
    case "merge":
      return [command.destination, ...command.sources];
    case "transfer":
      return [...command.objects, command.address];
    case "vector":
      return command.elements;
    case "publish":
      return [];
  }
}

function referenceFromProto(reference: GrpcTypes.ObjectReference): ObjectReference {
  if (reference.version === undefined || reference.digest === undefined) {
    throw new RpcFailure(Status.InvalidArgument, "object reference without version or digest");
  }
  return {
    objectId: parseAddress(reference.objectId, "object_id"),
    version: reference.version,
    digest: reference.digest,
  };
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
