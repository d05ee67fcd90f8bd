import { bcs } from "@mysten/sui/bcs";
import { toBase64 } from "@mysten/sui/utils";
import { RpcFailure, Status } from "../execution/failures.ts";
import type {
  Expiration,
  PtbArgument,
  PtbCommand,
  PtbInput,
  TransactionContent,
} from "../execution/transaction-data.ts";

/** Returns the BCS bytes of a resolved transaction. Throws INVALID_ARGUMENT if a value does not fit its type. */
export function encodeTransaction(content: TransactionContent): Uint8Array {
  try {
    return bcs.TransactionData.serialize({ V1: encodeData(content) }).toBytes();
  } catch (error) {
    throw new RpcFailure(Status.InvalidArgument, `invalid transaction: ${(error as Error).message}`);
  }
}

type DataInput = Extract<typeof bcs.TransactionData.$inferInput, { V1: unknown }>["V1"];
type ProgramInput = typeof bcs.ProgrammableTransaction.$inferInput;
type InputInput = ProgramInput["inputs"] extends Iterable<infer T> ? T : never;
type CommandInput = ProgramInput["commands"] extends Iterable<infer T> ? T : never;

function encodeData(content: TransactionContent): DataInput {
  return {
    sender: content.sender,
    expiration: encodeExpiration(content.expiration),
    gasData: {
      owner: content.gas.owner,
      price: content.gas.price,
      budget: content.gas.budget,
      payment: content.gas.payment.map((reference) => ({ ...reference })),
    },
    kind: {
      ProgrammableTransaction: {
        inputs: content.inputs.map(encodeInput),
        commands: content.commands.map(encodeCommand),
      },
    },
  };
}

function encodeExpiration(expiration: Expiration): DataInput["expiration"] {
  switch (expiration.kind) {
    case "none":
      return { None: true };
    case "epoch":
      return { Epoch: Number(expiration.epoch) };
    case "during":
      return {
        ValidDuring: {
          minEpoch: expiration.minEpoch ?? null,
          maxEpoch: expiration.maxEpoch ?? null,
          minTimestamp: expiration.minTimestampMs ?? null,
          maxTimestamp: expiration.maxTimestampMs ?? null,
          chain: expiration.chainId,
          nonce: expiration.nonce,
        },
      };
  }
}

function encodeInput(input: PtbInput): InputInput {
  switch (input.kind) {
    case "pure":
      return { Pure: { bytes: input.bytes } };
    case "withdrawal":
      return {
        FundsWithdrawal: {
          reservation: { MaxAmountU64: input.amount },
          typeArg: { Balance: input.coinType },
          withdrawFrom: input.from === "sender" ? { Sender: true } : { Sponsor: true },
        },
      };
    case "owned":
      return { Object: { ImmOrOwnedObject: { ...input.reference } } };
    case "receiving":
      return { Object: { Receiving: { ...input.reference } } };
    case "shared":
      return {
        Object: {
          SharedObject: {
            objectId: input.objectId,
            initialSharedVersion: input.initialVersion,
            mutable: input.mutable,
          },
        },
      };
  }
}

function encodeCommand(command: PtbCommand): CommandInput {
  switch (command.kind) {
    case "moveCall":
      return {
        MoveCall: {
          package: command.packageId,
          module: command.module,
          function: command.functionName,
          typeArguments: [...command.typeArguments],
          arguments: command.arguments.map(encodeArgument),
        },
      };
    case "transfer":
      return {
        TransferObjects: {
          objects: command.objects.map(encodeArgument),
          address: encodeArgument(command.address),
        },
      };
    case "split":
      return {
        SplitCoins: { coin: encodeArgument(command.coin), amounts: command.amounts.map(encodeArgument) },
      };
    case "merge":
      return {
        MergeCoins: {
          destination: encodeArgument(command.destination),
          sources: command.sources.map(encodeArgument),
        },
      };
    case "vector":
      return {
        MakeMoveVec: { type: command.elementType ?? null, elements: command.elements.map(encodeArgument) },
      };
    case "publish":
      return {
        Publish: { modules: command.modules.map(toBase64), dependencies: [...command.dependencies] },
      };
  }
}

function encodeArgument(argument: PtbArgument): typeof bcs.Argument.$inferInput {
  switch (argument.kind) {
    case "gas":
      return { GasCoin: true };
    case "input":
      return { Input: argument.index };
    case "result":
      return argument.subresult === undefined
        ? { Result: argument.index }
        : { NestedResult: [argument.index, argument.subresult] };
  }
}
