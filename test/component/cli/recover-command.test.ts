/** What `tss recover` refuses before it calls a fullnode. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { runCli } from "./run-cli.ts";

const folder = mkdtempSync(path.join(tmpdir(), "recover-command-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, content: string, mode = 0o600) => {
  const named = path.join(folder, name);
  writeFileSync(named, content, { mode });
  return named;
};
const SEED_HEX = "5e".repeat(32);
const seedFile = file("seed", SEED_HEX);
const dwallet = `0x${"d".repeat(64)}`;
const out = path.join(folder, "share");

const recoverFrom = (seed: string, ...args: readonly string[]) =>
  runCli(["recover", "--seed-file", seed, "--network", "testnet", ...args]);
const recover = (...args: readonly string[]) => recoverFrom(seedFile, ...args);

it.each([
  [["--out", out], "--out needs --dwallet"],
  [["--session-digest", "ab".repeat(32)], "--session-digest needs --dwallet"],
  [["--dwallet", dwallet, "--out", out], "--dwallet needs --curve"],
  [["--dwallet", dwallet, "--curve", "ED25519"], "--dwallet needs --out"],
  [["--curve", "ED25518"], "did you mean ED25519?"],
  [[], "no Treasury is configured for testnet: set --treasury"],
])("a wrong command line %j is refused with its correction", async (args, message) => {
  const { exitCode, err } = await recover(...args);
  expect({ exitCode, err }).toEqual({ exitCode: 2, err: expect.stringContaining(message) });
});

it.each([
  ["that others can read", "open", SEED_HEX, 0o644, "chmod 600"],
  ["without a seed", "short", "5e5e", 0o600, "must contain 64 hex digits"],
])(
  "a seed file %s is refused, and no error shows its content",
  async (_what, name, content, mode, message) => {
    const { exitCode, out: said, err } = await recoverFrom(file(name, content, mode));
    expect({ exitCode, err }).toEqual({ exitCode: 1, err: expect.stringContaining(message) });
    expect(said + err).not.toContain(content);
  },
);

it("a file that exists is not overwritten", async () => {
  const taken = file("taken", "of another");
  const { exitCode, err } = await recover("--dwallet", dwallet, "--curve", "ED25519", "--out", taken);
  expect({ exitCode, err }).toEqual({ exitCode: 1, err: expect.stringContaining("is not overwritten") });
  expect(readFileSync(taken, "utf8")).toBe("of another");
});

it("a seed on the command line is refused", async () => {
  const { exitCode, err } = await runCli(["recover", "--seed", SEED_HEX]);
  expect(exitCode).toBe(2);
  expect(err).not.toContain(SEED_HEX);
});
