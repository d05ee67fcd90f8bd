import { expect, test } from "vitest";
import { readKey } from "../../../../src/client/sdk/actions/read-key.ts";
import { publicKeyFromDWalletOutput } from "../../../../src/protocol/dwallet-output.ts";
import { makeDWallet } from "../../../support/crypto/made-dwallet.ts";
import { createFakeService, DWALLET, DWALLET_ID, SEED } from "./fake-service.ts";

const args = { dwalletId: DWALLET_ID, curve: "ED25519" } as const;

test("the public key of a dWallet is read from the chain, once, and never from the service", async () => {
  const service = createFakeService();
  let readCount = 0;
  service.script.dwalletState = () => {
    readCount++;
    return { Active: DWALLET.output };
  };
  const key = await readKey(service.context, args);
  const publicKey = publicKeyFromDWalletOutput("ED25519", DWALLET.output);
  expect(key.publicKeyHex).toBe(Buffer.from(publicKey).toString("hex"));
  expect(key.dwallet).toEqual({ id: DWALLET_ID, curve: "ED25519" });
  expect(key.addresses.map(({ kind }) => kind)).toEqual(["solana", "sui"]);
  expect(await readKey(service.context, args)).toEqual(key);
  expect(readCount).toBe(1);
  expect(service.counts()).toEqual({});
});

test("the key of a dWallet that is not Active, or on another curve, is refused", async () => {
  const service = createFakeService();
  service.script.dwalletState = () => ({ AwaitingKeyHolderSignature: DWALLET.output });
  await expect(readKey(service.context, args)).rejects.toMatchObject({ reason: "DWALLET_NOT_ACTIVE" });
  const other = { ...args, curve: "SECP256K1" } as const;
  await expect(readKey(service.context, other)).rejects.toMatchObject({ reason: "UNSUPPORTED_ALGORITHM" });
  const malformed = { ...args, dwalletId: "0x1" };
  await expect(readKey(service.context, malformed)).rejects.toMatchObject({
    reason: "VALIDATION",
    metadata: { field: "dwalletId" },
  });
});

test("a read with the seed proves that the public key follows from the user's share", async () => {
  const service = createFakeService();
  service.script.dwalletState = () => ({ Active: DWALLET.output });
  const { publicKeyHex } = await readKey(service.context, args);
  await expect(readKey(service.context, { ...args, seed: SEED })).resolves.toMatchObject({ publicKeyHex });
  const share = Buffer.from(DWALLET.userSecretKeyShare).toString("hex");
  const given = { ...args, seed: SEED, userSecretKeyShareHex: share };
  await expect(readKey(service.context, given)).resolves.toMatchObject({ publicKeyHex });
});

test("a read with the seed refuses a public key that the fullnode invented", async () => {
  const service = createFakeService();
  const other = makeDWallet(new Uint8Array([0, 32, ...new Uint8Array(32).fill(3)]));
  service.script.dwalletState = () => ({ Active: other.output });
  await expect(readKey(service.context, { ...args, seed: SEED })).rejects.toMatchObject({
    reason: "SHARE_UNVERIFIED",
  });
  const share = Buffer.from(DWALLET.userSecretKeyShare).toString("hex");
  const given = { ...args, seed: SEED, userSecretKeyShareHex: share };
  await expect(readKey(service.context, given)).rejects.toMatchObject({ reason: "SHARE_MISMATCH" });
});
