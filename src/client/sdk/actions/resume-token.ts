import { bcs } from "@mysten/sui/bcs";
import { fromBase58, toBase58 } from "@mysten/sui/utils";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import {
  type AlgorithmTriple,
  type CurveName,
  curveNumber,
  curveOfNumber,
  findTripleByNumbers,
} from "../../../protocol/algorithms.ts";
import { equalBytes, hexToBytes } from "../../../protocol/bytes.ts";
import { isDWalletName, isIdempotencyKey, isUserReference } from "../checks.ts";
import { TssError } from "../errors.ts";
import type { Network } from "../names.ts";

/** Encodes a token: version, body and checksum, in Base58. The checksum detects typing errors but proves nothing. */
export function encodeResumeToken(point: ResumePoint): string {
  const network = NETWORKS.indexOf(point.network);
  const body = Body.serialize({ network, point: encodePoint(point) }).toBytes();
  const versioned = concatBytes(Uint8Array.of(VERSION), body);
  return PREFIX + toBase58(concatBytes(versioned, checksumOf(versioned)));
}

/** The point of an onboarding. It has a session identifier, the dWallet's id, or both. */
export interface OnboardPoint {
  readonly kind: "onboard";
  readonly network: Network;
  readonly curve: CurveName;
  /** 32 random bytes that name the DKG. They are public. */
  readonly sessionIdentifier?: Uint8Array | undefined;
  readonly senderAddress?: string | undefined;
  readonly networkEncryptionKeyId?: string | undefined;
  readonly dwalletId?: string | undefined;
  /** The dWallet's name in the project. */
  readonly name?: string | undefined;
  /** The user that the dWallet is made for. */
  readonly userReference?: string | undefined;
}

/** The point of an import of a key, with the fields of an onboarding. */
export interface ImportPoint extends Omit<OnboardPoint, "kind"> {
  readonly kind: "import";
}

/** The point of a signature. It has an idempotency key, the sign request's id, or both. */
export interface SignPoint {
  readonly kind: "sign";
  readonly network: Network;
  readonly dwalletId: string;
  readonly triple: AlgorithmTriple;
  /** SHA-256 of the message, 32 bytes. The message itself is public on the chain. */
  readonly messageDigest: Uint8Array;
  readonly idempotencyKey?: string | undefined;
  readonly signRequestId?: string | undefined;
}

/** The point of an action. It contains only public ids. */
export type ResumePoint = OnboardPoint | ImportPoint | SignPoint;

const NETWORKS = ["localnet", "testnet", "mainnet"] as const satisfies readonly Network[];
const id = bcs.option(bcs.bytes(32));

const onboardFields = {
  curve: bcs.u8(),
  sessionIdentifier: id,
  senderAddress: id,
  networkEncryptionKeyId: id,
  dwalletId: id,
  name: bcs.option(bcs.string()),
};

/**
 * The layout of a token's body, which follows the version. Older clients read all points but those of a user and those of
 * an import.
 */
const Body = bcs.struct("ResumeToken", {
  network: bcs.u8(),
  point: bcs.enum("ResumePoint", {
    onboard: bcs.struct("OnboardPoint", onboardFields),
    sign: bcs.struct("SignPoint", {
      curve: bcs.u8(),
      signatureAlgorithm: bcs.u8(),
      hash: bcs.u8(),
      dwalletId: bcs.bytes(32),
      messageDigest: bcs.bytes(32),
      idempotencyKey: bcs.option(bcs.string()),
      signRequestId: bcs.option(bcs.bytes(16)),
    }),
    onboardUser: bcs.struct("OnboardUserPoint", { ...onboardFields, userReference: bcs.string() }),
    importKey: bcs.struct("ImportPoint", { ...onboardFields, userReference: bcs.option(bcs.string()) }),
  }),
});

const PREFIX = "resume_";
const VERSION = 1;
const CHECKSUM_BYTES = 4;
const MAX_CHARACTERS = 1_200;

/**
 * Reads a token for a client of one network. Its contents are not trusted: anyone can make a token. Throws VALIDATION,
 * whose message distinguishes a truncated or changed token, another version and another network.
 */
export function readResumeToken(token: string, network: Network): ResumePoint {
  const bytes = readBytes(token);
  if (bytes.length <= CHECKSUM_BYTES) throw malformed();
  const versioned = bytes.subarray(0, -CHECKSUM_BYTES);
  if (!equalBytes(checksumOf(versioned), bytes.subarray(-CHECKSUM_BYTES))) throw malformed();
  if (versioned[0] !== VERSION)
    throw invalid(`is of version ${versioned[0]}; this client reads version ${VERSION}`);
  const point = decodeBody(versioned.subarray(1));
  if (point === undefined) throw malformed();
  if (point.network !== network) throw invalid(`is of ${point.network}; this client is for ${network}`);
  return point;
}

function readBytes(token: string): Uint8Array {
  if (typeof token !== "string" || token.length > MAX_CHARACTERS || !token.startsWith(PREFIX))
    throw malformed();
  try {
    return fromBase58(token.slice(PREFIX.length));
  } catch {
    throw malformed();
  }
}

/** Decodes the point, or returns undefined for a body that `encodeResumeToken` never writes. */
function decodeBody(body: Uint8Array): ResumePoint | undefined {
  try {
    const parsed = Body.parse(body);
    if (!equalBytes(Body.serialize(parsed).toBytes(), body)) return undefined;
    const network = NETWORKS[parsed.network];
    return network && decodePoint(network, parsed.point);
  } catch {
    return undefined;
  }
}

function encodePoint(point: ResumePoint): (typeof Body)["$inferInput"]["point"] {
  if (point.kind !== "sign") {
    const { sessionIdentifier, senderAddress, networkEncryptionKeyId, dwalletId, userReference } = point;
    const onboard = {
      curve: curveNumber(point.curve),
      sessionIdentifier: sessionIdentifier ?? null,
      senderAddress: idBytes(senderAddress),
      networkEncryptionKeyId: idBytes(networkEncryptionKeyId),
      dwalletId: idBytes(dwalletId),
      name: point.name ?? null,
    };
    if (point.kind === "import") return { importKey: { ...onboard, userReference: userReference ?? null } };
    return userReference === undefined ? { onboard } : { onboardUser: { ...onboard, userReference } };
  }
  const { triple, dwalletId, messageDigest, idempotencyKey, signRequestId } = point;
  return {
    sign: {
      curve: triple.curveNumber,
      signatureAlgorithm: triple.signatureAlgorithmNumber,
      hash: triple.hashNumber,
      dwalletId: hexToBytes(dwalletId.slice(2)),
      messageDigest,
      idempotencyKey: idempotencyKey ?? null,
      signRequestId: signRequestId === undefined ? null : hexToBytes(signRequestId.replaceAll("-", "")),
    },
  };
}

function decodePoint(
  network: Network,
  { onboard: ofNobody, onboardUser, importKey, sign }: (typeof Body)["$inferType"]["point"],
): ResumePoint | undefined {
  const onboard = ofNobody ?? onboardUser ?? importKey;
  if (onboard) {
    const curve = curveOfNumber(onboard.curve);
    const { sessionIdentifier, dwalletId, name } = onboard;
    if (curve === undefined || (sessionIdentifier === null && dwalletId === null)) return undefined;
    if (name !== null && !isDWalletName(name)) return undefined;
    const userReference = onboardUser?.userReference ?? importKey?.userReference ?? undefined;
    if (userReference !== undefined && !isUserReference(userReference)) return undefined;
    return {
      kind: importKey === undefined ? "onboard" : "import",
      network,
      curve,
      sessionIdentifier: sessionIdentifier ?? undefined,
      senderAddress: idText(onboard.senderAddress),
      networkEncryptionKeyId: idText(onboard.networkEncryptionKeyId),
      dwalletId: idText(dwalletId),
      name: name ?? undefined,
      ...(userReference !== undefined && { userReference }),
    };
  }
  if (!sign) return undefined;
  const triple = findTripleByNumbers(sign.curve, sign.signatureAlgorithm, sign.hash);
  const { idempotencyKey, signRequestId } = sign;
  if (triple === undefined || (idempotencyKey === null && signRequestId === null)) return undefined;
  if (idempotencyKey !== null && !isIdempotencyKey(idempotencyKey)) return undefined;
  return {
    kind: "sign",
    network,
    triple,
    dwalletId: idText(sign.dwalletId) ?? "",
    messageDigest: sign.messageDigest,
    idempotencyKey: idempotencyKey ?? undefined,
    signRequestId: signRequestId === null ? undefined : uuidText(signRequestId),
  };
}

function idBytes(text: string | undefined): Uint8Array | null {
  return text === undefined ? null : hexToBytes(text.slice(2));
}

function idText(bytes: Uint8Array | null): string | undefined {
  return bytes === null ? undefined : `0x${bytesToHex(bytes)}`;
}

function uuidText(bytes: Uint8Array): string {
  return bytesToHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function checksumOf(bytes: Uint8Array): Uint8Array {
  return sha256(bytes).slice(0, CHECKSUM_BYTES);
}

function malformed(): TssError {
  return invalid("is not a resume token, or was truncated or changed");
}

function invalid(problem: string): TssError {
  return new TssError("VALIDATION", `token: ${problem}`, { metadata: { field: "token" } });
}
