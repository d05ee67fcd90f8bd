import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { passphraseSeal } from "../../../src/signer/seals/passphrase-seal.ts";
import { createKeyFile, openFileKeyStore, openKeyFile } from "../../../src/signer/store/file-key-store.ts";
import type { KeyStore, StoredKey } from "../../../src/signer/store/key-store.ts";
import { ROOT } from "../../support/repository/source-files.ts";

const PASSPHRASE = "a passphrase of the tests";
/** A cheap cost of scrypt: these tests are not about guesses. */
const LOG_N = 4;
const SEAL = passphraseSeal(PASSPHRASE, LOG_N);

let folder: string;
let file: string;
const opened = new Set<KeyStore>();
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "tss-keys-"));
  file = path.join(folder, "keys.sealed");
  await createKeyFile(file, SEAL);
});
afterEach(async () => {
  for (const store of opened) await store.close();
  opened.clear();
  rmSync(folder, { recursive: true });
});

describe("a key file", () => {
  it("returns the same keys in the order of their names after it is opened again", async () => {
    const store = await open();
    const keys = ["b", "a", "c"].map(newKey);
    const copies = keys.map((key) => ({ ...key, seed: Uint8Array.from(key.seed) }));
    await Promise.all(keys.map((key) => store.add(key)));
    const dwallet = { dwalletId: "0x1", publicKeyHex: "02", sessionDigestHex: "03" };
    await store.setProgress("a", { kind: "active", dwallet });
    await close(store);
    const found = (await open()).list();
    expect(found).toEqual([{ ...copies[1], progress: { kind: "active", dwallet } }, copies[0], copies[2]]);
  });

  it("of the first format opens", async () => {
    const written =
      "VFNTS0VZUzEEUkR6OlZW35Pyns4SnWF7FNLh4Y9m5jyeHXY7jIiI+PZksKkjjNCyP4yosrPLe3vGd5K7W/sNrFv/tFX4U2ts" +
      "gFn4HlGEL4q4+RSM2cg/m5hXo60+NL0ZZj6QqIY5xDFCEy98VHoAJiS209dTx0Xhf5eRJd7FBgXogaCDLsjn2lEKicXj3kJW" +
      "IS0Ox0PUnA7/S+PB56bjjAO92lpthoYYQlez+zeesTlHRLqs6AW4KQo7D9Biby0a54hGSj+G4H+wIr8N2UPdb9e9W5rJwPJR" +
      "lyL7Y05IqZ6Am7a5mrdF8ytOLtwVkqi/77Lj4U/JPBlfbgE7hWyYbjTHI/971Nyd4wmkTrvCAEE5";
    const { keys } = await openKeyFile(Buffer.from(written, "base64"), SEAL);
    expect(keys).toEqual([{ ...newKey("old"), seed: new Uint8Array(32).fill(7) }]);
  });

  it("contains neither a seed nor a name in clear text, and belongs to its owner alone", async () => {
    const store = await open();
    const key = newKey("treasury");
    await store.add(key);
    const content = readFileSync(file);
    expect(content.includes(Buffer.from(key.seed))).toBe(false);
    expect(content.includes(Buffer.from(key.seed).toString("hex"))).toBe(false);
    expect(content.includes("treasury")).toBe(false);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("is refused with another passphrase, and if any one byte was changed or cut", async () => {
    const store = await open();
    await store.add(newKey("a"));
    await close(store);
    await expect(readKeyFile(file, `${PASSPHRASE}!`)).rejects.toThrow("the passphrase is wrong");
    const content = readFileSync(file);
    for (const at of [0, 8, 9, 41, 65, content.length - 1]) {
      const changed = Buffer.from(content);
      changed[at]! ^= 1;
      writeFileSync(file, changed);
      await expect(readKeyFile(file, PASSPHRASE), `byte ${at}`).rejects.toThrow(/^the (?:passphrase|file) /);
    }
    for (const length of [0, 64, content.length - 1]) {
      writeFileSync(file, content.subarray(0, length));
      await expect(readKeyFile(file, PASSPHRASE), `${length} bytes`).rejects.toThrow(
        /^the (?:passphrase|file) /,
      );
    }
  });

  it("never makes scrypt take more memory than a signer may have", async () => {
    const content = readFileSync(file);
    content[8] = 40;
    writeFileSync(file, content);
    await expect(readKeyFile(file, PASSPHRASE)).rejects.toThrow("unknown cost of scrypt");
  });

  it("is never overwritten by a new one, and a missing one is not made by opening it", async () => {
    const before = readFileSync(file);
    await expect(createKeyFile(file, SEAL)).rejects.toThrow("exists, and is not overwritten");
    expect(readFileSync(file)).toEqual(before);
    await expect(openFileKeyStore(path.join(folder, "other"), SEAL)).rejects.toThrow("there is no key file");
    expect(readdirSync(folder)).toEqual(["keys.sealed"]);
  });

  it("needs a passphrase of 16 characters", async () => {
    await expect(createKeyFile(path.join(folder, "other"), passphraseSeal("short", LOG_N))).rejects.toThrow(
      "16 characters",
    );
  });

  it("is used by one process at a time", async () => {
    const store = await open();
    await expect(open()).rejects.toThrow(`process ${process.pid} uses the key file`);
    await close(store);
    await open();
  });

  it("is not overwritten if another process has written it in spite of the lock", async () => {
    const store = await open();
    const elsewhere = path.join(folder, "elsewhere");
    copyFileSync(file, elsewhere);
    const other = await open(elsewhere);
    await other.add(newKey("from elsewhere"));
    copyFileSync(elsewhere, file);
    await expect(store.add(newKey("lost"))).rejects.toThrow("another process has changed the key file");
    expect(store.find("lost")).toBeUndefined();
    expect((await readKeyFile(file, PASSPHRASE)).keys.map(({ name }) => name)).toEqual(["from elsewhere"]);
  });

  it("keeps no key in memory that could not be written", async () => {
    const store = await open();
    await store.add(newKey("kept"));
    const moved = `${folder}-moved`;
    rmSync(folder, { recursive: true });
    try {
      await expect(store.add(newKey("unwritten"))).rejects.toThrow("ENOENT");
      await expect(store.setProgress("kept", { kind: "creating", resumeToken: "t" })).rejects.toThrow(
        "ENOENT",
      );
      expect(store.list()).toMatchObject([{ name: "kept", progress: { kind: "creating" } }]);
      expect(store.find("kept")?.progress).toEqual({ kind: "creating" });
    } finally {
      folder = mkdtempSync(moved);
    }
  });

  it("works with the leftover of a write that a crash interrupted", async () => {
    writeFileSync(`${file}.partial`, "half a file", { mode: 0o644 });
    const store = await open();
    await store.add(newKey("a"));
    await close(store);
    expect((await readKeyFile(file, PASSPHRASE)).keys.map(({ name }) => name)).toEqual(["a"]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("has every key that a killed process has acknowledged", async () => {
    const program = `
      import { openFileKeyStore } from ${JSON.stringify(path.join(ROOT, "src/signer/store/file-key-store.ts"))};
      import { passphraseSeal } from ${JSON.stringify(path.join(ROOT, "src/signer/seals/passphrase-seal.ts"))};
      const seal = passphraseSeal(${JSON.stringify(PASSPHRASE)});
      const store = await openFileKeyStore(${JSON.stringify(file)}, seal);
      for (let count = 0; ; count++) {
        const name = "key-" + count;
        const seed = globalThis.crypto.getRandomValues(new Uint8Array(32));
        const key = { name, curve: "ED25519", seed, createTimeMs: 0, progress: { kind: "creating" } };
        await store.add(key);
        process.stdout.write(name + " " + Buffer.from(seed).toString("hex") + "\\n");
      }`;
    const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(child, "exit");
    const acknowledged: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      acknowledged.push(line);
      if (acknowledged.length === 25) child.kill("SIGKILL");
    }
    await exited;
    const kept = (await open())
      .list()
      .map(({ name, seed }) => `${name} ${Buffer.from(seed).toString("hex")}`);
    expect(acknowledged.length).toBeGreaterThanOrEqual(25);
    expect(kept).toEqual(expect.arrayContaining(acknowledged));
  });
});

function readKeyFile(at: string, passphrase: string) {
  return openKeyFile(readFileSync(at), passphraseSeal(passphrase, LOG_N));
}

async function open(at = file): Promise<KeyStore> {
  const store = await openFileKeyStore(at, SEAL);
  opened.add(store);
  return store;
}

async function close(store: KeyStore): Promise<void> {
  opened.delete(store);
  await store.close();
}

function newKey(name: string): StoredKey {
  const seed = new Uint8Array(randomBytes(32));
  return { name, curve: "ED25519", seed, createTimeMs: 1_700_000_000_000, progress: { kind: "creating" } };
}
