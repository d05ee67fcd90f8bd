import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Command, isCommand } from "../../../src/cli/command-line/command.ts";
import { COMMAND_NAMES, findCommand } from "../../../src/cli/command-line/command-groups.ts";
import { type Option, optionName } from "../../../src/cli/command-line/option.ts";
import { takePidLock } from "../../../src/service/platform/store/pid-lock.ts";
import { sourcesBelow } from "../../support/repository/source-files.ts";
import { runCli } from "./run-cli.ts";

/** These run until they are stopped. */
const LASTING = ["serve", "localnet", "demo", "signer mcp"];
const commands = await everyCommand();
const folder = mkdtempSync(path.join(tmpdir(), "tss-hints-"));
let held: { release(): Promise<void> };
beforeAll(async () => {
  const access = { baseUrl: "http://127.0.0.1:1", adminApiKey: "x", apiKey: "x", network: "localnet" };
  writeFileSync(path.join(folder, "dev.json"), JSON.stringify(access));
  mkdirSync(path.join(folder, "pg"));
  held = await takePidLock(path.join(folder, "pg.lock"));
});
afterAll(async () => {
  await held.release();
  rmSync(folder, { recursive: true, force: true });
});

/** Situations in which a command tells what to do instead. */
const SITUATIONS: readonly (readonly [string, () => Record<string, string>])[] = [
  ["beside a service on the embedded database", () => ({ DATA_DIR: folder, LOG_LEVEL: "silent" })],
  [
    "without a service or a database",
    () => ({
      DATA_DIR: path.join(folder, "none"),
      DATABASE_URL: "postgresql://127.0.0.1:1/tss",
      LOG_LEVEL: "silent",
    }),
  ],
];

describe.each(SITUATIONS)("%s", (_, environment) => {
  it.each(commands.filter(({ words, name }) => !LASTING.includes(words[0]!) && !LASTING.includes(name)))(
    "tss $name hints only at commands and options that exist",
    async ({ words, command }) => {
      const runs = [[], Object.entries(command.options).flatMap(([name, option]) => given(name, option))];
      // A report is written into the current folder otherwise.
      if ("bundle" in command.options)
        for (const [at, run] of runs.entries()) run.push("--bundle", path.join(folder, `${at}.json`));
      if ("direct" in command.options) runs.push([...(runs[1] ?? []), "--direct"]);
      const texts = await Promise.all(
        [...runs, ["--help"], ["--no-such-option"]].map(async (options) => {
          const { out, err } = await runCli([...words, ...options], {
            LOCALNET_URL: "http://127.0.0.1:1",
            ...environment(),
          });
          return `${out}\n${err}`;
        }),
      );
      expect(await wrongHints(texts.join("\n"), command)).toEqual([]);
    },
  );
});

it("every command in a text of the sources exists, with its options", async () => {
  const wrong: string[] = [];
  for (const { path: file, text } of sourcesBelow(["src"], [".ts", ".tsx"]))
    for (const hint of await wrongHints(text.replace(/^\s*(?:\/?\*|\/\/).*$/gm, ""), undefined))
      wrong.push(`${file}: ${hint}`);
  expect(wrong).toEqual([]);
});

interface Named {
  readonly name: string;
  readonly words: readonly string[];
  readonly command: Command;
}

async function everyCommand(): Promise<Named[]> {
  const found: Named[] = [];
  for (const noun of COMMAND_NAMES) {
    const tree = await findCommand(noun);
    if (tree === undefined) continue;
    if (isCommand(tree)) found.push({ name: noun, words: [noun], command: tree });
    const verbs = isCommand(tree) ? (tree.subcommands ?? {}) : tree;
    for (const [verb, command] of Object.entries(verbs))
      found.push({ name: `${noun} ${verb}`, words: [noun, verb], command });
  }
  return found;
}

/** Returns the words of a required option, with a value that it takes. */
function given(name: string, option: Option<unknown>): string[] {
  if (!option.isRequired) return [];
  const value = VALUES.find((text) => {
    try {
      option.read(text);
      return true;
    } catch {
      return false;
    }
  });
  if (value === undefined) throw new Error(`no value fits ${option.placeholder}`);
  return option.kind === "operand" ? [value] : [optionName(name), value];
}

const VALUES = [
  "1",
  "http://127.0.0.1:1",
  "00000000-0000-7000-8000-000000000000",
  `0x${"1".repeat(64)}`,
  "localnet",
  "SECP256K1/Taproot",
  "SECP256K1",
  "SUI",
  "offer",
  "2026-01-01",
  "read",
];

/** Returns the named commands that do not exist, and the options that neither they nor `own` have. */
async function wrongHints(text: string, own: Command | undefined): Promise<string[]> {
  const wrong: string[] = [];
  for (const [, line = ""] of text.matchAll(NAMED)) if (!(await works(line))) wrong.push(`tss ${line}`);
  const rest = text.replace(/^usage: .*|unknown option \S+/gm, "").replace(NAMED, "");
  const options = Object.keys(own?.options ?? {}).map(optionName);
  if (own !== undefined)
    for (const [option] of rest.matchAll(/(?<![\w-])--[a-z][a-z-]*/g))
      if (![...options, "--help"].includes(option)) wrong.push(option);
  return wrong;
}

/** A command in the text of a message. */
const NAMED = /`tss ([a-z][^`\n\\]*)/g;

async function works(line: string): Promise<boolean> {
  const words = line.split(/\s+/);
  const first = words[0] ?? "";
  if (first === "help" || first.startsWith("<") || first.startsWith("$")) return true;
  const tree = await findCommand(first);
  if (tree === undefined) return false;
  const verbs = isCommand(tree) ? (tree.subcommands ?? {}) : tree;
  const command = verbs[words[1] ?? ""] ?? (isCommand(tree) ? tree : undefined);
  if (command === undefined) return false;
  const known = [...Object.keys(command.options).map(optionName), "--help"];
  return words.filter((word) => word.startsWith("--")).every((word) => known.includes(word));
}
