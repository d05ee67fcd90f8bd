import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Secp256k1Keypair } from "@mysten/sui/keypairs/secp256k1";
import { Secp256r1Keypair } from "@mysten/sui/keypairs/secp256r1";
import { afterAll, expect, it } from "vitest";
import { readKeyFile } from "../../../../src/cli/treasury/key-files.ts";

const folder = mkdtempSync(path.join(tmpdir(), "keys-"));
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;
function fileWith(text: string, mode = 0o600): string {
  count += 1;
  const file = path.join(folder, String(count));
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

it.each([
  ["Ed25519", new Ed25519Keypair()],
  ["Secp256k1", new Secp256k1Keypair()],
  ["Secp256r1", new Secp256r1Keypair()],
])("a key file may contain Sui's own form of an %s key", (_scheme, key) => {
  expect(readKeyFile(fileWith(`${key.getSecretKey()}\n`)).toSuiAddress()).toBe(key.toSuiAddress());
});

it("a key file may contain an Ed25519 key in hex, with or without 0x", () => {
  const secret = Buffer.alloc(32, 7);
  const address = Ed25519Keypair.fromSecretKey(secret).toSuiAddress();
  for (const text of [secret.toString("hex"), `0x${secret.toString("hex").toUpperCase()}\n`])
    expect(readKeyFile(fileWith(text)).toSuiAddress()).toBe(address);
});

it.each([0o640, 0o604, 0o610, 0o644])("a key file that others may open is refused: mode %o", (mode) => {
  expect(() => readKeyFile(fileWith("11".repeat(32), mode))).toThrow("chmod 600");
});

it("a file without a key is refused, and its content is never quoted", () => {
  for (const text of ["", "secret-words", "11".repeat(31), "suiprivkey1qqqq", "x".repeat(2_000)]) {
    const refuse = () => readKeyFile(fileWith(text));
    expect(refuse).toThrow(/the key file/);
    if (text !== "") expect(refuse).not.toThrow(new RegExp(text));
  }
});
