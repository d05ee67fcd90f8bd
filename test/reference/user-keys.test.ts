/** Keys of fresh random seeds, which no recording can contain. */

import { UserShareEncryptionKeys } from "@ika.xyz/sdk";
import { bytesToHex } from "@noble/hashes/utils.js";
import { expect, test } from "vitest";
import { deriveUserKeys } from "../../src/client/crypto/user-keys.ts";
import { CURVES } from "../../src/protocol/algorithms.ts";

test.each(CURVES)("on %s a random seed's keys equal the Ika SDK's", async (curve) => {
  const seed = globalThis.crypto.getRandomValues(new Uint8Array(32));
  const own = deriveUserKeys(seed, curve);
  const sdk = await UserShareEncryptionKeys.fromRootSeedKey(seed, curve);
  // The seed is shown if they differ.
  expect([bytesToHex(seed), bytesToHex(own.encryptionKey)]).toEqual([
    bytesToHex(seed),
    bytesToHex(sdk.encryptionKey),
  ]);
  expect(bytesToHex(own.decryptionKey.reveal())).toBe(bytesToHex(sdk.decryptionKey));
  expect(own.signerAddress).toBe(sdk.getSuiAddress());
});
