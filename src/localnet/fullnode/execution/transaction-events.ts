import { bcs } from "@mysten/sui/bcs";
import type { GrpcTypes } from "@mysten/sui/grpc";
import { toBase58 } from "@mysten/sui/utils";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { encodeUleb128 } from "../../../protocol/bytes.ts";
import { blake2b256 } from "../../../protocol/chain/sui-hash.ts";
import { addressBytes, typeTagBytes } from "../objects/sui-types.ts";
import type { EmittedEvent } from "./execution-state.ts";

/** Returns a transaction's events in their sui.rpc.v2 form. Their BCS form and digest are missing if there are none. */
export function transactionEvents(
  events: readonly EmittedEvent[],
  { digest, sender }: { readonly digest: string; readonly sender: string },
): GrpcTypes.TransactionEvents {
  return {
    ...(events.length > 0 && {
      bcs: { name: "TransactionEvents", value: eventsBcs(events, sender) },
      digest: eventsDigest(events, sender),
    }),
    events: events.map((event, index) => ({
      packageId: event.packageId,
      module: event.module,
      sender,
      eventType: event.type,
      contents: { name: event.type, value: event.contents },
      transactionDigest: digest,
      eventIndex: index,
    })),
  };
}

/** Returns the Base58 digest of a transaction's events, which the effects contain. */
export function eventsDigest(events: readonly EmittedEvent[], sender: string): string {
  return toBase58(blake2b256(utf8ToBytes("TransactionEvents::"), eventsBcs(events, sender)));
}

/** Encodes Sui's `TransactionEvents`, a vector of `Event`. */
function eventsBcs(events: readonly EmittedEvent[], sender: string): Uint8Array {
  const encoded = events.map(({ packageId, module, type, contents }) =>
    concatBytes(
      addressBytes(packageId),
      bcs.string().serialize(module).toBytes(),
      addressBytes(sender),
      // A struct's type tag is its variant byte and the struct tag itself.
      typeTagBytes(type).subarray(1),
      bcs.byteVector().serialize(contents).toBytes(),
    ),
  );
  return concatBytes(encodeUleb128(events.length), ...encoded);
}
