import { GrpcTypes } from "@mysten/sui/grpc";
import { RpcFailure, Status } from "./failures.ts";
import type { Expiration } from "./transaction-data.ts";

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
