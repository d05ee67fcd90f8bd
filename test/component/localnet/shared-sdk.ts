import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Curve,
  createRandomSessionIdentifier,
  type DKGRequestInput,
  prepareDKGAsync,
  type UserShareEncryptionKeys,
} from "@ika.xyz/sdk";
import { startLocalnetChild } from "./localnet-child.ts";
import { type ActiveDwallet, connectSdk, me, type SdkDriver } from "./sdk-driver.ts";
import { derivedKeys } from "./sdk-shortcuts.ts";
import { type ImportedDwallet, importKey } from "./sdk-steps.ts";
import { OWN_SECRETS } from "./sdk-triples.ts";

/**
 * A localnet with real cryptography, and a user with dWallets on it, for several suites. On each curve, the SDK takes
 * about ten seconds for the network's parameters, and three for the message of a DKG.
 */

let shared: Promise<{ sdk: SdkDriver; close(): Promise<void> }> | undefined;

/** The SDK on the shared localnet, which the first call starts. */
export async function sharedSdk(): Promise<SdkDriver> {
  shared ??= start();
  return (await shared).sdk;
}

/** The keys of the shared user on a curve, registered. */
export const sharedKeys: (curve: Curve) => Promise<UserShareEncryptionKeys> = perCurve(async (curve) => {
  const sdk = await sharedSdk();
  const keys = await derivedKeys(sharedSeed(), curve);
  await sdk.registerKey(keys, curve);
  return keys;
});

/** A dWallet that the shared user has accepted. */
export const sharedDwallet: (curve: Curve) => Promise<SharedDwallet> = perCurve(async (curve) => {
  const [sdk, keys] = [await sharedSdk(), await sharedKeys(curve)];
  const session = createRandomSessionIdentifier();
  const dkg = await prepareDKGAsync(sdk.ika, curve, keys, session, me);
  const requested = await sdk.requestDkg(keys, curve, dkg, session);
  return { dkg, shareId: requested.shareId, dwallet: await sdk.accept(keys, dkg, requested) };
});

/** A dWallet, the share of which is `dkg.userSecretKeyShare`. */
export interface SharedDwallet {
  readonly dkg: DKGRequestInput;
  readonly shareId: string;
  readonly dwallet: ActiveDwallet;
}

/** The dWallet of the user's own key, {@link OWN_SECRETS}, that the shared user has accepted. */
export const sharedImport: (curve: Curve) => Promise<ImportedDwallet> = perCurve(async (curve) =>
  importKey(await sharedSdk(), await sharedKeys(curve), curve, OWN_SECRETS[curve]),
);

/** The share of a DKG that no dWallet came from. */
export const unusedShare: (curve: Curve) => Promise<Uint8Array> = perCurve(async (curve) => {
  const [sdk, keys] = [await sharedSdk(), await sharedKeys(curve)];
  const dkg = await prepareDKGAsync(sdk.ika, curve, keys, createRandomSessionIdentifier(), me);
  return dkg.userSecretKeyShare;
});

/** Makes something once for each curve. */
function perCurve<T>(make: (curve: Curve) => Promise<T>): (curve: Curve) => Promise<T> {
  const made = new Map<Curve, Promise<T>>();
  return (curve) => {
    let one = made.get(curve);
    if (one === undefined) {
      one = make(curve);
      made.set(curve, one);
    }
    return one;
  };
}

/** The shared user's root seed. */
export const sharedSeed = (): Uint8Array => new Uint8Array(32).fill(SEED);

const SEED = 21;

/** Ends the shared localnet. */
export async function closeSharedSdk(): Promise<void> {
  await (await shared)?.close();
}

async function start() {
  const folder = await mkdtemp(join(tmpdir(), "localnet-shared-"));
  const network = await startLocalnetChild(folder, "real");
  return {
    sdk: await connectSdk(network),
    close: async () => {
      network.child.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
