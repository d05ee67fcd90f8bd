import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Curve, UserShareEncryptionKeys } from "@ika.xyz/sdk";
import { startLocalnetChild } from "./localnet-child.ts";
import { connectSdk, type SdkDriver } from "./sdk-driver.ts";
import { registeredKeys } from "./sdk-steps.ts";

/**
 * A localnet with real cryptography, and a user on it, for several suites. On each curve, the SDK takes about ten
 * seconds for the network's parameters, and as long for a user's keys.
 */

let shared: Promise<{ sdk: SdkDriver; close(): Promise<void> }> | undefined;
const users = new Map<Curve, Promise<UserShareEncryptionKeys>>();

/** The SDK on the shared localnet, which the first call starts. */
export async function sharedSdk(): Promise<SdkDriver> {
  shared ??= start();
  return (await shared).sdk;
}

/** The keys of the shared user on a curve, registered. */
export async function sharedKeys(curve: Curve): Promise<UserShareEncryptionKeys> {
  let keys = users.get(curve);
  if (keys === undefined) {
    keys = registeredKeys(await sharedSdk(), curve, 21);
    users.set(curve, keys);
  }
  return keys;
}

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
