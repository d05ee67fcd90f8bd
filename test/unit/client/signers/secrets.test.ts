import { inspect } from "node:util";
import { expect, it } from "vitest";
import { DWalletSigner } from "../../../../src/client/signers/ethers/index.ts";
import { dwalletSolanaSigner } from "../../../../src/client/signers/solana/index.ts";
import { DWalletSuiSigner } from "../../../../src/client/signers/sui/index.ts";
import { dwalletAccount } from "../../../../src/client/signers/viem/index.ts";
import { knownKeyClient } from "../../../support/crypto/known-key-client.ts";

const SHARE = "5ec2e7".repeat(11);
const evm = knownKeyClient("SECP256K1", new Uint8Array(32).fill(0x3c));
const ed = knownKeyClient("ED25519", new Uint8Array(32).fill(0x3c));
const secret = {
  seed: new TextEncoder().encode("a seed that nobody should read!!"),
  userSecretKeyShareHex: SHARE,
};

it.each([
  ["viem's account", dwalletAccount(evm, { ...evm.key, ...secret })],
  ["ethers' signer", new DWalletSigner(evm, { ...evm.key, ...secret })],
  ["Solana Kit's signer", dwalletSolanaSigner(ed, { ...ed.key, ...secret })],
  ["Sui's signer", new DWalletSuiSigner(ed, { ...ed.key, ...secret, curve: "ED25519" })],
])("%s shows neither seed nor share when it is printed", (_, signer) => {
  const printed = [
    inspect(signer, { depth: 20, showHidden: true, getters: true, maxArrayLength: null }),
    JSON.stringify(signer, (_key, value) => (typeof value === "bigint" ? String(value) : value)),
  ].join("\n");
  expect(printed).not.toContain(SHARE);
  expect(printed).not.toContain([...secret.seed].slice(0, 8).join(", "));
  expect(printed).not.toContain('"0":97,"1":32');
});
