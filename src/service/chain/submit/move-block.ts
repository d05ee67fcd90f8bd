import { GrpcTypes } from "@mysten/sui/grpc";
import { fromBase58, normalizeSuiAddress } from "@mysten/sui/utils";
import type { SharedRef } from "../fullnodes/network.ts";
import { addressBytes, type CallBuilder, type OwnedRef } from "../treasury/treasury-calls.ts";

/**
 * Creates an empty block of Move calls. It keeps octets where the SDK's `Transaction` keeps base64 and validated copies,
 * which takes several times the processor time. The result is the same, octet by octet.
 */
export function createMoveBlock(): MoveBlock {
  const inputs: BlockInput[] = [];
  const calls: MoveCall[] = [];
  /** The positions of objects, which are inputs once. */
  const objects = new Map<string, number>();
  const add = (input: BlockInput): number => inputs.push(input) - 1;
  const addObject = (objectId: string, input: BlockInput): number => {
    const place = objects.get(objectId) ?? add(input);
    objects.set(objectId, place);
    return place;
  };
  return {
    inputs,
    calls,
    builder: {
      shared(ref) {
        const objectId = normalizeSuiAddress(ref.objectId);
        return addObject(objectId, { kind: "shared", ref: { ...ref, objectId } });
      },
      owned(ref) {
        const objectId = normalizeSuiAddress(ref.objectId);
        return addObject(objectId, { kind: "owned", ref: { ...ref, objectId } });
      },
      pure: (bytes) => add({ kind: "pure", bytes }),
      call(target, args) {
        const [packageId = "", module = "", name = ""] = target.split("::");
        calls.push({ packageId, module, name, arguments: args });
      },
    },
  };
}

/** A block of Move calls. An argument is the position of an input. */
export interface MoveBlock {
  readonly builder: CallBuilder<number>;
  readonly inputs: readonly BlockInput[];
  readonly calls: readonly MoveCall[];
}

type BlockInput =
  | { readonly kind: "pure"; readonly bytes: Uint8Array }
  /** Shared objects are passed as mutable. */
  | { readonly kind: "shared"; readonly ref: SharedRef }
  | { readonly kind: "owned"; readonly ref: OwnedRef };

interface MoveCall {
  readonly packageId: string;
  readonly module: string;
  readonly name: string;
  readonly arguments: readonly number[];
}

/** Who sends a block, what pays for it, and how long it can land. */
export interface BlockFrame {
  readonly sender: string;
  readonly gasOwner: string;
  readonly gasCoins: readonly OwnedRef[];
  readonly gasPriceMist: bigint;
  /** The last epoch in which it can land. */
  readonly lastEpoch: bigint;
}

/** Encodes a block as BCS of Sui's `TransactionData` (`sui-types/src/transaction.rs`). */
export function encodeBlock(
  { inputs, calls }: MoveBlock,
  { sender, gasOwner, gasCoins, gasPriceMist, lastEpoch }: BlockFrame,
  budgetMist: bigint,
): Uint8Array {
  const out = createWriter();
  // TransactionData::V1, TransactionKind::ProgrammableTransaction
  out.byte(0).byte(0).length(inputs.length);
  for (const input of inputs) {
    if (input.kind === "pure") out.byte(0).length(input.bytes.length).bytes(input.bytes);
    else if (input.kind === "owned") owned(out.byte(1).byte(0), input.ref);
    else {
      const { objectId, initialSharedVersion } = input.ref;
      // The last byte says that it is mutable.
      out.byte(1).byte(1).bytes(addressBytes(objectId)).u64(BigInt(initialSharedVersion)).byte(1);
    }
  }
  out.length(calls.length);
  for (const { packageId, module, name, arguments: args } of calls) {
    // Command::MoveCall, without type arguments
    out.byte(0).bytes(addressBytes(packageId)).text(module).text(name).length(0).length(args.length);
    // Argument::Input
    for (const place of args) out.byte(1).u16(place);
  }
  out.bytes(addressBytes(sender)).length(gasCoins.length);
  for (const coin of gasCoins) owned(out, coin);
  // TransactionExpiration::Epoch
  return out.bytes(addressBytes(gasOwner)).u64(gasPriceMist).u64(budgetMist).byte(1).u64(lastEpoch).end();
}

function owned(out: Writer, { objectId, version, digest }: OwnedRef): void {
  out.bytes(addressBytes(objectId)).u64(BigInt(version)).length(DIGEST_BYTES).bytes(digestBytes(digest));
}

const DIGEST_BYTES = 32;

function digestBytes(digest: string): Uint8Array {
  const bytes = fromBase58(digest);
  if (bytes.length !== DIGEST_BYTES) throw new Error("a digest must have 32 bytes");
  return bytes;
}

/** Returns a block without a budget as the message of a fullnode, for a dry run. */
export function blockMessage(
  { inputs, calls }: MoveBlock,
  { sender, gasOwner, gasCoins, gasPriceMist, lastEpoch }: BlockFrame,
): GrpcTypes.Transaction {
  return {
    version: 1,
    sender,
    gasPayment: { objects: gasCoins.map(refMessage), price: gasPriceMist, owner: gasOwner },
    expiration: {
      kind: GrpcTypes.TransactionExpiration_TransactionExpirationKind.EPOCH,
      epoch: lastEpoch,
    },
    kind: {
      data: {
        oneofKind: "programmableTransaction",
        programmableTransaction: { inputs: inputs.map(inputMessage), commands: calls.map(callMessage) },
      },
    },
  } as GrpcTypes.Transaction;
}

function refMessage({ objectId, version, digest }: OwnedRef) {
  return { objectId: normalizeSuiAddress(objectId), version: BigInt(version), digest };
}

function inputMessage(input: BlockInput) {
  const { Input_InputKind: kinds } = GrpcTypes;
  if (input.kind === "pure") return { kind: kinds.PURE, pure: input.bytes };
  if (input.kind === "owned") return { kind: kinds.IMMUTABLE_OR_OWNED, ...refMessage(input.ref) };
  const { objectId, initialSharedVersion } = input.ref;
  return { kind: kinds.SHARED, objectId, version: BigInt(initialSharedVersion), mutable: true };
}

function callMessage({ packageId, module, name, arguments: args }: MoveCall) {
  return {
    command: {
      oneofKind: "moveCall",
      moveCall: {
        package: normalizeSuiAddress(packageId),
        module,
        function: name,
        typeArguments: [],
        arguments: args.map((input) => ({ kind: GrpcTypes.Argument_ArgumentKind.INPUT, input })),
      },
    },
  };
}

/** Appends BCS to one growing buffer. */
interface Writer {
  byte(value: number): Writer;
  u16(value: number): Writer;
  u64(value: bigint): Writer;
  /** ULEB128. */
  length(value: number): Writer;
  bytes(value: Uint8Array): Writer;
  text(value: string): Writer;
  /** Returns what was written, in its own memory. */
  end(): Uint8Array;
}

const FIRST_BYTES = 16_384;

function createWriter(): Writer {
  let buffer = Buffer.alloc(FIRST_BYTES);
  let used = 0;
  /** Reserves bytes, perhaps in a new buffer, and returns where they begin. */
  const reserve = (count: number): number => {
    if (used + count > buffer.length) {
      const larger = Buffer.alloc(Math.max(2 * buffer.length, used + count));
      larger.set(buffer.subarray(0, used));
      buffer = larger;
    }
    used += count;
    return used - count;
  };
  const writer: Writer = {
    byte(value) {
      const at = reserve(1);
      buffer.writeUInt8(value, at);
      return writer;
    },
    u16(value) {
      const at = reserve(2);
      buffer.writeUInt16LE(value, at);
      return writer;
    },
    u64(value) {
      const at = reserve(8);
      buffer.writeBigUInt64LE(value, at);
      return writer;
    },
    length(value) {
      let rest = value;
      for (; rest >= 0x80; rest >>>= 7) writer.byte((rest & 0x7f) | 0x80);
      return writer.byte(rest);
    },
    bytes(value) {
      const at = reserve(value.length);
      buffer.set(value, at);
      return writer;
    },
    text(value) {
      const bytes = Buffer.from(value);
      return writer.length(bytes.length).bytes(bytes);
    },
    end: () => new Uint8Array(buffer.subarray(0, used)),
  };
  return writer;
}
