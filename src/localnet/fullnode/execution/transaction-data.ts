import { bcs } from "@mysten/sui/bcs";
import { fromBase64 } from "@mysten/sui/utils";
import { parseStructType } from "../objects/sui-types.ts";
import { RpcFailure, Status } from "./failures.ts";

/** Decodes `TransactionData` in BCS. Throws INVALID_ARGUMENT for malformed bytes and unsupported features. */
export function decodeTransaction(bytes: Uint8Array): TransactionContent {
  const data = parseData(bytes);
  const program = data.kind.ProgrammableTransaction;
  if (program === undefined) throw unsupported("transaction kind");
  return {
    sender: data.sender,
    gas: {
      owner: data.gasData.owner,
      payment: data.gasData.payment.map(reference),
      price: BigInt(data.gasData.price),
      budget: BigInt(data.gasData.budget),
    },
    expiration: decodeExpiration(data.expiration),
    inputs: program.inputs.map(decodeInput),
    commands: program.commands.map(decodeCommand),
  };
}

/** A decoded transaction with all inputs resolved. */
export interface TransactionContent {
  readonly sender: string;
  readonly gas: GasContent;
  readonly expiration: Expiration;
  readonly inputs: readonly PtbInput[];
  readonly commands: readonly PtbCommand[];
}

/** The payer of a transaction and its gas; price and budget in MIST. */
export interface GasContent {
  readonly owner: string;
  readonly payment: readonly ObjectReference[];
  readonly price: bigint;
  readonly budget: bigint;
}

/** One version of an object; the digest is base58. */
export interface ObjectReference {
  readonly objectId: string;
  readonly version: bigint;
  readonly digest: string;
}

/** The end of a transaction's validity; epochs are inclusive. */
export type Expiration =
  | { readonly kind: "none" }
  | { readonly kind: "epoch"; readonly epoch: bigint }
  | {
      readonly kind: "during";
      readonly minEpoch: bigint | undefined;
      readonly maxEpoch: bigint | undefined;
      readonly minTimestampMs: bigint | undefined;
      readonly maxTimestampMs: bigint | undefined;
      readonly chainId: string;
      readonly nonce: number;
    };

/** An input of a programmable transaction. */
export type PtbInput =
  | { readonly kind: "pure"; readonly bytes: Uint8Array }
  | { readonly kind: "owned"; readonly reference: ObjectReference }
  /** An object that was sent to another object, which receives it in this transaction. */
  | { readonly kind: "receiving"; readonly reference: ObjectReference }
  | {
      readonly kind: "shared";
      readonly objectId: string;
      readonly initialVersion: bigint;
      readonly mutable: boolean;
    }
  /** A permission to withdraw at most `amount` from an address balance of the sender or of the payer of the gas. */
  | {
      readonly kind: "withdrawal";
      readonly amount: bigint;
      readonly coinType: string;
      readonly from: "sender" | "sponsor";
    };

/** The source of a command's value. */
export type PtbArgument =
  | { readonly kind: "gas" }
  | { readonly kind: "input"; readonly index: number }
  | { readonly kind: "result"; readonly index: number; readonly subresult: number | undefined };

/** A command of a programmable transaction. */
export type PtbCommand =
  | {
      readonly kind: "moveCall";
      readonly packageId: string;
      readonly module: string;
      readonly functionName: string;
      readonly typeArguments: readonly string[];
      readonly arguments: readonly PtbArgument[];
    }
  | { readonly kind: "transfer"; readonly objects: readonly PtbArgument[]; readonly address: PtbArgument }
  | { readonly kind: "split"; readonly coin: PtbArgument; readonly amounts: readonly PtbArgument[] }
  | { readonly kind: "merge"; readonly destination: PtbArgument; readonly sources: readonly PtbArgument[] }
  | {
      readonly kind: "vector";
      readonly elementType: string | undefined;
      readonly elements: readonly PtbArgument[];
    }
  | {
      readonly kind: "publish";
      readonly modules: readonly Uint8Array[];
      readonly dependencies: readonly string[];
    };

type BcsData = NonNullable<typeof bcs.TransactionData.$inferType.V1>;
type BcsInput = NonNullable<BcsData["kind"]["ProgrammableTransaction"]>["inputs"][number];
type BcsCommand = NonNullable<BcsData["kind"]["ProgrammableTransaction"]>["commands"][number];
type BcsArgument = typeof bcs.Argument.$inferType;

function parseData(bytes: Uint8Array): BcsData {
  let data: BcsData | undefined;
  let again: Uint8Array;
  try {
    const parsed = bcs.TransactionData.parse(bytes);
    data = parsed.V1;
    again = bcs.TransactionData.serialize(parsed).toBytes();
  } catch {
    throw new RpcFailure(Status.InvalidArgument, "invalid transaction.bcs: not BCS of TransactionData");
  }
  // A second form of the same transaction would have a second digest, so only the canonical one is accepted.
  if (data === undefined || Buffer.compare(again, bytes) !== 0) {
    throw new RpcFailure(
      Status.InvalidArgument,
      "invalid transaction.bcs: not canonical BCS of TransactionData",
    );
  }
  return data;
}

function decodeExpiration(expiration: BcsData["expiration"]): Expiration {
  switch (expiration.$kind) {
    case "None":
      return { kind: "none" };
    case "Epoch":
      return { kind: "epoch", epoch: BigInt(expiration.Epoch) };
    case "ValidDuring":
      return decodeDuring(expiration.ValidDuring);
    case "Validity":
      return decodeDuring(expiration.Validity);
  }
}

function decodeDuring(during: NonNullable<BcsData["expiration"]["ValidDuring"]>): Expiration {
  return {
    kind: "during",
    minEpoch: optional(during.minEpoch),
    maxEpoch: optional(during.maxEpoch),
    minTimestampMs: optional(during.minTimestamp),
    maxTimestampMs: optional(during.maxTimestamp),
    chainId: during.chain,
    nonce: during.nonce,
  };
}

function decodeInput(input: BcsInput): PtbInput {
  if (input.$kind === "Pure") return { kind: "pure", bytes: fromBase64(input.Pure.bytes) };
  if (input.$kind === "FundsWithdrawal") return decodeWithdrawal(input.FundsWithdrawal);
  if (input.Object.$kind === "ImmOrOwnedObject") {
    return { kind: "owned", reference: reference(input.Object.ImmOrOwnedObject) };
  }
  if (input.Object.$kind === "Receiving") {
    return { kind: "receiving", reference: reference(input.Object.Receiving) };
  }
  const shared = input.Object.SharedObject;
  return {
    kind: "shared",
    objectId: shared.objectId,
    initialVersion: BigInt(shared.initialSharedVersion),
    mutable: shared.mutable,
  };
}

function decodeWithdrawal({
  reservation,
  typeArg,
  withdrawFrom,
}: NonNullable<BcsInput["FundsWithdrawal"]>): PtbInput {
  if (withdrawFrom.$kind === "SenderAllowance") throw unsupported("withdrawals under an allowance");
  return {
    kind: "withdrawal",
    amount: BigInt(reservation.MaxAmountU64),
    coinType: parseStructType(typeArg.Balance, "coin_type"),
    from: withdrawFrom.$kind === "Sender" ? "sender" : "sponsor",
  };
}

function decodeCommand(command: BcsCommand): PtbCommand {
  switch (command.$kind) {
    case "MoveCall": {
      const call = command.MoveCall;
      return {
        kind: "moveCall",
        packageId: call.package,
        module: call.module,
        functionName: call.function,
        typeArguments: call.typeArguments,
        arguments: call.arguments.map(decodeArgument),
      };
    }
    case "TransferObjects":
      return {
        kind: "transfer",
        objects: command.TransferObjects.objects.map(decodeArgument),
        address: decodeArgument(command.TransferObjects.address),
      };
    case "SplitCoins":
      return {
        kind: "split",
        coin: decodeArgument(command.SplitCoins.coin),
        amounts: command.SplitCoins.amounts.map(decodeArgument),
      };
    case "MergeCoins":
      return {
        kind: "merge",
        destination: decodeArgument(command.MergeCoins.destination),
        sources: command.MergeCoins.sources.map(decodeArgument),
      };
    case "MakeMoveVec":
      return {
        kind: "vector",
        elementType: command.MakeMoveVec.type ?? undefined,
        elements: command.MakeMoveVec.elements.map(decodeArgument),
      };
    case "Publish":
      return {
        kind: "publish",
        modules: command.Publish.modules.map(fromBase64),
        dependencies: command.Publish.dependencies,
      };
    default:
      throw unsupported(`command ${command.$kind}`);
  }
}

function decodeArgument(argument: BcsArgument): PtbArgument {
  switch (argument.$kind) {
    case "GasCoin":
      return { kind: "gas" };
    case "Input":
      return { kind: "input", index: argument.Input };
    case "Result":
      return { kind: "result", index: argument.Result, subresult: undefined };
    case "NestedResult":
      return { kind: "result", index: argument.NestedResult[0], subresult: argument.NestedResult[1] };
  }
}

function reference(value: { objectId: string; version: string; digest: string }): ObjectReference {
  return { objectId: value.objectId, version: BigInt(value.version), digest: value.digest };
}

function optional(value: string | null): bigint | undefined {
  return value === null ? undefined : BigInt(value);
}

function unsupported(what: string): RpcFailure {
  return new RpcFailure(Status.InvalidArgument, `this node does not support ${what}`);
}
