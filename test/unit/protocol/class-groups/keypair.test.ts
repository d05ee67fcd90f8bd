import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { byteReader, MalformedBytesError } from "../../../../src/protocol/bytes.ts";
import { classGroupOfCurve, InvalidFormError } from "../../../../src/protocol/class-groups/class-group.ts";
import {
  decodeEncryptionKey,
  deriveClassGroupsKeypair,
  encodeEncryptionKey,
} from "../../../../src/protocol/class-groups/keypair.ts";

/** SHA-256 of the keys that ika-wasm 0.2.1 makes from 32 equal bytes. Seeds 0 and 1 need a second draw. */
const WASM_KEYS = [
  {
    curve: 0,
    seedByte: 0,
    ek: "19e85f7c66f771d329f91b1dbbef22b4f601d703cdc123c899f80002657ea39c",
    dk: "4216bfb0f60e0924240db943341d0c7cc8bab7d3eaf05ff1f1eeba69d3c033e2",
  },
  {
    curve: 1,
    seedByte: 1,
    ek: "d32d01cb0e16f75ebb1521f680e2bfd8cd40c044410c93f45dfe16947ace7ece",
    dk: "d4b657de22d5cb6dc0577cbd74487f18c249d4d5cc43032793d7f535e3333dbf",
  },
  {
    curve: 2,
    seedByte: 2,
    ek: "c1ec9841e40a5544ee16ab19acb1f8f0e75bdb5245f31a8d33844b597fccd837",
    dk: "7756231bfe48b9ebce6097b7dffe5e3cfd51dbad7c7abeabb5645a96ee527100",
  },
  {
    curve: 3,
    seedByte: 1,
    ek: "179fdcacf61406d1fbaf05df1c75f5125873de1cfddbf9372a9709ef2dec1a8f",
    dk: "d4b657de22d5cb6dc0577cbd74487f18c249d4d5cc43032793d7f535e3333dbf",
  },
];

describe("a class-groups key pair", () => {
  it.each(WASM_KEYS)(
    "of curve $curve and seed $seedByte equals the wasm's",
    ({ curve, seedByte, ek, dk }) => {
      const { encryptionKey, decryptionKey } = deriveClassGroupsKeypair(
        curve,
        new Uint8Array(32).fill(seedByte),
      );
      expect(bytesToHex(sha256(encryptionKey))).toBe(ek);
      expect(bytesToHex(sha256(decryptionKey))).toBe(dk);
      expect(encryptionKey).toHaveLength(261);
      expect(decryptionKey).toHaveLength(194);
    },
  );

  it("is refused for an unknown curve or a seed that is not 32 bytes", () => {
    expect(() => deriveClassGroupsKeypair(4, new Uint8Array(32))).toThrow(RangeError);
    expect(() => deriveClassGroupsKeypair(0, new Uint8Array(31))).toThrow(RangeError);
  });
});

describe("an encryption key's bytes", () => {
  const group = classGroupOfCurve(0);
  const bytes = encodeEncryptionKey(group.h);

  it("are read back", () => {
    expect(decodeEncryptionKey(group, bytes)).toEqual(group.h);
  });

  it("are refused with another version, cut short, with a tail, or for another group", () => {
    const changed = bytes.slice();
    changed[0] = 1;
    expect(() => decodeEncryptionKey(group, changed)).toThrow("unknown version 1");
    expect(() => decodeEncryptionKey(group, bytes.subarray(0, 260))).toThrow(MalformedBytesError);
    expect(() => decodeEncryptionKey(group, concatBytes(bytes, Uint8Array.of(0)))).toThrow(
      MalformedBytesError,
    );
    expect(() => decodeEncryptionKey(classGroupOfCurve(1), bytes)).toThrow(InvalidFormError);
  });

  it("wrap the form twice: version, vector, vector", () => {
    const reader = byteReader(bytes, "key");
    expect([reader.uint8(), reader.uleb128(), reader.uleb128(), reader.remaining]).toEqual([
      0, 258, 256, 256,
    ]);
  });
});
