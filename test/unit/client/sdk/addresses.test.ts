import { expect, it } from "vitest";
import * as addresses from "../../../../src/client/sdk/addresses.ts";

it("the addresses of a key are those of its networks", () => {
  const ed25519 = new Uint8Array(32).fill(7);
  const secp256k1 = Uint8Array.from(
    Buffer.from("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798", "hex"),
  );
  // The addresses of the secret key 1, as other wallets show them.
  expect(addresses.ethereumAddress(secp256k1)).toBe("0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf");
  expect(addresses.bitcoinP2wpkhAddress(secp256k1)).toBe("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4");
  expect(addresses.bitcoinP2wpkhAddress(secp256k1, "tb")).toBe("tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx");
  expect(addresses.bitcoinP2trAddress(secp256k1)).toMatch(/^bc1p/);
  expect(addresses.solanaAddress(new Uint8Array(32))).toBe("1".repeat(32));
  expect(addresses.polkadotAddress(ed25519, 0)).not.toBe(addresses.polkadotAddress(ed25519));
  expect(addresses.suiAddress("ED25519", ed25519)).toMatch(/^0x[0-9a-f]{64}$/);
  expect(addresses.addressesOfKey("ED25519", ed25519).map(({ kind }) => kind)).toContain("solana");
});
