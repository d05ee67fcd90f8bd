import { GrpcTypes } from "@mysten/sui/grpc";
import { RpcFailure, Status } from "../execution/failures.ts";
import type {
  Expiration,
  PtbArgument,
  PtbCommand,
  PtbInput,
  TransactionContent,
} from "../execution/transaction-data.ts";
import { parseAddress } from "../objects/sui-types.ts";

/** Returns a resolved transaction in its sui.rpc.v2 form, with its BCS form and digest. */
export function transactionProto(
  content: TransactionContent,
  bytes: Uint8Array,
  digest: string,
): GrpcTypes.Transaction {
  return {
    bcs: { name: "TransactionData", value: bytes },
    digest,
    version: 1,
    sender: content.sender,
    gasPayment: {
      objects: content.gas.payment.map((reference) => ({ ...reference })),
      owner: content.gas.owner,
      price: content.gas.price,
      budget: content.gas.budget,
    },
    expiration: expirationProto(content.expiration),
    kind: {
      kind: GrpcTypes.TransactionKind_Kind.PROGRAMMABLE_TRANSACTION,
      data: {
        oneofKind: "programmableTransaction",
        programmableTransaction: {
          inputs: content.inputs.map(inputProto),
          commands: content.commands.map(commandProto),
        },
      },
    },
  };
}

const { Argument_ArgumentKind: ArgumentKind, Input_InputKind: InputKind } = GrpcTypes;

/** Decodes a transaction's commands from their sui.rpc.v2 form. Throws INVALID_ARGUMENT for unsupported commands. */
export function commandsFromProto(commands: readonly GrpcTypes.Command[]): PtbCommand[] {
  return commands.map(({ command }): PtbCommand => {
    switch (command.oneofKind) {
      case "moveCall": {
        const call = command.moveCall;
        return {
          kind: "moveCall",
          packageId: parseAddress(call.package, "package"),
          module: call.module ?? "",
          functionName: call.function ?? "",
          typeArguments: call.typeArguments,
          arguments: call.arguments.map(argumentFromProto),
        };
      }
      case "splitCoins":
        return {
          kind: "split",
          coin: argumentFromProto(command.splitCoins.coin),
          amounts: command.splitCoins.amounts.map(argumentFromProto),
        };
      case "mergeCoins":
        return {
          kind: "merge",
          destination: argumentFromProto(command.mergeCoins.coin),
          sources: command.mergeCoins.coinsToMerge.map(argumentFromProto),
        };
      case "transferObjects":
        return {
          kind: "transfer",
          objects: command.transferObjects.objects.map(argumentFromProto),
          address: argumentFromProto(command.transferObjects.address),
        };
      case "makeMoveVector":
        return {
          kind: "vector",
          elementType: command.makeMoveVector.elementType,
          elements: command.makeMoveVector.elements.map(argumentFromProto),
        };
      case "publish": {
        const { modules, dependencies } = command.publish;
        return {
          kind: "publish",
          modules,
          dependencies: dependencies.map((id) => parseAddress(id, "dependency")),
        };
      }
      default:
        throw new RpcFailure(
          Status.InvalidArgument,
          `this node does not support command ${command.oneofKind ?? "unknown"}`,
        );
    }
  });
}

function argumentFromProto(argument: GrpcTypes.Argument | undefined): PtbArgument {
  switch (argument?.kind) {
    case ArgumentKind.GAS:
      return { kind: "gas" };
    case ArgumentKind.INPUT:
      return { kind: "input", index: argument.input ?? 0 };
    case ArgumentKind.RESULT:
      return { kind: "result", index: argument.result ?? 0, subresult: argument.subresult };
    default:
      throw new RpcFailure(Status.InvalidArgument, "unknown argument kind");
  }
}

/** Returns an argument of a command in its sui.rpc.v2 form. */
export function argumentProto(argument: PtbArgument): GrpcTypes.Argument {
  switch (argument.kind) {
    case "gas":
      return { kind: ArgumentKind.GAS };
    case "input":
      return { kind: ArgumentKind.INPUT, input: argument.index };
    case "result":
      return argument.subresult === undefined
        ? { kind: ArgumentKind.RESULT, result: argument.index }
        : { kind: ArgumentKind.RESULT, result: argument.index, subresult: argument.subresult };
  }
}

function inputProto(input: PtbInput): GrpcTypes.Input {
  switch (input.kind) {
    case "pure":
      return { kind: InputKind.PURE, pure: input.bytes };
    case "withdrawal":
      return {
        kind: InputKind.FUNDS_WITHDRAWAL,
        fundsWithdrawal: {
          amount: input.amount,
          coinType: input.coinType,
          source:
            input.from === "sender"
              ? GrpcTypes.FundsWithdrawal_Source.SENDER
              : GrpcTypes.FundsWithdrawal_Source.SPONSOR,
        },
      };
    case "owned":
      return { kind: InputKind.IMMUTABLE_OR_OWNED, ...input.reference };
    case "receiving":
      return { kind: InputKind.RECEIVING, ...input.reference };
    case "shared":
      return {
        kind: InputKind.SHARED,
        objectId: input.objectId,
        version: input.initialVersion,
        mutable: input.mutable,
      };
  }
}

function commandProto(command: PtbCommand): GrpcTypes.Command {
  switch (command.kind) {
    case "moveCall":
      return {
        command: {
          oneofKind: "moveCall",
          moveCall: {
            package: command.packageId,
            module: command.module,
            function: command.functionName,
            typeArguments: [...command.typeArguments],
            arguments: command.arguments.map(argumentProto),
          },
        },
      };
    case "split":
      return {
        command: {
          oneofKind: "splitCoins",
          splitCoins: { coin: argumentProto(command.coin), amounts: command.amounts.map(argumentProto) },
        },
      };
    case "merge":
      return {
        command: {
          oneofKind: "mergeCoins",
          mergeCoins: {
            coin: argumentProto(command.destination),
            coinsToMerge: command.sources.map(argumentProto),
          },
        },
      };
    case "transfer":
      return {
        command: {
          oneofKind: "transferObjects",
          transferObjects: {
            objects: command.objects.map(argumentProto),
            address: argumentProto(command.address),
          },
        },
      };
    case "vector":
      return {
        command: {
          oneofKind: "makeMoveVector",
          makeMoveVector: {
            ...(command.elementType === undefined ? {} : { elementType: command.elementType }),
            elements: command.elements.map(argumentProto),
          },
        },
      };
    case "publish":
      return {
        command: {
          oneofKind: "publish",
          publish: { modules: [...command.modules], dependencies: [...command.dependencies] },
        },
      };
  }
}

/** Encodes a transaction's expiration in its sui.rpc.v2 form. */
export function expirationProto(expiration: Expiration): GrpcTypes.TransactionExpiration {
  switch (expiration.kind) {
    case "none":
      return { kind: ExpirationKind.NONE };
    case "epoch":
      return { kind: ExpirationKind.EPOCH, epoch: expiration.epoch };
    case "during":
      return {
        kind: ExpirationKind.VALID_DURING,
        chain: expiration.chainId,
        nonce: expiration.nonce,
        ...(expiration.minEpoch === undefined ? {} : { minEpoch: expiration.minEpoch }),
        ...(expiration.maxEpoch === undefined ? {} : { epoch: expiration.maxEpoch }),
        ...(expiration.minTimestampMs === undefined
          ? {}
          : { minTimestamp: timestampProto(expiration.minTimestampMs) }),
        ...(expiration.maxTimestampMs === undefined
          ? {}
          : { maxTimestamp: timestampProto(expiration.maxTimestampMs) }),
      };
  }
}

/** Decodes a transaction's expiration from its sui.rpc.v2 form. */
export function expirationFromProto(expiration: GrpcTypes.TransactionExpiration | undefined): Expiration {
  switch (expiration?.kind) {
    case undefined:
    case ExpirationKind.TRANSACTION_EXPIRATION_KIND_UNKNOWN:
    case ExpirationKind.NONE:
      return { kind: "none" };
    case ExpirationKind.EPOCH:
      return { kind: "epoch", epoch: expiration.epoch ?? 0n };
    case ExpirationKind.VALID_DURING:
      return {
        kind: "during",
        minEpoch: expiration.minEpoch,
        maxEpoch: expiration.epoch,
        minTimestampMs: milliseconds(expiration.minTimestamp),
        maxTimestampMs: milliseconds(expiration.maxTimestamp),
        chainId: expiration.chain ?? "",
        nonce: expiration.nonce ?? 0,
      };
    default:
      throw new RpcFailure(Status.InvalidArgument, "this node does not support this transaction expiration");
  }
}

/** Converts milliseconds since the epoch into a protobuf timestamp. */
export function timestampProto(timestampMs: bigint): { seconds: bigint; nanos: number } {
  return { seconds: timestampMs / 1000n, nanos: Number(timestampMs % 1000n) * 1_000_000 };
}

const ExpirationKind = GrpcTypes.TransactionExpiration_TransactionExpirationKind;

function milliseconds(timestamp: { seconds: bigint; nanos: number } | undefined): bigint | undefined {
  return timestamp === undefined
    ? undefined
    : timestamp.seconds * 1000n + BigInt(Math.floor(timestamp.nanos / 1_000_000));
}
