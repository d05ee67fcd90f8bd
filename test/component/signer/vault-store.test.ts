import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { passphraseSeal } from "../../../src/signer/seals/passphrase-seal.ts";
import { wrappedSeal } from "../../../src/signer/seals/wrapped-seal.ts";
import { createKeyFile, openKeyFile } from "../../../src/signer/store/file-key-store.ts";
import type { StoredKey } from "../../../src/signer/store/key-store.ts";
import { openVault, type VaultClient, type VaultOptions } from "../../../src/signer/vault/vault-client.ts";
import {
  createVaultStore,
  openVaultStore,
  type VaultStore,
} from "../../../src/signer/vault/vault-key-store.ts";
import { vaultTransit } from "../../../src/signer/vault/vault-transit.ts";
import { type FakeVault, startFakeVault } from "../../support/signer/fake-vault.ts";

const TOKEN = "root-token-of-the-tests";
const seal = passphraseSeal("a passphrase of the tests", 4);
const place = { mount: "secret", path: "team/signer" };

let folder: string;
let server: FakeVault;
let vault: VaultClient;
const opened: VaultStore[] = [];
const at = (name: string) => path.join(folder, name);
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "tss-vault-"));
  writeFileSync(at("token"), TOKEN, { mode: 0o600 });
  server = await startFakeVault();
  vault = openHere();
  await createVaultStore(vault, place, seal);
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  await vault.close();
  await server.close();
  rmSync(folder, { recursive: true });
});

describe("a store in Vault", () => {
  it("has the same keys after it is opened again, also those with names that Vault refuses as paths", async () => {
    const store = await open();
    const keys = ["b..c", "a", "user@x+1:2", "Z_-"].map(newKey);
    for (const key of keys) await store.add({ ...key, seed: Uint8Array.from(key.seed) });
    const dwallet = { dwalletId: "0x1", publicKeyHex: "02", sessionDigestHex: "03" };
    await store.setProgress("a", { kind: "creating", resumeToken: "t" });
    await store.setProgress("a", { kind: "active", dwallet });
    await store.close();
    const found = (await open()).list();
    expect(found).toEqual([keys[3], { ...keys[1], progress: { kind: "active", dwallet } }, keys[0], keys[2]]);
    expect(server.calls.some((call) => call.includes(".."))).toBe(false);
  });

  it("shows Vault no seed", async () => {
    const key = newKey("a");
    await (await open()).add({ ...key, seed: Uint8Array.from(key.seed) });
    const stored = JSON.stringify([...server.entries]);
    for (const form of ["hex", "base64"] as const)
      expect(stored).not.toContain(Buffer.from(key.seed).toString(form));
    const sealed = [...server.entries.values()].flat().map((entry) => String(entry?.["sealed"]));
    for (const each of sealed)
      expect(Buffer.from(each, "base64").includes(Buffer.from(key.seed))).toBe(false);
  });

  it("is not made twice, and not opened where there is none, nor with another passphrase", async () => {
    await expect(createVaultStore(vault, place, seal)).rejects.toThrow("is not overwritten");
    await expect(openVaultStore(vault, { ...place, path: "other" }, seal)).rejects.toThrow("has no store at");
    const other = passphraseSeal("another passphrase of them", 4);
    await expect(openVaultStore(vault, place, other)).rejects.toThrow("the passphrase is wrong");
  });

  it("of two signers has one seed for a name, and none overwrites the other's progress", async () => {
    const [first, second] = [await open(), await open()];
    const [mine, theirs] = [newKey("a"), newKey("a")];
    const kept = await first.add(mine);
    expect(await second.add(theirs)).toEqual(kept);
    expect(second.find("a")?.seed).toEqual(mine.seed);
    await first.setProgress("a", { kind: "creating", resumeToken: "of the first" });
    const late = second.setProgress("a", { kind: "creating", resumeToken: "of the second" });
    await expect(late).rejects.toThrow("another signer has changed the key");
    expect(second.find("a")?.progress).toMatchObject({ resumeToken: "of the first" });
    await second.setProgress("a", { kind: "creating", resumeToken: "of the second" });
    expect((await open()).find("a")?.progress).toMatchObject({ resumeToken: "of the second" });
  });

  it("keeps the dWallet of a key that another signer has finished, also after a refresh", async () => {
    const [first, second] = [await open(), await open()];
    await first.add(newKey("a"));
    await second.refresh();
    const active = (dwalletId: string) =>
      ({ kind: "active", dwallet: { dwalletId, publicKeyHex: "02", sessionDigestHex: "03" } }) as const;
    await first.setProgress("a", active("0x1"));
    await second.refresh();
    for (const late of [{ kind: "creating", resumeToken: "t" } as const, active("0x2")])
      await expect(second.setProgress("a", late)).rejects.toThrow("another signer has changed the key");
    await second.setProgress("a", active("0x1"));
    for (const store of [second, await open()]) expect(store.find("a")?.progress).toEqual(active("0x1"));
  });

  it("is made by one of two commands that run at once, and the other one says so", async () => {
    const elsewhere = { ...place, path: "elsewhere" };
    server.atNext(/^POST .*elsewhere\/head/, async (pass) => {
      server.entries.set("secret/elsewhere/head", [{ sealed: "of the other" }]);
      return await pass();
    });
    await expect(createVaultStore(vault, elsewhere, seal, [newKey("a")])).rejects.toThrow(
      "another process makes a store at secret/elsewhere",
    );
    expect(server.entries.get("secret/elsewhere/head")).toEqual([{ sealed: "of the other" }]);
  });

  it("without its head is not made again over the only copies of its seeds", async () => {
    await (await open()).add(newKey("a"));
    server.entries.delete("secret/team/signer/head");
    await expect(createVaultStore(vault, place, seal)).rejects.toThrow("may be the only copies of seeds");
  });

  it("of two signers has the keys of both after a refresh, and what it has when Vault is away", async () => {
    const [first, second] = [await open(), await open()];
    const key = newKey("a");
    await first.add({ ...key, seed: Uint8Array.from(key.seed) });
    expect(second.find("a")).toBeUndefined();
    await second.refresh();
    expect(second.find("a")).toEqual(key);
    const dwallet = { dwalletId: "0x1", publicKeyHex: "02", sessionDigestHex: "03" };
    await first.setProgress("a", { kind: "active", dwallet });
    await second.refresh();
    expect(second.find("a")?.progress).toEqual({ kind: "active", dwallet });
    const readCount = server.calls.length;
    await second.refresh();
    expect(server.calls.slice(readCount)).toEqual(["GET /v1/secret/metadata/team/signer/keys?list=true"]);
    server.atNext(/^GET/, async () => ({ status: 503 }));
    await expect(second.refresh()).rejects.toThrow("is sealed");
    expect(second.find("a")?.seed).toEqual(key.seed);
  });

  it("keeps the seed of a write whose answer was lost, and knows that a repeated write succeeded", async () => {
    const store = await open();
    server.atNext(/^POST .*keys/, async (pass) => {
      await pass();
      return { status: 500 };
    });
    const first = newKey("a");
    await expect(store.add(first)).rejects.toThrow("Vault answers (500)");
    expect(store.find("a")).toBeUndefined();
    expect((await store.add(newKey("a"))).seed).toEqual(first.seed);
    server.atNext(/^POST .*keys/, async (pass) => {
      await pass();
      return { status: 503 };
    });
    const progress = { kind: "creating", resumeToken: "t" } as const;
    await expect(store.setProgress("a", progress)).rejects.toThrow("is sealed");
    expect(store.find("a")?.progress).toEqual({ kind: "creating" });
    await store.setProgress("a", progress);
    expect(store.find("a")?.progress).toEqual(progress);
  });

  it.each([
    [403, { errors: [`no ${TOKEN} here`] }, /^Vault refuses the token, .* \(403\): no \[redacted\] here$/],
    [404, { errors: [] }, "is not a secrets engine KV of version 2"],
    [204, "", "is not a secrets engine KV of version 2"],
    [200, { data: { version: "1" } }, "is not a secrets engine KV of version 2"],
    [200, "<html>", "something else than JSON"],
    [200, "x".repeat(9 * 1024 * 1024), "more than 8388608 bytes"],
    [307, {}, "redirects, and the signer does not follow"],
    [429, {}, "has too many requests"],
    [503, { errors: ["Vault is sealed"] }, "is sealed or in maintenance (503): Vault is sealed"],
  ])("does not take %d with %j for a stored seed", async (status, body, fault) => {
    const store = await open();
    server.atNext(/^POST/, async () => ({ status, body, headers: { location: "http://127.0.0.1:1/" } }));
    await expect(store.add(newKey("a"))).rejects.toThrow(fault);
    expect(store.find("a")).toBeUndefined();
  });

  it("does not trust an acknowledged write that Vault does not have, or has with another key", async () => {
    const store = await open();
    server.atNext(/^POST/, async () => ({ status: 200, body: { data: { version: 1 } } }));
    await expect(store.add(newKey("a"))).rejects.toThrow("does not return the key");
    await store.add(newKey("b"));
    server.atNext(/^POST/, async () => ({ status: 200, body: { data: { version: 1 } } }));
    server.atNext(/^GET .*keys\/c/, async () => {
      const [data] = server.entries.get("secret/team/signer/keys/b")!;
      return { status: 200, body: { data: { data, metadata: { version: 1 } } } };
    });
    await expect(store.add(newKey("c"))).rejects.toThrow("the file was changed");
    expect(store.list().map(({ name }) => name)).toEqual(["b"]);
  });

  it("does not open with an entry that was swapped, changed or deleted", async () => {
    const store = await open();
    for (const name of ["a", "b"]) await store.add(newKey(name));
    const entry = (name: string) => `secret/team/signer/keys/${name}`;
    const [a, b] = ["a", "b"].map((name) => server.entries.get(entry(name))!);
    server.entries.set(entry("a"), b!);
    await expect(open()).rejects.toThrow("the file was changed");
    server.entries.set(entry("a"), [{ sealed: 7 }]);
    await expect(open()).rejects.toThrow("is not a signer's");
    server.entries.set(entry("a"), [...a!, null]);
    await expect(open()).rejects.toThrow("is deleted");
    server.entries.set(entry("a"), a!);
    await open();
  });

  it("fails in time if Vault does not answer, and not for ever", async () => {
    const hasty = openHere({ timeoutMs: 50 });
    server.atNext(/^POST/, async () => undefined);
    await expect(hasty.call("POST", "secret/data/x", {})).rejects.toThrow("does not answer within 50 ms");
    await hasty.close();
  });

  it("is moved from and to a file with all its keys", async () => {
    const store = await open();
    const key = newKey("a");
    await store.add({ ...key, seed: Uint8Array.from(key.seed) });
    await createKeyFile(at("copy"), seal, store.list());
    const { keys } = await openKeyFile(readFileSync(at("copy")), seal);
    const elsewhere = { ...place, path: "elsewhere" };
    await createVaultStore(vault, elsewhere, seal, keys);
    const moved = await openVaultStore(vault, elsewhere, seal);
    expect(moved.list()).toEqual([key]);
    await moved.close();
  });
});

describe("Vault", () => {
  it("gets the token that the file has now, and the namespace", async () => {
    const own = openHere({ namespace: "team-a" });
    writeFileSync(at("token"), "another-token", { mode: 0o600 });
    await expect(own.call("GET", "secret/data/x")).rejects.toThrow("refuses the token");
    server.tokens.add("another-token");
    await own.call("GET", "secret/data/x");
    expect(server.lastHeaders).toMatchObject({
      "x-vault-token": "another-token",
      "x-vault-namespace": "team-a",
    });
    writeFileSync(at("token"), "two\ntokens", { mode: 0o600 });
    await expect(own.call("GET", "secret/data/x")).rejects.toThrow(/^the file of Vault's token, \S+, has /);
    await own.close();
  });

  it("gets the service account's token once, and again when the login has ended", async () => {
    writeFileSync(at("jwt"), "jwt-of-the-tests\n");
    const login = { kind: "kubernetes", role: "signer", mount: "kubernetes", jwtFile: at("jwt") } as const;
    const own = openHere({ login });
    for (const _ of [1, 2]) await own.call("GET", "secret/data/x");
    server.tokens.clear();
    await own.call("GET", "secret/data/x");
    expect(server.calls.filter((call) => call.includes("login"))).toHaveLength(2);
    await own.close();
    const wrong = openHere({ login: { ...login, role: "other" } });
    await expect(wrong.call("GET", "secret/data/x")).rejects.toThrow("refuses the token");
    await wrong.close();
  });

  it("is reached over TLS by its own authority alone", async () => {
    const pem = (name: string) =>
      path.join(import.meta.dirname, `../../support/service/localhost.${name}.pem`);
    const tls = { cert: readFileSync(pem("cert"), "utf8"), key: readFileSync(pem("key"), "utf8") };
    const secure = await startFakeVault(tls);
    const [trusting, strange] = [pem("cert"), undefined].map((caFile) =>
      openHere({ url: secure.url, caFile }),
    );
    expect(await trusting!.call("GET", "secret/data/x")).toBeUndefined();
    await expect(strange!.call("GET", "secret/data/x")).rejects.toThrow(
      /^Vault does not answer \([A-Z_]*SELF_SIGNED[A-Z_]*\)$/,
    );
    await Promise.all([trusting!.close(), strange!.close()]);
    await secure.close();
  });
});

describe("a key file whose key Vault's Transit wraps", () => {
  const transit = () => wrappedSeal(vaultTransit(vault, "transit", "tss-signer"));

  it("opens with Transit alone", async () => {
    const key = newKey("a");
    await createKeyFile(at("keys"), transit(), [{ ...key, seed: Uint8Array.from(key.seed) }]);
    const sealed = readFileSync(at("keys"));
    expect((await openKeyFile(sealed, transit())).keys).toEqual([key]);
    await expect(openKeyFile(sealed, seal)).rejects.toThrow("wrapped by vault-transit");
    await createKeyFile(at("other"), seal);
    await expect(openKeyFile(readFileSync(at("other")), transit())).rejects.toThrow("a passphrase seals");
  });

  it("does not open with the wrapped key of another file, or with a changed byte", async () => {
    await createKeyFile(at("keys"), transit(), [newKey("a")]);
    const sealed = readFileSync(at("keys"));
    const text = sealed.toString("latin1");
    const context = /"context":"([0-9a-f]{32})"/.exec(text)![1]!;
    const swapped = Buffer.from(text.replace(context, "0".repeat(32)), "latin1");
    await expect(openKeyFile(swapped, transit())).rejects.toThrow("message authentication failed");
    for (const index of [0, 9, text.indexOf('"keyName":"') + 12, sealed.length - 1]) {
      const changed = Buffer.from(sealed);
      changed[index]! ^= 1;
      await expect(openKeyFile(changed, transit()), `byte ${index}`).rejects.toThrow();
    }
  });

  it("is not made if Transit does not return the key that it has wrapped", async () => {
    const plaintext = Buffer.alloc(32).toString("base64");
    server.atNext(/decrypt/, async () => ({ status: 200, body: { data: { plaintext } } }));
    await expect(createKeyFile(at("keys"), transit())).rejects.toThrow("does not return the key");
    server.atNext(/encrypt/, async () => ({ status: 404, body: { errors: [] } }));
    await expect(createKeyFile(at("keys"), transit())).rejects.toThrow("has no Transit key");
  });
});

function openHere(more: Partial<VaultOptions> = {}): VaultClient {
  const login = { kind: "token", file: at("token") } as const;
  return openVault({ url: server.url, login, namespace: undefined, caFile: undefined, ...more });
}

async function open(): Promise<VaultStore> {
  const store = await openVaultStore(vault, place, seal);
  opened.push(store);
  return store;
}

function newKey(name: string): StoredKey {
  const seed = new Uint8Array(randomBytes(32));
  return { name, curve: "ED25519", seed, createTimeMs: 1_700_000_000_000, progress: { kind: "creating" } };
}
