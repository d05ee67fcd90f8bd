import { bcs } from "@mysten/sui/bcs";
import { parseStruct } from "./chain-objects.ts";
import { Address, U64 } from "./fast-bcs.ts";

/** Reads `coordinator_inner::PartialUserSignature`. */
export function parsePartialSignature(content: Uint8Array): ChainPartialSignature {
  const raw = parseStruct("partial signature", PartialUserSignature, content);
  return {
    id: raw.id,
    dwalletId: raw.dwallet_id,
    presignId: raw.presign_cap.presign_id,
    message: Uint8Array.from(raw.message),
    userSignMessage: Uint8Array.from(raw.message_centralized_signature),
    stateKind: raw.state.$kind,
  };
}

/** A user's half of a signature that the chain keeps. */
interface ChainPartialSignature {
  readonly id: string;
  readonly dwalletId: string;
  readonly presignId: string;
  readonly message: Uint8Array;
  readonly userSignMessage: Uint8Array;
  readonly stateKind:
    | "AwaitingNetworkVerification"
    | "NetworkVerificationCompleted"
    | "NetworkVerificationRejected";
}

/** `coordinator_inner::PartialUserSignature`. */
const PartialUserSignature = bcs.struct("PartialUserSignature", {
  id: Address,
  created_at_epoch: U64,
  presign_cap: bcs.struct("VerifiedPresignCap", {
    id: Address,
    dwallet_id: bcs.option(Address),
    presign_id: Address,
  }),
  dwallet_id: Address,
  cap_id: Address,
  curve: bcs.u32(),
  signature_algorithm: bcs.u32(),
  hash_scheme: bcs.u32(),
  message: bcs.vector(bcs.u8()),
  message_centralized_signature: bcs.vector(bcs.u8()),
  state: bcs.enum("PartialUserSignatureState", {
    AwaitingNetworkVerification: null,
    NetworkVerificationCompleted: null,
    NetworkVerificationRejected: null,
  }),
});
