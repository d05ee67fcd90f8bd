import type { MessageInitShape } from "@bufbuild/protobuf";
import { bytesToHex } from "@noble/hashes/utils.js";
import {
  type CreateDWalletRequestSchema,
  type DWallet,
  DWalletKind,
} from "../../../../gen/client/tss/v1/onboarding_pb.ts";
import { type CurveName, curveNumber } from "../../../protocol/algorithms.ts";
import { equalBytes } from "../../../protocol/bytes.ts";
import { isObjectId } from "../../../protocol/chain/object-id.ts";
import { pollObject, sleep } from "../../../protocol/chain/poll.ts";
import { sessionIdentifierDigest } from "../../../protocol/chain/session-identifier.ts";
import {
  publicKeyFromDWalletOutput,
  userPublicOutputFromDWalletOutput,
} from "../../../protocol/dwallet-output.ts";
import { addressesOfKey, type NamedAddress } from "../../../protocol/signatures/addresses.ts";
import { deriveUserShare } from "../../crypto/derive-user-share.ts";
import type { UserKeys } from "../../crypto/engine.ts";
import type { SecretBytes } from "../../crypto/secret-bytes.ts";
import type { Action } from "../action.ts";
import { DWALLET } from "../chain/object-kinds.ts";
import { type CompletedDWallet, parseDWalletOf, rememberActive } from "../chain/read-dwallet.ts";
import type { ClientContext } from "../context.ts";
import { checkCustody } from "../custody/read-custody.ts";
import { TssError } from "../errors.ts";
import type { Curve } from "../names.ts";
import { protoCurve } from "../names.ts";
import { registerKey } from "./register-key.ts";
import { encodeResumeToken, type ImportPoint, type OnboardPoint } from "./resume-token.ts";
import { openSeedShare } from "./seed-share.ts";

/**
 * Completes a dWallet whose DKG was requested: waits for the network, derives the share from the seed, and accepts it.
 * It trusts neither the maker of the dWallet nor the source of its id: a share that does not follow from the seed is
 * SHARE_UNVERIFIED. An Active dWallet is already accepted.
 */
export async function completeOnboard(
  context: ClientContext,
  action: Action<OnboardStage>,
  { seed, curve, dwalletId, sessionDigestHex, importedPublicKey }: CompleteOnboardArgs,
): Promise<OnboardResult> {
  action.facts["dwalletId"] = dwalletId;
  const created = await context.call(action, (callOptions) =>
    context.raw.onboarding.getDWallet({ dwalletId }, callOptions),
  );
  action.stage("dkg");
  const dwallet = await awaitDkg(context, action, dwalletId, curve);
  const publicKey = publicKeyFromDWalletOutput(curve, dwallet.state.publicOutput);
  if (importedPublicKey !== undefined && !equalBytes(publicKey, importedPublicKey))
    throw new TssError("OUTPUT_MISMATCH", "the dWallet is not of the private key; do not use it");
  const { networkEncryptionKeyId } = dwallet;
  action.stage("parameters");
  await context.engine.ready();
  const parameters = await context.parameters.load(action, { curve, networkEncryptionKeyId });
  action.stage("prepare");
  const request = { seed, curve, dwallet, parameters, sessionDigestHex, importedPublicKey };
  const { share, sessionDigest } = await openSeedShare(context, action, request);
  action.own(share);
  action.stage("keys");
  const keys = action.own(await context.engine.deriveUserKeys({ seed, curve, signal: action.signal }));
  const { encryptedUserSecretKeyShareId } = created;
  const accept =
    dwallet.state.kind === "Active"
      ? (created.acceptTxDigest ?? null)
      : await acceptShare(context, action, {
          keys,
          dwallet,
          parameters,
          userSecretKeyShare: share,
          encryptedUserSecretKeyShareId,
          importedPublicKey,
        });
  return {
    dwallet: { id: dwalletId, curve },
    publicKeyHex: bytesToHex(publicKey),
    addresses: addressesOfKey(curve, publicKey),
    userSecretKeyShareHex: bytesToHex(share.reveal()),
    userPublicOutputHex: bytesToHex(userPublicOutputFromDWalletOutput(curve, dwallet.state.publicOutput)),
    encryptedUserSecretKeyShareId,
    sessionDigestHex: bytesToHex(sessionDigest),
    txDigests: { onboard: created.txDigest, accept },
  };
}

/** The stages of an onboarding, in order. */
export type OnboardStage =
  | "network"
  | "parameters"
  | "keys"
  | "register"
  | "prepare"
  | "create"
  | "dkg"
  | "accept"
  | "activate";

/** Arguments of `onboard`. */
export interface OnboardArgs {
  /** The root of the user's keys, 32 bytes. The seed never leaves this process, and the client does not keep it. */
  readonly seed: Uint8Array;
  readonly curve: Curve;
  /**
   * The user that the dWallet belongs to for good: the project's own id of them, 1 to 128 printable ASCII characters.
   * Default: no user, or the user of a caller that is confined to one.
   */
  readonly userReference?: string | undefined;
  /** The time limit of the action, in milliseconds. Default 600,000. */
  readonly timeoutMs?: number | undefined;
}

/** A dWallet that is ready to sign. */
export interface OnboardResult {
  readonly dwallet: { readonly id: string; readonly curve: Curve };
  /** The dWallet's public key from the chain, in hex: 33 bytes compressed for the secp curves, else 32. */
  readonly publicKeyHex: string;
  /** The public key's addresses on the chains that it can sign for. */
  readonly addresses: readonly NamedAddress[];
  /** The user's secret share, in hex. Protect it like the seed. The seed and `sessionDigestHex` derive it again. */
  readonly userSecretKeyShareHex: string;
  readonly userPublicOutputHex: string;
  readonly encryptedUserSecretKeyShareId: string;
  /**
   * The digest of the DKG's session identifier, from which the share is derived. It is public. Keep it with the
   * dWallet's id: it recovers the share without the service, even after the fullnodes have pruned the DKG's
   * transaction.
   */
  readonly sessionDigestHex: string;
  /**
   * The digests of the transactions that requested the DKG and accepted the share. `accept` is null when another sender
   * accepted it.
   */
  readonly txDigests: { readonly onboard: string; readonly accept: string | null };
}

/** Arguments of `resumeOnboard`: those of the onboarding, and the dWallet's id from its error. */
export interface ResumeOnboardArgs extends OnboardArgs {
  readonly dwalletId: string;
  /** The `sessionDigestHex` in the error's metadata. Default: ask the service, then the chain. */
  readonly sessionDigestHex?: string | undefined;
}

/** Arguments of {@link completeOnboard}. */
interface CompleteOnboardArgs extends ResumeOnboardArgs {
  /** The public key of the private key that the user imports. Default: the dWallet is of a DKG, or was accepted. */
  readonly importedPublicKey?: Uint8Array | undefined;
}

/** An onboarding, or an import of a key, with a chosen session. */
export type SessionPoint = (OnboardPoint | ImportPoint) & { readonly sessionIdentifier: Uint8Array };

/** A key that the user imports. */
export interface ImportedKey {
  readonly privateKey: SecretBytes;
  /** The public key of exactly this private key: 33 bytes compressed for the secp curves, else 32. */
  readonly publicKey: Uint8Array;
}

/** Waits for the network's DKG result. A rejection throws at once. */
async function awaitDkg(
  context: ClientContext,
  action: Action<OnboardStage>,
  dwalletId: string,
  curve: CurveName,
): Promise<CompletedDWallet> {
  const dwallet = await pollObject(
    await context.chainReader(action, DWALLET),
    dwalletId,
    (content) => parseDWalletOf(dwalletId, content),
    ["AwaitingKeyHolderSignature", "Active"],
    { timeoutMs: action.remainingMs(), signal: action.signal },
  );
  if (dwallet.curveNumber !== curveNumber(curve)) {
    throw new TssError("OUTPUT_MISMATCH", "the dWallet on the chain is on another curve");
  }
  return dwallet;
}

interface Acceptance {
  readonly keys: UserKeys;
  readonly dwallet: CompletedDWallet;
  readonly parameters: Uint8Array;
  /** The share that this process derived from the seed, never one that it only decrypted. */
  readonly userSecretKeyShare: SecretBytes;
  readonly encryptedUserSecretKeyShareId: string;
  readonly importedPublicKey: Uint8Array | undefined;
}

/**
 * Accepts the encrypted share with the user's signature over the network's output, and waits until the dWallet is
 * Active. It signs only an output that the user's share leads to, with the public key of an imported key, and only if the user can take the dWallet out of the
 * service. Returns the digest of the acceptance, or null when a transaction of another sender accepted it.
 */
async function acceptShare(
  context: ClientContext,
  action: Action<OnboardStage>,
  acceptance: Acceptance,
): Promise<string | null> {
  const { keys, dwallet, parameters, userSecretKeyShare, encryptedUserSecretKeyShareId } = acceptance;
  const { id: dwalletId } = dwallet;
  const { publicOutput } = dwallet.state;
  const { engine } = context;
  const { signal } = action;
  const claim = {
    curve: keys.curve,
    parameters,
    userSecretKeyShare,
    dwalletOutput: publicOutput,
    importedPublicKey: acceptance.importedPublicKey,
    signal,
  };
  if (!(await engine.isOutputOfShare(claim))) {
    throw new TssError("SHARE_MISMATCH", "the network's output does not contain the user's share");
  }
  await checkCustody(context, action, dwallet, keys.signerAddress);
  action.stage("accept");
  const { signerSecretKey } = keys;
  const userOutputSignature = await engine.signAsUser({ signerSecretKey, message: publicOutput, signal });
  const request = { dwalletId, encryptedUserSecretKeyShareId, userOutputSignature };
  const accepted = await context.call(action, (options) =>
    context.raw.onboarding.acceptDWallet(request, options),
  );
  action.stage("activate");
  const active = await pollObject(
    await context.chainReader(action, DWALLET),
    dwalletId,
    (content) => parseDWalletOf(dwalletId, content),
    ["Active"],
    {
      timeoutMs: action.remainingMs(),
      signal: action.signal,
    },
  );
  rememberActive(context, active);
  if (accepted.acceptTxDigest !== undefined) return accepted.acceptTxDigest;
  const read = await context.call(action, (options) =>
    context.raw.onboarding.getDWallet({ dwalletId }, options),
  );
  return read.acceptTxDigest ?? null;
}

/** Makes the only dWallet of a session, of a DKG or of an imported key, or continues with that of an earlier attempt. */
export async function makeDWallet(
  context: ClientContext,
  action: Action<OnboardStage>,
  seed: Uint8Array,
  start: SessionPoint,
  imported?: ImportedKey,
): Promise<OnboardResult> {
  const { curve, sessionIdentifier } = start;
  const importedPublicKey = imported?.publicKey;
  await action.resumeAt(encodeResumeToken(start));
  action.stage("network");
  const network = await context.getNetwork(action);
  const networkEncryptionKeyId = start.networkEncryptionKeyId ?? network.networkEncryptionKeyId;
  const senderAddress = start.senderAddress ?? pickSender(network.senderAddresses, sessionIdentifier);

  action.stage("parameters");
  await context.engine.ready();
  const parameters = await context.parameters.load(action, { curve, networkEncryptionKeyId });

  action.stage("keys");
  const keys = action.own(await context.engine.deriveUserKeys({ seed, curve, signal: action.signal }));

  action.stage("register");
  const { encryptionKey, signerPublicKey } = keys;
  const registered = await registerKey(context, action, keys, start.userReference);

  action.stage("prepare");
  const sessionDigest = sessionIdentifierDigest(sessionIdentifier, senderAddress);
  const share = action.own(deriveUserShare({ seed, curve, networkEncryptionKeyId, sessionDigest }));
  const { signal } = action;
  const input = { curve, userSecretKeyShare: share, sessionDigest, parameters, encryptionKey, signal };
  const prepared =
    imported === undefined
      ? await context.engine.prepareDkg(input)
      : await context.engine.prepareImport({ ...input, privateKey: imported.privateKey });

  action.stage("create");
  const sessionDigestHex = bytesToHex(sessionDigest);
  action.facts["sessionDigestHex"] = sessionDigestHex;
  const point = { ...start, networkEncryptionKeyId, senderAddress };
  await action.resumeAt(encodeResumeToken(point));
  const created = await requestDWallet(context, action, {
    encryptionKeyId: registered.encryptionKeyId,
    curve: protoCurve(curve),
    networkEncryptionKeyId,
    senderAddress,
    sessionIdentifier,
    userDkgMessage: prepared.userDkgMessage,
    encryptedUserShareAndProof: prepared.encryptedUserShareAndProof,
    userPublicOutput: prepared.userPublicOutput,
    signerPublicKey,
    ...(imported !== undefined && { kind: DWalletKind.imported_key }),
    ...(start.name !== undefined && { name: start.name }),
    ...ownerOf(start),
  });
  const { dwalletId } = created;
  action.facts["dwalletId"] = dwalletId;
  if (isObjectId(dwalletId)) await action.resumeAt(encodeResumeToken({ ...point, dwalletId }));
  // An earlier message made the session's dWallet, so the share itself is checked against its contents.
  if (created.isEarlier) {
    const known = { seed, curve, dwalletId, sessionDigestHex, importedPublicKey };
    return await completeOnboard(context, action, known);
  }

  action.stage("dkg");
  const dwallet = await awaitDkg(context, action, dwalletId, curve);
  const implied = userPublicOutputFromDWalletOutput(curve, dwallet.state.publicOutput);
  if (!equalBytes(implied, prepared.userPublicOutput)) {
    throw new TssError("OUTPUT_MISMATCH", "the network's output differs from the user's");
  }
  const shareId = created.encryptedUserSecretKeyShareId;
  const acceptDigest = await acceptShare(context, action, {
    keys,
    dwallet,
    parameters,
    userSecretKeyShare: share,
    encryptedUserSecretKeyShareId: shareId,
    importedPublicKey,
  });
  const publicKey = publicKeyFromDWalletOutput(curve, dwallet.state.publicOutput);
  return {
    dwallet: { id: dwalletId, curve },
    publicKeyHex: bytesToHex(publicKey),
    addresses: addressesOfKey(curve, publicKey),
    userSecretKeyShareHex: bytesToHex(share.reveal()),
    userPublicOutputHex: bytesToHex(prepared.userPublicOutput),
    encryptedUserSecretKeyShareId: shareId,
    sessionDigestHex,
    txDigests: { onboard: created.txDigest, accept: acceptDigest },
  };
}

/** Returns the user of the onboarding, as a part of a request. */
function ownerOf({ userReference }: SessionPoint): { readonly userReference?: string } {
  return userReference === undefined ? {} : { userReference };
}

/** Picks one of the service's senders, always the same one for a session, to spread DKGs over the service's wallets. */
function pickSender(addresses: readonly string[], sessionIdentifier: Uint8Array): string {
  const address = addresses[sessionIdentifier[0]! % addresses.length];
  if (!isObjectId(address))
    throw new TssError("NETWORK_MISMATCH", "the service names no valid sender address");
  return address;
}

/**
 * Requests the DKG of a session. If the session was used before, for example by this action before an interruption,
 * returns the session's dWallet: DKG messages are random, so a repeated request has another message.
 */
async function requestDWallet(
  context: ClientContext,
  action: Action,
  request: MessageInitShape<typeof CreateDWalletRequestSchema>,
): Promise<CreatedDWallet> {
  for (;;) {
    try {
      const created = await context.call(action, (options) =>
        context.raw.onboarding.createDWallet(request, options),
      );
      return { ...created, isEarlier: false };
    } catch (error) {
      if (!(error instanceof TssError) || error.reason !== "SESSION_REUSED") throw error;
      const { dwalletId = "", state } = error.metadata;
      if (isObjectId(dwalletId)) {
        return { dwalletId, encryptedUserSecretKeyShareId: "", txDigest: "", isEarlier: true };
      }
      if (state !== "Submitting") throw error;
      await sleep(RESERVED_PAUSE_MS, action.signal);
    }
  }
}

/** The service's answer to a request for a DKG. */
interface CreatedDWallet extends Pick<DWallet, "dwalletId" | "encryptedUserSecretKeyShareId" | "txDigest"> {
  /** Whether an earlier request with another message already made the session's dWallet. */
  readonly isEarlier: boolean;
}

/** The delay before the next attempt while an earlier request's transaction is pending. */
const RESERVED_PAUSE_MS = 500;
