import { createHash } from "node:crypto";
import { CoordinatorInnerModule, SessionsManagerModule } from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import type { GrpcTypes } from "@mysten/sui/grpc";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import { Address, U64 } from "../protocol/chain/fast-bcs.ts";

/** Something on the chain about one dWallet, or about all of the Treasury. */
export interface Sighting {
  /** The same for every fullnode and every read of the event. */
  readonly id: string;
  readonly kind: SightingKind;
  /** Empty if it concerns every dWallet of the Treasury. */
  readonly dwalletId: string;
  /** SHA-256 of the signed message, in hex; empty unless it is a signature. */
  readonly messageSha256: string;
  /** Facts for people and receivers, all texts. */
  readonly facts: Readonly<Record<string, string>>;
}

/** The kinds of sightings, and of what the watchtower tells about them. */
export const SIGHTING_KINDS = [
  "sign",
  "future_sign",
  "presign",
  "release_announced",
  "successor_announced",
  "left",
] as const;

/** One of {@link SIGHTING_KINDS}. */
export type SightingKind = (typeof SIGHTING_KINDS)[number];

/** The packages whose events matter. They never change: an upgrade keeps the package of a type. */
export interface WatchedPackages {
  /** The original package of Ika's coordinator. */
  readonly ika: string;
  /** The first package of the Treasury; undefined if no Treasury is watched. */
  readonly treasury: string | undefined;
}

/** Returns the event types to ask a fullnode for: whole types, or the module of the Treasury's custody. */
export function watchedTypes({ ika, treasury }: WatchedPackages): string[] {
  const pkg = normalizeSuiAddress(ika);
  const requests = ["SignRequestEvent", "FutureSignRequestEvent", "PresignRequestEvent"];
  return [
    ...requests.map(
      (name) => `${pkg}::sessions_manager::DWalletSessionEvent<${pkg}::coordinator_inner::${name}>`,
    ),
    ...(treasury === undefined ? [] : [`${normalizeSuiAddress(treasury)}::custody`]),
  ];
}

/** Returns what an event says about a dWallet, or about all of them; undefined for another event. Throws if it is malformed. */
export function sightingOf(event: GrpcTypes.Event): Sighting | undefined {
  const { eventType = "", contents, transactionDigest = "", eventIndex = 0, checkpoint = 0n } = event;
  const name = /::([A-Za-z]+)>?$/.exec(eventType)?.[1] ?? "";
  const bytes = contents?.value;
  if (bytes === undefined) throw new Error("an event has no contents");
  const found = DECODERS[name]?.(bytes);
  if (found === undefined) return undefined;
  const { kind, dwalletId, message, ...rest } = found;
  const messageSha256 = message === undefined ? "" : sha256(Uint8Array.from(message));
  return {
    // A fullnode that lies about the contents makes another sighting.
    id: uuidOf(`${transactionDigest}/${eventIndex}/${eventType}/${sha256(bytes)}`),
    kind,
    dwalletId,
    messageSha256,
    facts: {
      ...(dwalletId !== "" && { dwallet_id: dwalletId }),
      tx_digest: transactionDigest,
      checkpoint: String(checkpoint),
      ...(messageSha256 !== "" && { message_sha256: messageSha256 }),
      ...rest.facts,
    },
  };
}

interface Decoded {
  readonly kind: SightingKind;
  readonly dwalletId: string;
  readonly message?: ArrayLike<number>;
  readonly facts: Readonly<Record<string, string>>;
}

const session = <T>(struct: T) => SessionsManagerModule.DWalletSessionEvent(struct as never);
const SignRequest = session(CoordinatorInnerModule.SignRequestEvent);
const FutureSignRequest = session(CoordinatorInnerModule.FutureSignRequestEvent);
const PresignRequest = session(CoordinatorInnerModule.PresignRequestEvent);
type DataOf<Name extends "SignRequestEvent" | "FutureSignRequestEvent" | "PresignRequestEvent"> =
  (typeof CoordinatorInnerModule)[Name]["$inferType"];

/** `custody::ReleaseAnnounced` of `move/treasury`. */
const ReleaseAnnounced = bcs.struct("ReleaseAnnounced", {
  treasury_id: Address,
  dwallet_id: Address,
  owner: Address,
  recipient: Address,
  from_epoch: U64,
});

/** `custody::SuccessorAnnounced` of `move/treasury`. */
const SuccessorAnnounced = bcs.struct("SuccessorAnnounced", {
  treasury_id: Address,
  successor: Address,
  from_epoch: U64,
});

/** `custody::DWalletLeft` and `custody::DWalletReleased`. */
const DWalletLeft = bcs.struct("DWalletLeft", {
  treasury_id: Address,
  dwallet_id: Address,
  dwallet_cap_id: Address,
  owner: Address,
  recipient: Address,
});

/** `custody::DWalletMoved`. */
const DWalletMoved = bcs.struct("DWalletMoved", {
  treasury_id: Address,
  dwallet_id: Address,
  dwallet_cap_id: Address,
  curve: bcs.u32(),
  owner: Address,
  successor: Address,
});

const left =
  (by: string) =>
  (bytes: Uint8Array): Decoded => {
    const { dwallet_id: dwalletId, recipient } = DWalletLeft.parse(bytes);
    return { kind: "left", dwalletId, facts: { by, recipient } };
  };

const DECODERS: Readonly<Record<string, (bytes: Uint8Array) => Decoded | undefined>> = {
  SignRequestEvent(bytes) {
    const data = SignRequest.parse(bytes).event_data as DataOf<"SignRequestEvent">;
    const { dwallet_id: dwalletId, sign_id, presign_id, message } = data;
    return { kind: "sign", dwalletId, message, facts: { sign_id, presign_id } };
  },
  FutureSignRequestEvent(bytes) {
    const data = FutureSignRequest.parse(bytes).event_data as DataOf<"FutureSignRequestEvent">;
    const { dwallet_id: dwalletId, partial_centralized_signed_message_id: partial_id, message } = data;
    return { kind: "future_sign", dwalletId, message, facts: { partial_id } };
  },
  PresignRequestEvent(bytes) {
    const data = PresignRequest.parse(bytes).event_data as DataOf<"PresignRequestEvent">;
    // A presign without a dWallet is for any.
    if (data.dwallet_id === null) return undefined;
    return { kind: "presign", dwalletId: data.dwallet_id, facts: { presign_id: data.presign_id } };
  },
  ReleaseAnnounced(bytes) {
    const { dwallet_id: dwalletId, recipient, from_epoch } = ReleaseAnnounced.parse(bytes);
    return { kind: "release_announced", dwalletId, facts: { recipient, from_epoch } };
  },
  SuccessorAnnounced(bytes) {
    const { treasury_id, successor, from_epoch } = SuccessorAnnounced.parse(bytes);
    return { kind: "successor_announced", dwalletId: "", facts: { treasury_id, successor, from_epoch } };
  },
  DWalletLeft: left("owner"),
  DWalletReleased: left("administrator"),
  DWalletMoved(bytes) {
    const { dwallet_id: dwalletId, successor } = DWalletMoved.parse(bytes);
    return { kind: "left", dwalletId, facts: { by: "successor", recipient: successor } };
  },
};

const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");

/** Returns a UUID (version 8) that follows from a text. */
export function uuidOf(text: string): string {
  const hex = sha256(text);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
