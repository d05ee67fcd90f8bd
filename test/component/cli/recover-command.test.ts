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
const [{ pieces }] = JSON.parse(
  readFileSync(new URL("../../unit/client/seed/pieces.vectors.json", import.meta.url), "utf8"),
) as [{ readonly pieces: [string, string, string] }];
const pieceFile = file("piece-1", `${pieces[0]}\n`);
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
  [["--seed-out", out], "--seed-out needs --piece-file or --ask-pieces"],
  [["--piece-file", pieceFile], "--seed-file excludes --piece-file"],
  [[], "no Treasury is configured for testnet: set --treasury"],
])("a wrong command line %j is refused with its correction", async (args, message) => {
  const { exitCode, err } = await recover(...args);
  expect({ exitCode, err }).toEqual({ exitCode: 2, err: expect.stringContaining(message) });
});

const fromPieces = (args: readonly string[], answers?: readonly string[]) =>
  runCli(["recover", "--network", "testnet", ...args], {}, undefined, answers);

it.each([
  [[], "--seed-file is missing; or give the pieces"],
  [["--piece-file", pieceFile, "--ask-pieces"], "--piece-file and --ask-pieces exclude each other"],
  [["--ask-pieces", "--curve", "ED25519"], "--curve is of no use with pieces"],
  [["--ask-pieces", "--session-digest", "ab".repeat(32)], "--session-digest is of no use with pieces"],
])("a wrong command line with pieces, %j, is refused with its correction", async (args, message) => {
  const { exitCode, err } = await fromPieces(args);
  expect({ exitCode, err }).toEqual({ exitCode: 2, err: expect.stringContaining(message) });
});

it("pieces of another dWallet than --dwallet names are refused", async () => {
  const { exitCode, err } = await fromPieces(["--piece-file", pieceFile, "--dwallet", dwallet]);
  expect({ exitCode, err }).toEqual({ exitCode: 1, err: expect.stringContaining("is not the expected one") });
});

it.each([
  ["too few", () => [pieceFile], "2 are needed, and these are 1"],
  ["one twice", () => [pieceFile, pieceFile], "piece 2 is the same as piece 1"],
  ["a damaged one", () => [pieceFile, file("cut", pieces[1].slice(0, -4))], "piece 2 is damaged"],
  ["one that others can read", () => [file("open-piece", pieces[1], 0o644)], "chmod 600"],
])("pieces in files are refused, and not shown: %s", async (_what, files, message) => {
  const { exitCode, out: said, err } = await fromPieces(files().flatMap((each) => ["--piece-file", each]));
  expect({ exitCode, err }).toEqual({ exitCode: 1, err: expect.stringContaining(message) });
  for (const piece of pieces) expect(said + err).not.toContain(piece.slice(120, 150));
});

it("a damaged piece among enough good ones is named, and the others are used", async () => {
  const texts = [pieces[0], pieces[1].slice(0, -4), pieces[2]];
  const files = texts.map((text, at) => file(`of-three-${at}`, text));
  // Nothing listens there: the command joins the pieces before it asks the chain.
  const args = ["--fullnode-url", "http://127.0.0.1:1", ...files.flatMap((each) => ["--piece-file", each])];
  const { exitCode, err } = await fromPieces(args);
  expect(exitCode).toBe(3);
  expect(err).toContain("piece 2 is damaged");
  expect(err).toContain("The other pieces suffice.");
  expect(err).toContain("does not answer");
});

it("a mistyped piece is asked for again, and not shown", async () => {
  const typed = [pieces[0].replace("tsspiece1q", "tsspiece1p"), pieces[0], "nothing", pieces[0]];
  const { exitCode, out: said, err } = await fromPieces(["--ask-pieces"], typed);
  expect(exitCode).toBe(1);
  const notes = [
    "the piece is damaged",
    "must be a text that begins with tsspiece1",
    "is the same as piece 1",
  ];
  for (const note of notes) expect(err).toContain(note);
  for (const piece of pieces) expect(said + err).not.toContain(piece.slice(120, 150));
});

it("a file that exists is not overwritten by what pieces give", async () => {
  const taken = file("taken-seed", "of another");
  const { exitCode, err } = await fromPieces(["--ask-pieces", "--seed-out", taken], pieces);
  expect({ exitCode, err }).toEqual({ exitCode: 1, err: expect.stringContaining("is not overwritten") });
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
