import { bcs } from "@mysten/sui/bcs";
import type { ChainEvent } from "../chain/operation.ts";
import { bytesToHex } from "../protocol/bytes.ts";

/** `sessions_manager::DWalletSessionEvent<coordinator_inner::PresignRequestEvent>` (@ika.xyz/sdk 0.4.1). */
const Event = bcs.struct("DWalletSessionEvent", {
  epoch: bcs.u64(),
  session_object_id: bcs.Address,
  session_type: bcs.enum("SessionType", { User: null, System: null }),
  session_sequence_number: bcs.u64(),
  session_identifier_preimage: bcs.byteVector(),
  event_data: bcs.struct("PresignRequestEvent", {
    dwallet_id: bcs.option(bcs.Address),
    presign_id: bcs.Address,
    dwallet_public_output: bcs.option(bcs.byteVector()),
    dwallet_network_encryption_key_id: bcs.Address,
    curve: bcs.u32(),
    signature_algorithm: bcs.u32(),
  }),
});

const TYPE = /::sessions_manager::DWalletSessionEvent<0x[0-9a-f]+::coordinator_inner::PresignRequestEvent>$/;

/** The ids of the presigns that a transaction requested, by their session identifier preimage in hex. */
export function presignIdsByPreimage(events: readonly ChainEvent[]): ReadonlyMap<string, string> {
  return new Map(
    events
      .filter((event) => TYPE.test(event.type))
      .map((event) => Event.parse(event.bcs))
      .map((event) => [bytesToHex(event.session_identifier_preimage), event.event_data.presign_id]),
  );
}
