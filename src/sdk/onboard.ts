import { deriveUserShare } from "../crypto/derive-user-share.ts";
import { addressesOfKey } from "../protocol/addresses.ts";
import { bytesToHex, equalBytes } from "../protocol/bytes.ts";
import { publicKeyFromDWalletOutput, userPublicOutputFromDWalletOutput } from "../protocol/dwallet-output.ts";
import { sessionIdentifierDigest } from "../protocol/session-identifier.ts";
import { type Action, type ActionOptions, runAction } from "./action.ts";
import { call } from "./call.ts";
import { checkCurve, checkSeed, isObjectId } from "./checks.ts";
import { completeOnboard } from "./complete-onboard.ts";
import type { ClientContext } from "./context.ts";
import { createDWallet } from "./create-dwallet.ts";
import { TssError } from "./errors.ts";
import { acceptShare, awaitDkg } from "./finish-onboard.ts";
import { type Curve, type Network, protoCurve } from "./names.ts";
import type { OnboardArgs, OnboardResult, OnboardStage } from "./onboard-types.ts";
import { ownSeed } from "./own-seed.ts";
import type { OnboardPoint } from "./resume-token.ts";

/**
 * Makes a dWallet whose user half comes from this process and whose other half stays with the network: registers the
 * user's encryption key, prepares and requests the DKG, waits for the network, checks its output and accepts it.
 *
 * Throws a TssError. One that `resume` can go on from has a `resumeToken`, from the first call on: the DKG's session is
 * chosen before it, and the service makes one dWallet for one session. After OUTPUT_MISMATCH nothing goes on: onboard again.
 */
export async function onboard(
  context: ClientContext,
  { seed, curve, timeoutMs = 600_000 }: OnboardArgs,
  options: ActionOptions<OnboardStage> = {},
): Promise<OnboardResult> {
  checkSeed(seed);
  checkCurve(curve);
  const point = newOnboardPoint(context.network, curve);
  return await runAction(timeoutMs, options, (action) =>
    makeDWallet(context, action, ownSeed(action, seed), point),
  );
}

/** The beginning of an onboarding: its DKG's session is named by 32 random bytes. */
export function newOnboardPoint(network: Network, curve: Curve): SessionPoint {
  const sessionIdentifier = globalThis.crypto.getRandomValues(new Uint8Array(32));
  return { kind: "onboard", network, curve, sessionIdentifier };
}

/** An onboarding whose session was chosen. */
export type SessionPoint = OnboardPoint & { readonly sessionIdentifier: Uint8Array };

/** Makes the one dWallet of a session, or goes on with the one that was made for it before. */
export async function makeDWallet(
  context: ClientContext,
  action: Action<OnboardStage>,
  seed: Uint8Array,
  start: SessionPoint,
): Promise<OnboardResult> {
  const { curve, sessionIdentifier } = start;
  await action.resumeAt(start);
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
  const registration = {
    curve: protoCurve(curve),
    encryptionKey,
    signature: await context.engine.signAsUser({
      signerSecretKey: keys.signerSecretKey,
      message: encryptionKey,
      signal: action.signal,
    }),
    signerPublicKey,
  };
  const registered = await call(action, (callOptions) =>
    context.raw.onboarding.registerEncryptionKey(registration, callOptions),
  );
  if (registered.signerAddress !== keys.signerAddress) {
    throw new TssError("OUTPUT_MISMATCH", "the service registered the key for another signer");
  }

  action.stage("prepare");
  const sessionDigest = sessionIdentifierDigest(sessionIdentifier, senderAddress);
  const share = action.own(deriveUserShare({ seed, curve, networkEncryptionKeyId, sessionDigest }));
  const prepared = await context.engine.prepareDkg({
    curve,
    userSecretKeyShare: share,
    sessionDigest,
    parameters,
    encryptionKey,
    signal: action.signal,
  });

  action.stage("create");
  const sessionDigestHex = bytesToHex(sessionDigest);
  action.facts["sessionDigestHex"] = sessionDigestHex;
  const point = { ...start, networkEncryptionKeyId, senderAddress };
  await action.resumeAt(point);
  const created = await createDWallet(context, action, {
    encryptionKeyId: registered.encryptionKeyId,
    curve: protoCurve(curve),
    networkEncryptionKeyId,
    senderAddress,
    sessionIdentifier,
    userDkgMessage: prepared.userDkgMessage,
    encryptedUserShareAndProof: prepared.encryptedUserShareAndProof,
    userPublicOutput: prepared.userPublicOutput,
    signerPublicKey,
    ...(start.name !== undefined && { name: start.name }),
  });
  const { dwalletId } = created;
  action.facts["dwalletId"] = dwalletId;
  if (isObjectId(dwalletId)) await action.resumeAt({ ...point, dwalletId });
  // The session's dWallet was made from an earlier message: what it holds is compared with the share itself.
  if (created.isEarlier) {
    return await completeOnboard(context, action, { seed, curve, dwalletId, sessionDigestHex });
  }

  action.stage("dkg");
  const dwallet = await awaitDkg(context, action, dwalletId, curve);
  const implied = userPublicOutputFromDWalletOutput(curve, dwallet.state.publicOutput);
  if (!equalBytes(implied, prepared.userPublicOutput)) {
    throw new TssError("OUTPUT_MISMATCH", "the network's output is not the one that the user computed");
  }
  const shareId = created.encryptedUserSecretKeyShareId;
  const acceptDigest = await acceptShare(context, action, {
    keys,
    dwallet,
    parameters,
    userSecretKeyShare: share,
    encryptedUserSecretKeyShareId: shareId,
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

/** One of the service's senders, so that DKGs spread over its wallets: always the same one for one session. */
function pickSender(addresses: readonly string[], sessionIdentifier: Uint8Array): string {
  const address = addresses[sessionIdentifier[0]! % addresses.length];
  if (address === undefined || !/^0x[0-9a-f]{64}$/.test(address))
    throw new TssError("NETWORK_MISMATCH", "the service names no sender address, or something else as one");
  return address;
}
