import { bytesToHex } from "@noble/hashes/utils.js";
import { deriveUserShare } from "../crypto/derive-user-share.ts";
import { addressesOfKey } from "../protocol/addresses.ts";
import { equalBytes } from "../protocol/bytes.ts";
import { publicKeyFromDWalletOutput, userPublicOutputFromDWalletOutput } from "../protocol/dwallet-output.ts";
import { sessionIdentifierDigest } from "../protocol/session-identifier.ts";
import type { Action } from "./action.ts";
import { isObjectId } from "./checks.ts";
import { completeOnboard } from "./complete-onboard.ts";
import type { ClientContext } from "./context.ts";
import { TssError } from "./errors.ts";
import { acceptShare, awaitDkg } from "./finish-onboard.ts";
import { protoCurve } from "./names.ts";
import type { SessionPoint } from "./onboard.ts";
import type { OnboardResult, OnboardStage } from "./onboard-types.ts";
import { requestDWallet } from "./request-dwallet.ts";
import { encodeResumeToken } from "./resume-token.ts";

/** Makes the only dWallet of a session, or continues with the one that an earlier attempt made. */
export async function makeDWallet(
  context: ClientContext,
  action: Action<OnboardStage>,
  seed: Uint8Array,
  start: SessionPoint,
): Promise<OnboardResult> {
  const { curve, sessionIdentifier } = start;
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
  const registered = await context.call(action, (callOptions) =>
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
    ...(start.name !== undefined && { name: start.name }),
  });
  const { dwalletId } = created;
  action.facts["dwalletId"] = dwalletId;
  if (isObjectId(dwalletId)) await action.resumeAt(encodeResumeToken({ ...point, dwalletId }));
  // An earlier message made the session's dWallet, so the share itself is checked against its contents.
  if (created.isEarlier) {
    return await completeOnboard(context, action, { seed, curve, dwalletId, sessionDigestHex });
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

/** Picks one of the service's senders, always the same one for a session, to spread DKGs over the service's wallets. */
function pickSender(addresses: readonly string[], sessionIdentifier: Uint8Array): string {
  const address = addresses[sessionIdentifier[0]! % addresses.length];
  if (address === undefined || !/^0x[0-9a-f]{64}$/.test(address))
    throw new TssError("NETWORK_MISMATCH", "the service names no valid sender address");
  return address;
}
