import { bcs } from "@mysten/sui/bcs";
import type { ChainEvent } from "../chain/operation.ts";

/** `sessions_manager::DWalletSessionEvent<coordinator_inner::SignRequestEvent>` (@ika.xyz/sdk 0.4.1). */
const Event = bcs.struct("DWalletSessionEvent", {
  epoch: bcs.u64(),
  session_object_id: bcs.Address,
  session_type: bcs.enum("SessionType", { User: null, System: null }),
  session_sequence_number: bcs.u64(),
  session_identifier_preimage: bcs.byteVector(),
  event_data: bcs.struct("SignRequestEvent", {
    sign_id: bcs.Address,
    dwallet_id: bcs.Address,
    dwallet_public_output: bcs.byteVector(),
    curve: bcs.u32(),
    signature_algorithm: bcs.u32(),
    hash_scheme: bcs.u32(),
    message: bcs.byteVector(),
    dwallet_network_encryption_key_id: bcs.Address,
    presign_id: bcs.Address,
    presign: bcs.byteVector(),
    message_centralized_signature: bcs.byteVector(),
    is_future_sign: bcs.bool(),
  }),
});

const TYPE = /::sessions_manager::DWalletSessionEvent<0x[0-9a-f]+::coordinator_inner::SignRequestEvent>$/;

/** The sign sessions that a transaction requested, by the presign that each uses up. */
export function signSessionIdsByPresign(events: readonly ChainEvent[]): ReadonlyMap<string, string> {
  return new Map(
    events
      .filter((event) => TYPE.test(event.type))
      .map((event) => Event.parse(event.bcs).event_data)
      .map((data) => [data.presign_id, data.sign_id]),
  );
}
