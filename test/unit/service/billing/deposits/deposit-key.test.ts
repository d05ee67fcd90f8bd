import { readFileSync } from "node:fs";
import { bytesToHex } from "@noble/hashes/utils.js";
import { expect, test } from "vitest";
import { hexToBytes } from "../../../../../src/protocol/bytes.ts";
import {
  deriveDepositAddress,
  deriveDepositKey,
} from "../../../../../src/service/billing/deposits/request-address.ts";
import { Secret } from "../../../../../src/service/platform/telemetry/secret.ts";
import { readSource } from "../../../../support/repository/source-files.ts";

// Computed with Python's hmac and hashlib, and the Ed25519 of its `cryptography` package.
const vectors = JSON.parse(readFileSync(new URL("./deposit-key.vectors.json", import.meta.url), "utf8")) as {
  masterSeedHex: string;
  network: string;
  projectId: string;
  reference: string;
  secretHex: string;
  publicKeyHex: string;
  address: string;
}[];

test.each(vectors)(
  "the deposit key of $projectId and '$reference' on $network equals the vector's",
  (vector) => {
    const seed = new Secret(hexToBytes(vector.masterSeedHex));
    const key = deriveDepositKey(seed, vector.network, {
      ...vector,
      projectId: vector.projectId.toUpperCase(),
    });
    expect(bytesToHex(key.getPublicKey().toRawBytes())).toBe(vector.publicKeyHex);
    expect(key.toSuiAddress()).toBe(vector.address);
  },
);

test("a cached deposit address belongs to its own seed, network and project", () => {
  const seeds = vectors.map(({ masterSeedHex }) => new Secret(hexToBytes(masterSeedHex)));
  // Each address is requested twice, the second time among those of all others.
  for (let round = 0; round < 2; round++) {
    for (const [index, { network, address, ...owner }] of vectors.entries()) {
      expect(deriveDepositAddress(seeds[index]!, network, owner)).toBe(address);
      for (const other of seeds) deriveDepositAddress(other, network, owner);
    }
  }
});

test("the documents have the same vectors", () => {
  const documented = readSource("docs/deposits.md").text;
  for (const { masterSeedHex, network, projectId, reference, secretHex, publicKeyHex, address } of vectors) {
    expect(documented).toContain(
      `master seed  ${masterSeedHex}\ninfo         ${network}:${projectId}${reference && `:${reference}`}\nsecret       ${secretHex}\n` +
        `public key   ${publicKeyHex}\naddress      ${address}\n`,
    );
  }
});

test("a seed of a wrong length is refused without being shown", () => {
  const seed = new Secret(hexToBytes("abcd"));
  expect(() =>
    deriveDepositKey(seed, "localnet", { projectId: vectors[0]!.projectId, reference: "" }),
  ).toThrow("the master seed must have 32 bytes");
});
