import { Ed25519PublicKey } from "@mysten/sui/keypairs/ed25519";
import { Secp256k1PublicKey } from "@mysten/sui/keypairs/secp256k1";
import { Secp256r1PublicKey } from "@mysten/sui/keypairs/secp256r1";
import { encodeAddress } from "@polkadot/util-crypto";
import { networks, payments } from "bitcoinjs-lib";
import { computeAddress, encodeBase58, hexlify } from "ethers";
import fc from "fast-check";
import { pointFromScalar } from "tiny-secp256k1";
import { expect, test } from "vitest";
import { hexToBytes } from "../../../src/protocol/bytes.ts";
import {
  addressesOfKey,
  addressOfKey,
  bitcoinP2pkhAddress,
  bitcoinP2shP2wpkhAddress,
  bitcoinP2trAddress,
  bitcoinP2wpkhAddress,
  ethereumAddress,
  polkadotAddress,
  solanaAddress,
  suiAddress,
} from "../../../src/protocol/signatures/addresses.ts";
import { SIGNATURE_VECTORS } from "../../support/crypto/signature-vectors.ts";

const secpKey = fc
  .bigInt({ min: 1n, max: 2n ** 255n })
  .map((scalar) => pointFromScalar(hexToBytes(scalar.toString(16).padStart(64, "0")), true)!);
const key32 = fc.uint8Array({ minLength: 32, maxLength: 32 });

test("Ethereum addresses and their checksums equal ethers' own", () => {
  fc.assert(
    fc.property(secpKey, (key) => {
      expect(ethereumAddress(key)).toBe(computeAddress(hexlify(key)));
    }),
    { numRuns: 30 },
  );
});

test("Solana addresses are base58 of the key, with leading zeros", () => {
  fc.assert(
    fc.property(key32, fc.integer({ min: 0, max: 3 }), (key, zeroCount) => {
      const padded = key.slice().fill(0, 0, zeroCount);
      // ethers' base58 omits leading zero bytes, each of which is one `1`.
      const leading = padded.findIndex((byte) => byte !== 0);
      const digits = encodeBase58(padded).replace(/^1+/, "");
      expect(solanaAddress(padded)).toBe("1".repeat(Math.max(0, leading)) + digits);
    }),
    { numRuns: 30 },
  );
});

test("Polkadot addresses equal Polkadot's own for every prefix", () => {
  fc.assert(
    fc.property(key32, fc.integer({ min: 0, max: 45 }), (key, prefix) => {
      expect(polkadotAddress(key, prefix)).toBe(encodeAddress(key, prefix));
      expect(polkadotAddress(key)).toBe(encodeAddress(key, 42));
    }),
    { numRuns: 30 },
  );
  expect(() => polkadotAddress(new Uint8Array(32), 64)).toThrow(RangeError);
});

test("Sui addresses equal Sui's own for each scheme", () => {
  fc.assert(
    fc.property(key32, secpKey, (key, secp) => {
      expect(suiAddress("ED25519", key)).toBe(new Ed25519PublicKey(key).toSuiAddress());
      expect(suiAddress("SECP256K1", secp)).toBe(new Secp256k1PublicKey(secp).toSuiAddress());
      expect(suiAddress("SECP256R1", secp)).toBe(new Secp256r1PublicKey(secp).toSuiAddress());
    }),
    { numRuns: 30 },
  );
});

test("segregated-witness addresses equal those of BIP-173 and BIP-350", () => {
  const key = hexToBytes("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798");
  expect(bitcoinP2wpkhAddress(key)).toBe("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4");
  expect(bitcoinP2wpkhAddress(key, "tb")).toBe("tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx");
  expect(bitcoinP2trAddress(key)).toBe("bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0");
});

test("each Bitcoin address equals bitcoinjs-lib's, on each network", () => {
  fc.assert(
    fc.property(secpKey, (pubkey) => {
      for (const [prefix, network] of [
        ["bc", networks.bitcoin],
        ["tb", networks.testnet],
        ["bcrt", networks.regtest],
      ] as const) {
        const nested = payments.p2wpkh({ pubkey, network });
        expect(bitcoinP2wpkhAddress(pubkey, prefix)).toBe(nested.address);
        expect(bitcoinP2shP2wpkhAddress(pubkey, prefix)).toBe(
          payments.p2sh({ redeem: nested, network }).address,
        );
        expect(bitcoinP2pkhAddress(pubkey, prefix)).toBe(payments.p2pkh({ pubkey, network }).address);
      }
    }),
    { numRuns: 20 },
  );
});

test("no key of another form or curve has an address, because coins sent there would be lost", () => {
  const secp = hexToBytes("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798");
  // Its x coordinate, 5, is on no point of the curve.
  const offCurve = hexToBytes(`02${"5".padStart(64, "0")}`);
  const uncompressed = pointFromScalar(hexToBytes("1".padStart(64, "0")), false)!;
  const short = secp.subarray(1);
  const ofSecp = [
    ...[ethereumAddress, bitcoinP2wpkhAddress, bitcoinP2trAddress],
    ...[bitcoinP2pkhAddress, bitcoinP2shP2wpkhAddress],
  ];
  for (const key of [offCurve, uncompressed, short])
    for (const addressOf of ofSecp) expect(() => addressOf(key)).toThrow(RangeError);
  for (const scheme of ["SECP256K1", "SECP256R1"] as const) {
    for (const key of [uncompressed, short, Uint8Array.of(5, ...short)])
      expect(() => suiAddress(scheme, key)).toThrow(RangeError);
  }
  for (const addressOf of [solanaAddress, polkadotAddress, (key: Uint8Array) => suiAddress("ED25519", key)])
    expect(() => addressOf(secp)).toThrow("32 bytes, not 33");
});

test("each algorithm has the address of its chain", () => {
  const kinds = SIGNATURE_VECTORS.map(({ triple, publicKey }) => [
    `${triple.signatureAlgorithm} ${triple.hash}`,
    addressOfKey(triple.signatureAlgorithm, triple.hash, publicKey).kind,
  ]);
  expect(Object.fromEntries(kinds)).toEqual({
    "ECDSASecp256k1 KECCAK256": "ethereum",
    "ECDSASecp256k1 SHA256": "ethereum",
    "ECDSASecp256k1 DoubleSHA256": "bitcoin-p2wpkh",
    "Taproot SHA256": "bitcoin-p2tr",
    "ECDSASecp256r1 SHA256": "sui",
    "EdDSA SHA512": "solana",
    "Schnorrkel Merlin": "polkadot",
  });
});

test.each([
  ["SECP256K1", ["ethereum", "bitcoin-p2wpkh", "bitcoin-p2tr", "sui"]],
  ["SECP256R1", ["sui"]],
  ["ED25519", ["solana", "sui"]],
  ["RISTRETTO", ["polkadot"]],
] as const)("a key on %s has each of these addresses once, and none of another key", (curve, kinds) => {
  const keyOf = (scalar: number) =>
    curve.startsWith("SECP")
      ? pointFromScalar(new Uint8Array(32).fill(scalar), true)!
      : new Uint8Array(32).fill(scalar);
  const [one, other] = [addressesOfKey(curve, keyOf(1)), addressesOfKey(curve, keyOf(2))];
  expect(one.map(({ kind }) => kind)).toEqual(kinds);
  expect(new Set([...one, ...other].map(({ address }) => address)).size).toBe(2 * kinds.length);
});
