import type { UserShareEncryptionKeys } from "@ika.xyz/sdk";
import { bytesToHex } from "@noble/hashes/utils.js";
import { expect } from "vitest";
import { deriveUserKeys } from "../../../src/client/crypto/user-keys.ts";
import { CURVES } from "../../../src/protocol/algorithms.ts";
import { sharedSeed } from "../../component/localnet/shared-sdk.ts";

/** Expects that this project derives the same keys from the shared user's seed as the SDK. */
export function expectOwnKeys(keys: UserShareEncryptionKeys, curveNumber: number): void {
  const own = deriveUserKeys(sharedSeed(), CURVES[curveNumber]!);
  expect(bytesToHex(own.encryptionKey)).toBe(bytesToHex(keys.encryptionKey));
  expect(bytesToHex(own.decryptionKey.reveal())).toBe(bytesToHex(keys.decryptionKey));
}
