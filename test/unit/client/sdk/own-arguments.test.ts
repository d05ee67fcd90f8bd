import { expect, test } from "vitest";
import { readKey } from "../../../../src/client/sdk/actions/read-key.ts";
import { findDWallets } from "../../../../src/client/sdk/actions/recovery/find-dwallets.ts";
import type { FindDWalletsArgs } from "../../../../src/client/sdk/actions/recovery/find-dwallets-within.ts";
import { recoverShare } from "../../../../src/client/sdk/actions/recovery/recover-share.ts";
import { resume } from "../../../../src/client/sdk/actions/resume.ts";
import { sign } from "../../../../src/client/sdk/actions/signing/sign.ts";
import { createFakeService, DWALLET, DWALLET_ID, type FakeService, MESSAGE, SEED } from "./fake-service.ts";

const ID = { seed: SEED, curve: "ED25519", dwalletId: DWALLET_ID } as const;
const SIGNING = { ...ID, signatureAlgorithm: "EdDSA", hashScheme: "SHA512", message: MESSAGE } as const;

/** A service with an Active dWallet, and the first token of a signature of it. */
async function activeService(): Promise<{ service: FakeService; token: string }> {
  const service = createFakeService();
  service.script.dwalletState = () => ({ Active: DWALLET.output });
  const tokens: string[] = [];
  await sign(service.context, SIGNING, { onResumeToken: (token) => void tokens.push(token) });
  service.seen.splice(0);
  return { service, token: tokens[0]! };
}

test.each([
  ["readKey", async (context: FakeService["context"], args: typeof ID) => await readKey(context, args)],
  [
    "recoverShare",
    async (context: FakeService["context"], args: typeof ID) => await recoverShare(context, args),
  ],
])("%s uses the dWallet of its call, even if the caller changes the arguments", async (_, act) => {
  const { service } = await activeService();
  const args = { ...ID };
  const result = act(service.context, args);
  Object.assign(args, { dwalletId: `0x${"9".repeat(64)}`, curve: "SECP256K1" });
  await expect(result).resolves.toBeDefined();
});

test("findDWallets searches the curve of its call, even if the caller changes the arguments", async () => {
  const { service } = await activeService();
  const args: FindDWalletsArgs = { seed: SEED, curve: "ED25519" };
  const found = findDWallets(service.context, args);
  Object.assign(args, { curve: "SECP256K1" });
  expect((await found).dwallets).toMatchObject([{ dwalletId: DWALLET_ID, curve: "ED25519" }]);
});

test("resume signs the message of its call, even if the caller changes the buffer", async () => {
  const { service, token } = await activeService();
  const message = Uint8Array.from(MESSAGE);
  const resumed = resume(service.context, token, { seed: SEED, message });
  message.fill(0);
  await expect(resumed).resolves.toMatchObject({ kind: "sign", message: MESSAGE });
});
