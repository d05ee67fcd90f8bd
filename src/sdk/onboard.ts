import { deriveUserShare } from "../crypto/derive-user-share.ts";
import { signEncryptionKey } from "../crypto/user-keys.ts";
import { addressesOfKey } from "../protocol/addresses.ts";
import { bytesToHex, equalBytes } from "../protocol/bytes.ts";
import { publicKeyFromDWalletOutput, userPublicOutputFromDWalletOutput } from "../protocol/dwallet-output.ts";
import { sessionIdentifierDigest } from "../protocol/session-identifier.ts";
import { type ActionOptions, runAction } from "./action.ts";
import { call } from "./call.ts";
import { checkCurve, checkSeed } from "./checks.ts";
import type { ClientContext } from "./context.ts";
import { TssError } from "./errors.ts";
import { acceptShare, awaitDkg } from "./finish-onboard.ts";
import { protoCurve } from "./names.ts";
import type { OnboardArgs, OnboardResult, OnboardStage } from "./onboard-types.ts";

/**
 * Makes a dWallet whose user half comes from this process and whose other half stays with the network: registers the
 * user's encryption key, prepares and requests the DKG, waits for the network, checks its output and accepts it.
 *
 * Throws a TssError. After TIMEOUT or ABORTED its metadata has `dwalletId` once there is one, and `sessionDigestHex`:
 * `resumeOnboard` goes on from there. After OUTPUT_MISMATCH nothing does: onboard again.
 */
export async function onboard(
  context: ClientContext,
  { seed, curve, timeoutMs = 600_000 }: OnboardArgs,
  options: ActionOptions<OnboardStage> = {},
): Promise<OnboardResult> {
  checkSeed(seed);
  checkCurve(curve);
  return await runAction(timeoutMs, options, async (action) => {
    action.stage("network");
    const network = await context.getNetwork(action);
    const { networkEncryptionKeyId } = network;
    const senderAddress = pickSender(network.senderAddresses);

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
      signature: signEncryptionKey(keys),
      signerPublicKey,
    };
    const registered = await call(action, (callOptions) =>
      context.raw.onboarding.registerEncryptionKey(registration, callOptions),
    );
    if (registered.signerAddress !== keys.signerAddress) {
      throw new TssError("OUTPUT_MISMATCH", "the service registered the key for another signer");
    }

    action.stage("prepare");
    const sessionIdentifier = globalThis.crypto.getRandomValues(new Uint8Array(32));
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
    action.facts["sessionDigestHex"] = bytesToHex(sessionDigest);
    const request = {
      encryptionKeyId: registered.encryptionKeyId,
      curve: protoCurve(curve),
      networkEncryptionKeyId,
      senderAddress,
      sessionIdentifier,
      userDkgMessage: prepared.userDkgMessage,
      encryptedUserShareAndProof: prepared.encryptedUserShareAndProof,
      userPublicOutput: prepared.userPublicOutput,
      signerPublicKey,
    };
    const created = await call(action, (callOptions) =>
      context.raw.onboarding.createDWallet(request, callOptions),
    );
    action.facts["dwalletId"] = created.dwalletId;

    action.stage("dkg");
    const dwallet = await awaitDkg(context, action, created.dwalletId, curve);
    const implied = userPublicOutputFromDWalletOutput(curve, dwallet.state.publicOutput);
    if (!equalBytes(implied, prepared.userPublicOutput)) {
      throw new TssError("OUTPUT_MISMATCH", "the network's output is not the one that the user computed");
    }
    const shareId = created.encryptedUserSecretKeyShareId;
    const acceptDigest = await acceptShare(context, action, {
      keys,
      dwallet,
      parameters,
      userSecretKeyShare: share.reveal(),
      encryptedUserSecretKeyShareId: shareId,
    });
    const publicKey = publicKeyFromDWalletOutput(curve, dwallet.state.publicOutput);
    return {
      dwallet: { id: created.dwalletId, curve },
      publicKeyHex: bytesToHex(publicKey),
      addresses: addressesOfKey(curve, publicKey),
      userSecretKeyShareHex: bytesToHex(share.reveal()),
      userPublicOutputHex: bytesToHex(prepared.userPublicOutput),
      encryptedUserSecretKeyShareId: shareId,
      sessionDigestHex: bytesToHex(sessionDigest),
      txDigests: { onboard: created.txDigest, accept: acceptDigest },
    };
  });
}

/** One of the service's senders at random, so that DKGs spread over its wallets. */
function pickSender(addresses: readonly string[]): string {
  const random = globalThis.crypto.getRandomValues(new Uint32Array(1))[0]!;
  const address = addresses[random % addresses.length];
  if (address === undefined || !/^0x[0-9a-f]{64}$/.test(address))
    throw new TssError("NETWORK_MISMATCH", "the service names no sender address, or something else as one");
  return address;
}
