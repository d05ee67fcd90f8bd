/** Which keys the readers find in wallets' formats. ethers, viem and OpenSSL judge. */
import { createCipheriv, pbkdf2Sync } from "node:crypto";
import { encodeBase58, encryptKeystoreJsonSync } from "ethers";
import { bytesToHex, keccak256, toHex } from "viem";
import { mnemonicToAccount, privateKeyToAddress } from "viem/accounts";
import { describe, expect, test } from "vitest";
import {
  keyFromHex,
  keyFromKeystore,
  keyFromSolana,
  keyFromWords,
  TssError,
} from "../../../../src/client/keys/index.ts";
import { ed25519PublicKey } from "../../../support/crypto/private-keys.ts";
import { environment } from "../../../support/environment.ts";

const SECRET = new Uint8Array(32).fill(0x42);
const SECRET_HEX = bytesToHex(SECRET);

/** Returns the field that an error names. Fails if the error repeats one of the secrets. */
async function fieldOf(read: () => unknown, ...secrets: readonly string[]): Promise<string> {
  try {
    await read();
  } catch (error) {
    if (!(error instanceof TssError) || error.reason !== "VALIDATION") throw error;
    const said = `${error.message} ${JSON.stringify(error)} ${String(error.cause)}`;
    for (const secret of secrets) expect(said).not.toContain(secret);
    expect(said.length).toBeLessThan(400);
    return error.metadata["field"] ?? "none";
  }
  return "read";
}

describe("the words of a wallet", () => {
  const words = "test test test test test test test test test test test junk";

  test.each(["m/44'/60'/0'/0/0", "m/44'/60'/1'/0/7", "m/0", "m/2147483647'"] as const)(
    "lead to viem's Ethereum address at %s",
    (path) => {
      const { curve, privateKey } = keyFromWords({ words, path, curve: "SECP256K1" });
      expect(curve).toBe("SECP256K1");
      const { address } = mnemonicToAccount(words, { path: path as never });
      expect(privateKeyToAddress(bytesToHex(privateKey))).toBe(address);
    },
  );

  test("lead to another key with a passphrase, in any case and white space", () => {
    const path = "m/44'/60'/0'/0/0";
    const typed = ` ${words.toUpperCase().replaceAll(" ", " \n\t")} `;
    const key = keyFromWords({ words: typed, path, curve: "SECP256K1", passphrase: "pässphrase" });
    const { address } = mnemonicToAccount(words, { path, passphrase: "pässphrase" } as never);
    expect(privateKeyToAddress(bytesToHex(key.privateKey))).toBe(address);
  });

  test("lead to Solana's address as its wallets derive it", () => {
    const known = `${"abandon ".repeat(11)}about`;
    const key = keyFromWords({ words: known, path: "m/44'/501'/0'/0'", curve: "ED25519" });
    const address = encodeBase58(ed25519PublicKey(key.privateKey));
    expect(address).toBe("HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk");
  });

  const good = { words, path: "m/44'/60'/0'/0/0", curve: "SECP256K1" } as const;
  test.each<[object, string]>([
    [{ words: words.replace("junk", "test") }, "words"],
    [{ words: words.replace("junk", "junks") }, "words"],
    [{ words: "test test" }, "words"],
    [{ words: `${words} ${"x".repeat(1_000)}` }, "words"],
    [{ words: undefined }, "words"],
    [{ path: "44'/60'/0'/0/0" }, "path"],
    [{ path: "m" }, "path"],
    [{ path: "m/2147483648" }, "path"],
    [{ path: `m${"/0".repeat(11)}` }, "path"],
    [{ path: "m/0h" }, "path"],
    [{ curve: "ED25519" }, "path"],
    [{ curve: "SECP256R1" }, "curve"],
    [{ curve: "toString" }, "curve"],
    [{ passphrase: "x".repeat(1_001) }, "passphrase"],
    [{ passphrase: "xxx\ud800" }, "passphrase"],
  ])("are refused by the field %#", async (change, field) => {
    expect(await fieldOf(() => keyFromWords({ ...good, ...change }), "junk", "xxx")).toBe(field);
  });
});

describe("a keystore file", () => {
  const password = "correct horse";
  const address = privateKeyToAddress(SECRET_HEX);
  const scrypt = { N: 1 << 10, r: 8, p: 1 };
  const file = encryptKeystoreJsonSync({ address, privateKey: SECRET_HEX }, password, { scrypt });
  type File = { version: number; address?: string; Crypto: Record<string, never> };
  const changed = (change: (parsed: File) => void): string => {
    const parsed = JSON.parse(file) as File;
    change(parsed);
    return JSON.stringify(parsed);
  };

  test("of ethers is opened with its password, as text and as bytes", async () => {
    for (const each of [password, new TextEncoder().encode(password)])
      expect(await keyFromKeystore({ keystore: file, password: each })).toEqual({
        curve: "SECP256K1",
        privateKey: SECRET,
      });
  });

  test("is not opened with another password", async () => {
    const wrong = "correct horses";
    expect(await fieldOf(() => keyFromKeystore({ keystore: file, password: wrong }), wrong)).toBe("password");
  });

  test("with pbkdf2, encrypted by OpenSSL, is opened", async () => {
    const salt = new Uint8Array(32).fill(1);
    const iv = new Uint8Array(16).fill(2);
    const derived = pbkdf2Sync(password, salt, 1_000, 32, "sha256");
    const cipher = createCipheriv("aes-128-ctr", derived.subarray(0, 16), iv);
    const ciphertext = cipher.update(SECRET);
    const mac = keccak256(new Uint8Array(Buffer.concat([derived.subarray(16), ciphertext])));
    const kdfparams = { c: 1_000, dklen: 32, prf: "hmac-sha256", salt: toHex(salt) };
    const parts = { cipherparams: { iv: toHex(iv) }, ciphertext: ciphertext.toString("hex"), kdfparams, mac };
    const keystore = JSON.stringify({
      version: 3,
      crypto: { cipher: "aes-128-ctr", kdf: "pbkdf2", ...parts },
    });
    expect((await keyFromKeystore({ keystore, password })).privateKey).toEqual(SECRET);
  });

  // Web3 Secret Storage, its own two test vectors. They take some seconds.
  const specified = {
    pbkdf2: {
      cipherparams: { iv: "6087dab2f9fdbbfaddc31a909735c1e6" },
      ciphertext: "5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46",
      kdfparams: {
        c: 262_144,
        dklen: 32,
        prf: "hmac-sha256",
        salt: "ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd",
      },
      mac: "517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2",
    },
    scrypt: {
      cipherparams: { iv: "83dbcc02d8ccb40e466191a123791e0e" },
      ciphertext: "d172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c",
      kdfparams: {
        dklen: 32,
        n: 262_144,
        p: 8,
        r: 1,
        salt: "ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19",
      },
      mac: "2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097",
    },
  };
  test.runIf(environment.isReference).each(["pbkdf2", "scrypt"] as const)(
    "of the format's own test vector with %s has the secret that it names",
    async (kdf) => {
      const crypto = { cipher: "aes-128-ctr", kdf, ...specified[kdf] };
      const keystore = JSON.stringify({ crypto, id: "3198bc9c", version: 3 });
      const { privateKey } = await keyFromKeystore({ keystore, password: "testpassword" });
      expect(toHex(privateKey)).toBe("0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d");
    },
    60_000,
  );

  const whole = (change: object) => (parsed: File) => Object.assign(parsed, change);
  const inner = (change: object) => (parsed: File) => Object.assign(parsed.Crypto, change);
  const params = (change: object) => (parsed: File) =>
    Object.assign(parsed.Crypto["kdfparams"] as never, change);
  test.each<[string, (parsed: File) => void]>([
    ["of another version", whole({ version: 1 })],
    ["without its cryptography", whole({ Crypto: null })],
    ["of another cipher", inner({ cipher: "aes-128-cbc" })],
    ["of another derivation", inner({ kdf: "argon2" })],
    ["that asks for a gigabyte", params({ n: 2 ** 20 })],
    ["that asks for hours", params({ n: 2 ** 18, p: 64 })],
    ["whose blocks alone take a quarter of a gigabyte", params({ n: 2, r: 1, p: 2 ** 21 })],
    ["whose one block takes a hundred megabytes", params({ n: 2, r: 2 ** 20, p: 2 })],
    ["that asks for one block more than the limit", params({ n: 2, r: 1, p: 1_025 })],
    ["whose n is no power of two", params({ n: 1_000 })],
    ["whose n is one", params({ n: 1 })],
    ["whose p is a text", params({ p: "1" })],
    ["whose p is negative", params({ p: -1 })],
    ["whose key is shorter", params({ dklen: 16 })],
    ["whose salt is no hex", params({ salt: "zz" })],
    ["whose salt is long", params({ salt: "00".repeat(65) })],
    ["whose ciphertext is long", inner({ ciphertext: "00".repeat(33) })],
    ["of another address", whole({ address: "00".repeat(20) })],
  ])("%s is refused as a file", async (_, change) => {
    const keystore = changed(change);
    expect(await fieldOf(() => keyFromKeystore({ keystore, password }), password)).toBe("keystore");
  });

  test.each([["{"], ["[]"], ["null"], ["3"], [" ".repeat(10_001)], [undefined as never]])(
    "that is %j is refused as a file",
    async (keystore) => {
      expect(await fieldOf(() => keyFromKeystore({ keystore, password }))).toBe("keystore");
    },
  );

  test("with pbkdf2 of too many rounds or another hash is refused", async () => {
    const crypto = (change: object) => ({
      ...{ cipher: "aes-128-ctr", kdf: "pbkdf2", ...specified.pbkdf2 },
      kdfparams: { ...specified.pbkdf2.kdfparams, ...change },
    });
    for (const change of [{ c: 2_000_001 }, { prf: "hmac-sha512" }]) {
      const keystore = JSON.stringify({ version: 3, crypto: crypto(change) });
      expect(await fieldOf(() => keyFromKeystore({ keystore, password }))).toBe("keystore");
    }
  });

  test("is refused with a password that is too long, or none", async () => {
    for (const wrong of ["x".repeat(1_001), 7 as never, undefined as never])
      expect(await fieldOf(() => keyFromKeystore({ keystore: file, password: wrong }))).toBe("password");
  });
});

describe("a key pair of Solana", () => {
  const pair = Uint8Array.from([...SECRET, ...ed25519PublicKey(SECRET)]);

  test("is read from a file's array and from Base58", () => {
    const key = { curve: "ED25519", privateKey: SECRET };
    expect(keyFromSolana({ keyPair: `${JSON.stringify([...pair])}\n` })).toEqual(key);
    expect(keyFromSolana({ keyPair: encodeBase58(pair) })).toEqual(key);
  });

  const flipped = pair.with(40, pair[40]! ^ 1);
  test.each([
    ["whose public key is another's", JSON.stringify([...flipped])],
    ["that is cut", JSON.stringify([...pair.subarray(1)])],
    ["with a number above 255", JSON.stringify([...pair]).replace("[66", "[322")],
    ["with a fraction", JSON.stringify([...pair]).replace("[66", "[66.5")],
    ["with a text", JSON.stringify([...pair]).replace("[66", '["66"')],
    ["that is another object", '{"0":1}'],
    ["that is no Base58", "0OIl"],
    ["that is cut JSON", "[66,66"],
    ["that is empty", ""],
    ["that is long", `[${"66,".repeat(400)}66]`],
    ["that is no text", 7 as never],
  ])("%s is refused", async (_, keyPair) => {
    expect(await fieldOf(() => keyFromSolana({ keyPair }), "66,66,66")).toBe("keyPair");
  });
});

describe("a key in hex", () => {
  test.each([SECRET_HEX, SECRET_HEX.slice(2), SECRET_HEX.toUpperCase().replace("0X", "0x")])(
    "is read: %#",
    (hex) => {
      const key = keyFromHex({ hex, curve: "SECP256K1" });
      expect(key).toEqual({ curve: "SECP256K1", privateKey: SECRET });
    },
  );

  test.each(["", "0x42", `${SECRET_HEX}00`, "zz".repeat(32), `0x${"00".repeat(32)}`, 7 as never])(
    "is refused otherwise: %#",
    async (hex) => {
      expect(await fieldOf(() => keyFromHex({ hex, curve: "SECP256K1" }), "zzz")).toBe("hex");
    },
  );
});
