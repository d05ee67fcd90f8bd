import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { passphraseSeal } from "../../../src/signer/seals/passphrase-seal.ts";
import { createKeyFile, openFileKeyStore } from "../../../src/signer/store/file-key-store.ts";
import { startFakeVault } from "../../support/signer/fake-vault.ts";
import { printed, runCli } from "./run-cli.ts";

const PASSPHRASE = "correct horse battery staple";
const ID = `0x${"d".repeat(64)}`;
let folder: string;
let environment: Record<string, string>;
const at = (name: string) => path.join(folder, name);
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tss-signer-cli-"));
  writeFileSync(at("passphrase"), `${PASSPHRASE}\n`, { mode: 0o600 });
  environment = {
    SIGNER_STORE: at("data/keys"),
    SIGNER_PASSPHRASE_FILE: at("passphrase"),
    LOG_LEVEL: "silent",
  };
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("tss signer", () => {
  it("creates a key file, says that its loss is final, and never overwrites it", async () => {
    const { exitCode, out, err } = await runCli(["signer", "create"], environment);
    expect([exitCode, out]).toEqual([0, `created ${at("data/keys")}, without keys`]);
    expect(err).toContain("lost for good");
    expect(statSync(at("data/keys")).mode & 0o777).toBe(0o600);
    const content = readFileSync(at("data/keys"));
    expect(await runCli(["signer", "create"], environment)).toMatchObject({ exitCode: 1 });
    expect(readFileSync(at("data/keys"))).toEqual(content);
  });

  it("makes a backup while the signer has the file open, and restores it where there is none", async () => {
    await printed(["signer", "create"], environment);
    const store = await openFileKeyStore(at("data/keys"), passphraseSeal(PASSPHRASE));
    const key = { name: "a", curve: "ED25519", seed: new Uint8Array(32).fill(9), createTimeMs: 0 } as const;
    await store.add({ ...key, progress: { kind: "creating" } });
    expect(await printed(["signer", "backup", "--out", at("copy")], environment)).toContain("with 1 key(s)");
    await store.close();
    expect(statSync(at("copy")).mode & 0o777).toBe(0o600);
    const restore = ["signer", "restore", "--from", at("copy")];
    expect(await runCli(restore, environment)).toMatchObject({ exitCode: 1 });
    rmSync(at("data"), { recursive: true });
    await printed(restore, environment);
    const restored = await openFileKeyStore(at("data/keys"), passphraseSeal(PASSPHRASE));
    expect(restored.find("a")?.seed).toEqual(new Uint8Array(32).fill(9));
    await restored.close();
  });

  it("moves the keys to Vault under another seal, and back to a file, and overwrites neither", async () => {
    const vault = await startFakeVault();
    try {
      await printed(["signer", "create"], environment);
      const store = await openFileKeyStore(at("data/keys"), passphraseSeal(PASSPHRASE));
      const seed = new Uint8Array(32).fill(9);
      await store.add({ name: "a", curve: "ED25519", seed, createTimeMs: 0, progress: { kind: "creating" } });
      await store.close();
      await printed(["signer", "backup", "--out", at("copy")], environment);
      writeFileSync(at("vault-token"), "root-token-of-the-tests", { mode: 0o600 });
      const inVault = {
        ...environment,
        SIGNER_STORE: "vault:secret/signer",
        SIGNER_SEAL: "vault-transit:transit/signer",
        SIGNER_VAULT_URL: vault.url,
        SIGNER_VAULT_TOKEN_FILE: at("vault-token"),
      };
      const restore = ["signer", "restore", "--from", at("copy"), "--from-seal", "passphrase"];
      expect(await printed(restore, inVault)).toBe("wrote the store secret/signer in Vault, with 1 key(s)");
      for (const again of [restore, ["signer", "create"]])
        expect(await runCli(again, inVault)).toMatchObject({
          exitCode: 1,
          err: expect.stringContaining("is not overwritten"),
        });
      await printed(["signer", "backup", "--out", at("copy-of-vault")], inVault);
      const back = ["--from", at("copy-of-vault"), "--from-seal", "vault-transit:transit/signer"];
      const settings = { ...inVault, SIGNER_STORE: at("new/keys"), SIGNER_SEAL: "passphrase" };
      await printed(["signer", "restore", ...back], settings);
      const moved = await openFileKeyStore(at("new/keys"), passphraseSeal(PASSPHRASE));
      expect(moved.find("a")?.seed).toEqual(new Uint8Array(32).fill(9));
      await moved.close();
      const elsewhere: Record<string, string> = { ...settings, SIGNER_STORE: at("typed/keys") };
      const { SIGNER_PASSPHRASE_FILE: _, ...asking } = elsewhere;
      const mistyped = await runCli(["signer", "restore", ...back], asking, undefined, [PASSPHRASE, "other"]);
      expect(mistyped).toMatchObject({ exitCode: 2, err: expect.stringContaining("passphrases differ") });
      expect(existsSync(at("typed/keys"))).toBe(false);
      const unknown = await runCli([...restore.slice(0, 4), "--from-seal", "none"], inVault);
      expect(unknown).toMatchObject({ exitCode: 2, err: expect.stringContaining("aws-kms:<key>") });
    } finally {
      await vault.close();
    }
  });

  it.each([["create"], ["backup", "--out", "x"], ["restore", "--from", "x"]])(
    "%s says that a store in memory has nothing but its master seed",
    async (...verb) => {
      const memory = { SIGNER_STORE: "memory", SIGNER_MASTER_SEED_HEX: "0f".repeat(32) };
      const { exitCode, err } = await runCli(["signer", ...verb], memory);
      expect([exitCode, err]).toEqual([2, expect.stringContaining("the master seed is all there is")]);
    },
  );

  it("serve refuses a master seed that others may read or that is none, and quotes nothing", async () => {
    writeFileSync(at("seed"), "0f0f0f", { mode: 0o600 });
    writeFileSync(at("api-key"), "tss_local_0123456789abcdef", { mode: 0o600 });
    const serve = () =>
      runCli(["signer", "serve"], {
        SIGNER_STORE: "memory",
        SIGNER_MASTER_SEED_FILE: at("seed"),
        SIGNER_SERVICE_URL: "http://127.0.0.1:1",
        SIGNER_NETWORK: "localnet",
        SIGNER_API_KEY_FILE: at("api-key"),
        SIGNER_SOCKET: at("sock"),
        LOG_LEVEL: "silent",
      });
    const wrong = await serve();
    expect([wrong.exitCode, wrong.err]).toEqual([1, expect.stringContaining("must have 64 hex digits")]);
    expect(wrong.err).not.toContain("0f0f0f");
    chmodSync(at("seed"), 0o644);
    expect((await serve()).err).toContain("others may read the file of the master seed");
  });

  it("serve does not start with a broken file of callers, and leaves the store free", async () => {
    await printed(["signer", "create"], environment);
    writeFileSync(at("callers"), '{"callers":[{"name":"a","keys":["*"]}]}');
    writeFileSync(at("api-key"), "tss_local_0123456789abcdef", { mode: 0o600 });
    const { exitCode, err } = await runCli(["signer", "serve"], {
      ...environment,
      SIGNER_ACCESS_FILE: at("callers"),
      SIGNER_SERVICE_URL: "http://127.0.0.1:1",
      SIGNER_NETWORK: "localnet",
      SIGNER_API_KEY_FILE: at("api-key"),
      SIGNER_SOCKET: at("sock"),
    });
    expect([exitCode, err]).toEqual([1, expect.stringContaining("callers[0] needs tokenSha256")]);
    await (await openFileKeyStore(at("data/keys"), passphraseSeal(PASSPHRASE))).close();
  });

  it("copies no damaged file", async () => {
    await printed(["signer", "create"], environment);
    const content = readFileSync(at("data/keys"));
    content[content.length - 1]! ^= 1;
    writeFileSync(at("data/keys"), content);
    const { exitCode, err } = await runCli(["signer", "backup", "--out", at("copy")], environment);
    expect([exitCode, err]).toEqual([1, expect.stringContaining("the file was changed")]);
    expect(existsSync(at("copy"))).toBe(false);
  });

  it("asks for the passphrase twice if it makes a file, and shows it nowhere", async () => {
    const { SIGNER_PASSPHRASE_FILE: _, ...asking } = environment;
    const mistyped = await runCli(["signer", "create"], asking, undefined, [PASSPHRASE, "other"]);
    expect(mistyped).toMatchObject({ exitCode: 2, err: expect.stringContaining("passphrases differ") });
    const run = await runCli(["signer", "create"], asking, undefined, PASSPHRASE);
    expect(run.exitCode).toBe(0);
    expect(run.out + run.err).not.toContain(PASSPHRASE);
    const wrong = await runCli(
      ["signer", "backup", "--out", at("copy")],
      asking,
      undefined,
      "another passphrase",
    );
    expect([wrong.exitCode, wrong.err]).toEqual([1, expect.stringContaining("the passphrase is wrong")]);
  });

  it.each(["create", "backup", "restore", "serve"])(
    "%s refuses a file of the passphrase that others may read",
    async (verb) => {
      const service = { SIGNER_SERVICE_URL: "http://127.0.0.1:1", SIGNER_NETWORK: "localnet" };
      writeFileSync(at("api-key"), "tss_local_0123456789abcdef", { mode: 0o600 });
      chmodSync(at("passphrase"), 0o644);
      const options = { backup: ["--out", at("copy")], restore: ["--from", at("copy")] }[verb] ?? [];
      const { exitCode, err } = await runCli(["signer", verb, ...options], {
        ...environment,
        ...service,
        SIGNER_API_KEY_FILE: at("api-key"),
        SIGNER_SOCKET: at("sock"),
      });
      expect([exitCode, err]).toEqual([
        1,
        expect.stringContaining("others may read the file of the passphrase"),
      ]);
      expect(err).not.toContain(PASSPHRASE);
    },
  );

  it("serve refuses a token that could be guessed, and does not quote it", async () => {
    writeFileSync(at("token"), "short-token", { mode: 0o600 });
    writeFileSync(at("api-key"), "tss_local_0123456789abcdef", { mode: 0o600 });
    const { exitCode, err } = await runCli(["signer", "serve"], {
      ...environment,
      SIGNER_PORT: "0",
      SIGNER_TOKEN_FILE: at("token"),
      SIGNER_SERVICE_URL: "http://127.0.0.1:1",
      SIGNER_NETWORK: "localnet",
      SIGNER_API_KEY_FILE: at("api-key"),
    });
    expect([exitCode, err]).toEqual([1, expect.stringContaining("must have 32 or more")]);
    expect(err).not.toContain("short-token");
  });
});

/** Makes a key file with the Active key "a", whose passphrase is cheap to check. */
async function makeKeyFile(): Promise<void> {
  const dwallet = { dwalletId: ID, publicKeyHex: "00", sessionDigestHex: "d1".repeat(32) };
  const seed = new Uint8Array(32).fill(0xa9);
  const key = { name: "a", curve: "ED25519", seed, createTimeMs: 0 } as const;
  await createKeyFile(at("keys"), passphraseSeal(PASSPHRASE, 4), [
    { ...key, progress: { kind: "active", dwallet } },
  ]);
}

describe("tss signer export", () => {
  it("writes a key's seed while the signer has the file open, shows it nowhere, and overwrites nothing", async () => {
    await makeKeyFile();
    const store = await openFileKeyStore(at("keys"), passphraseSeal(PASSPHRASE));
    const write = (name: string, ...more: string[]) =>
      runCli(["signer", "export", name, "--out", at("seed"), ...more], {
        ...environment,
        SIGNER_STORE: at("keys"),
      });
    expect(await write("b")).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining("no key of the name b"),
    });
    expect(await write("a", "--curve", "ED25519")).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining("are for SIGNER_STORE=memory"),
    });
    expect(existsSync(at("seed"))).toBe(false);
    const { exitCode, out, err } = await write("a");
    expect([exitCode, err]).toEqual([0, expect.stringContaining("Whoever has this file has the key")]);
    expect(out).toContain(ID);
    expect(out).toContain("d1".repeat(32));
    expect([readFileSync(at("seed"), "utf8"), statSync(at("seed")).mode & 0o777]).toEqual([
      `${"a9".repeat(32)}\n`,
      0o600,
    ]);
    expect(out + err).not.toContain("a9a9");
    writeFileSync(at("seed"), "of another");
    expect(await write("a")).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining("is not overwritten"),
    });
    expect(readFileSync(at("seed"), "utf8")).toBe("of another");
    await store.close();
  });

  it.each([
    [["payouts", "--curve", "ED25519"], "9d3cdac3b1a53321e876269b022901b8cb851a7da0dece0f07734042bad4bf29"],
    [
      ["main", "--curve", "SECP256K1", "--user", "user/42"],
      "caffbcbfa41949be0c7d28a4b129faead04baa68352f7ce1da5e4fd35f22997a",
    ],
  ])(
    "derives the documented seed of %j from a master seed, and says that nothing has checked it",
    async (key, hex) => {
      const master = Buffer.from(Array.from({ length: 32 }, (_, octet) => octet)).toString("hex");
      const memory = () => ({ SIGNER_STORE: "memory", SIGNER_MASTER_SEED_HEX: master });
      const unknown = await runCli(["signer", "export", key[0]!, "--out", at("seed")], memory());
      expect([unknown.exitCode, unknown.err]).toEqual([2, expect.stringContaining("--curve is missing")]);
      const { exitCode, out, err } = await runCli(
        ["signer", "export", ...key, "--out", at("seed")],
        memory(),
      );
      expect([exitCode, err]).toEqual([0, expect.stringContaining("nothing has checked these")]);
      expect(readFileSync(at("seed"), "utf8")).toBe(`${hex}\n`);
      for (const secret of [hex, master]) expect(out + err).not.toContain(secret);
    },
  );
});

describe("tss signer leave", () => {
  it.each([
    ["another name is typed", [], "b", 1, "that is not the name; nothing was done"],
    ["--confirm has another name", ["--confirm", "b"], "a", 2, "--confirm takes the name of the key"],
    ["--dwallet is another one", ["--dwallet", `0x${"e".repeat(64)}`], "a", 2, "--dwallet is another one"],
    ["--package has no --key-file", ["--package", ID], "a", 2, "--package needs --key-file"],
    [
      "--key-file has no fullnode",
      ["--key-file", "x"],
      "a",
      2,
      "needs an http(s) URL in SIGNER_FULLNODE_URLS",
    ],
  ])("calls nobody and writes no audit line if %s", async (_, more, answer, code, message) => {
    await makeKeyFile();
    writeFileSync(at("api-key"), "tss_local_0123456789abcdef", { mode: 0o600 });
    let calls = 0;
    const server = createServer((_request, reply) => {
      calls += 1;
      reply.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const settings = {
      ...environment,
      SIGNER_STORE: at("keys"),
      SIGNER_SERVICE_URL: `http://127.0.0.1:${port}`,
      SIGNER_NETWORK: "localnet",
      SIGNER_API_KEY_FILE: at("api-key"),
    };
    const argv = ["signer", "leave", "a", "--to", ID, ...more];
    const { exitCode, err } = await runCli(argv, settings, undefined, answer);
    server.close();
    expect([exitCode, err]).toEqual([code, expect.stringContaining(message)]);
    expect([calls, err.includes('"audit"')]).toEqual([0, false]);
  });
});

describe("tss signer mcp", () => {
  it.each([
    ["--max-wei cannot limit solana_transaction", ["--max-wei", "1", "--payloads", "solana_transaction"]],
    ["need --max-wei", ["--destinations", `0x${"a".repeat(40)}`]],
    ["--destinations takes addresses of Ethereum", ["--max-wei", "1", "--destinations", "0xaa"]],
    ["--tokens takes tokens with their most units", ["--max-wei", "1", "--tokens", `0x${"a".repeat(40)}`]],
    ["--allow-sign takes names of keys", ["--allow-sign", "payouts,*"]],
    ["--per-day is less than --per-hour", ["--per-hour", "51"]],
    ["--url must be https", ["--url", "http://signer.example", "--token-file", "passphrase"]],
    ["--url needs --token-file", ["--url", "https://signer.example"]],
    ["--listen-port needs --listen-token-file", ["--listen-port", "0"]],
  ])("says %j before it starts", async (text, options) => {
    const { exitCode, err } = await runCli(["signer", "mcp", ...options], environment);
    expect([exitCode, err]).toEqual([2, expect.stringContaining(text)]);
  });

  it("refuses a token of its callers that others may read, or that is short", async () => {
    const start = () =>
      runCli(["signer", "mcp", "--listen-port", "0", "--listen-token-file", at("token")], environment);
    writeFileSync(at("token"), "a".repeat(32), { mode: 0o644 });
    expect((await start()).err).toContain("others may read");
    rmSync(at("token"));
    writeFileSync(at("token"), "a".repeat(31), { mode: 0o600 });
    expect((await start()).err).toContain("32 or more");
  });
});
