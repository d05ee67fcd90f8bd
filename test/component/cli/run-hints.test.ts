/** Every command that a text of the sources names is run: here, beside one service, or in the named test. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Command, isCommand } from "../../../src/cli/command-line/command.ts";
import { COMMAND_NAMES, findCommand } from "../../../src/cli/command-line/command-groups.ts";
import { openDatabase } from "../../../src/service/platform/store/open-database.ts";
import { DATABASE_TIMEOUT_MS } from "../../support/database/database.ts";
import { migratedFolder } from "../../support/database/migrated-folder.ts";
import { sourcesBelow } from "../../support/repository/source-files.ts";
import { type AppInProcess, startAppInProcess } from "../../support/service/app-in-process.ts";
import { silentLog } from "../../support/silent-log.ts";
import { printed, runCli } from "./run-cli.ts";

const { folder, remove } = await migratedFolder();
let service: AppInProcess;
/** The service's project, and the environment of a person on its machine, or on one without a service. */
let projectId: string;
let here: Record<string, string>;
let alone: Record<string, string>;

beforeAll(async () => {
  service = await startAppInProcess();
  here = { ...service.environment };
  alone = { LOCALNET_URL: service.localnet.url, DATA_DIR: folder, LOG_LEVEL: "silent" };
  const projects = await printed(["project", "list", "--json"], here);
  ({ projectId } = JSON.parse(projects.split("\n")[0]!) as { projectId: string });
}, DATABASE_TIMEOUT_MS);
afterAll(async () => {
  await service.stop();
  remove();
});

/** How to run the hinted commands that end soon: their words, with the placeholders replaced. */
const RUNS: Readonly<Record<string, () => Run | Promise<Run>>> = {
  "admin-key list": () => [["admin-key", "list"], here],
  "audit export": () => [["audit", "export", "--output", path.join(folder, "audit.ndjson")], here],
  "audit list": () => [["audit", "list"], here],
  "coin-price confirm": async () => {
    await waitingPrice();
    return [["coin-price", "confirm", COIN, "--price", "4"], alone];
  },
  config: () => [["config"], here],
  "deposit address": () => [["deposit", "address"], here],
  help: () => [["help"], here],
  "identity-provider list": () => [["identity-provider", "list", "--project", projectId], here],
  "key list": () => [["key", "list", "--project", projectId], here],
  "ledger verify": () => [["ledger", "verify"], here],
  migrate: () => [["migrate"], alone],
  reconcile: () => [["reconcile"], alone],
  "session list": () => [["session", "list"], here],
  "sign list": () => [["sign", "list"], here],
  "treasury status": () => [["treasury", "status"], here],
};

type Run = readonly [words: string[], environment: Record<string, string>];

const COIN = `0x${"0".repeat(63)}2::sui::SUI`;

/** Stores a price that waits for its confirmation. */
async function waitingPrice(): Promise<void> {
  const dataDirectory = alone["DATA_DIR"]!;
  const database = await openDatabase({ databaseUrl: undefined, dataDirectory, log: silentLog });
  try {
    await database.query(
      `INSERT INTO coin_price (network, coin_type, price_pico_usd, read_at, doubted_pico_usd, doubted_at,
                               doubted_since, doubted_for)
       VALUES ('localnet', $1, 2000000000000, now(), 4000000000000, now(), now(), 'step')`,
      [COIN],
    );
  } finally {
    await database.close();
  }
}

/** The tests that run the other commands, because these need a role at the Treasury, other data, or real cryptography. */
const ELSEWHERE: readonly (readonly [hint: RegExp, test: string, runs: RegExp])[] = [
  [/^treasury /, "test/component/cli/treasury-commands.test.ts", /"(?:fund|init|move)"/],
  [/^serve$/, "test/support/service/service.ts", /"serve"/],
  [/^serve --after-restore$/, "test/flow/service-postgres.test.ts", /startService\(.*"--after-restore"/],
  [/^localnet$/, "test/support/service/service.ts", /"localnet"/],
  [/^doctor --network /, "test/crypto/network-doctor.test.ts", /runNetworkDoctor\(/],
  [/^webhook list$/, "test/component/cli/webhook-commands.test.ts", /done\("list"\)/],
  [/^webhook deliveries$/, "test/component/cli/webhook-commands.test.ts", /done\("deliveries", /],
  [/^receipt get /, "test/flow/try.test.ts", /"receipt", "get"/],
  [/^receipt verify$/, "test/flow/try.test.ts", /"receipt", "verify"/],
  [/^signer mcp$/, "test/flow/signer.test.ts", /"signer",\s+"mcp",/],
  [
    /^signer (?:create|backup --out <file>)$/,
    "test/component/cli/signer-commands.test.ts",
    /\["signer", "create"\]/,
  ],
  [/^signer export <name> --out <file>$/, "test/flow/signer.test.ts", /"signer", "export",/],
  [/^recover$/, "test/flow/signer.test.ts", /\["recover",/],
  [/^try$/, "test/flow/try.test.ts", /runCli\(\["try"/],
];

const NAMED = /`tss ([a-z][^`\n\\]*)/g;
const hints = [
  ...new Set(
    sourcesBelow(["src"], [".ts", ".tsx"]).flatMap(({ text }) =>
      [...text.replace(/^\s*(?:\/?\*|\/\/).*$/gm, "").matchAll(NAMED)].map(([, line = ""]) => line),
    ),
  ),
].sort();

describe("a command that a text names", () => {
  it.each(Object.keys(RUNS))("works: tss %s", async (hint) => {
    expect(hints).toContain(hint);
    const [words, environment] = await RUNS[hint]!();
    const { exitCode, out, err } = await runCli(words, environment);
    expect({ exitCode, hint, ...(exitCode !== 0 && { out, err }) }).toEqual({ exitCode: 0, hint });
  });

  it.each(hints.filter((hint) => !(hint in RUNS)))("is run by another test: tss %s", (hint) => {
    const [, file, runs] = ELSEWHERE.find(([pattern]) => pattern.test(hint)) ?? [];
    expect(file, "no test runs it").toBeDefined();
    const text = readFileSync(file!, "utf8");
    expect(text).toMatch(runs!);
    for (const [, verb] of hint.matchAll(/^treasury ([a-z-]+)/g)) expect(text).toContain(`"${verb}"`);
  });

  it("and that wrote an export beside the service wrote one that verifies", async () => {
    const found = await printed(["audit", "verify", path.join(folder, "audit.ndjson")]);
    expect(found).toMatch(/^the export is intact: /);
  });
});

describe("beside a service on the embedded database", () => {
  it("a command that cannot open the database names a service with which it works", async () => {
    const direct = (await everyCommand()).filter(
      ({ command }) => "direct" in command.options && !Object.values(command.options).some(isNeeded),
    );
    expect(direct.map(({ words }) => words.join(" "))).toEqual(
      expect.arrayContaining(["audit export", "ledger verify", "project list"]),
    );
    for (const { words, command } of direct) {
      if ("project" in command.options && words[0] !== "audit") continue;
      const { exitCode, err } = await runCli([...words, "--direct"], here);
      expect(exitCode, words.join(" ")).toBe(3);
      const [, url = ""] = /, or use the running service that has it: --url (\S+)$/m.exec(err) ?? [];
      const output = "output" in command.options ? ["--output", path.join(folder, "other.ndjson")] : [];
      const again = await runCli([...words, "--url", url, ...output], here);
      expect(again, words.join(" ")).toMatchObject({ exitCode: 0 });
    }
  });

  it("a list that shows a part names the option that shows the rest", async () => {
    const part = await runCli(["audit", "list", "--limit", "1"], here);
    expect(part.err).toContain("more items exist; use --limit or --all");
    for (const more of [["--limit", "1000"], ["--all"]]) {
      const { exitCode, err } = await runCli(["audit", "list", ...more], here);
      expect([exitCode, err.includes("more items")]).toEqual([0, false]);
    }
  });
});

const isNeeded = ({ isRequired }: { readonly isRequired: boolean }) => isRequired;

async function everyCommand(): Promise<{ readonly words: readonly string[]; readonly command: Command }[]> {
  const found: { readonly words: readonly string[]; readonly command: Command }[] = [];
  for (const noun of COMMAND_NAMES) {
    const tree = await findCommand(noun);
    if (tree === undefined) continue;
    if (isCommand(tree)) found.push({ words: [noun], command: tree });
    const verbs = isCommand(tree) ? (tree.subcommands ?? {}) : tree;
    for (const [verb, command] of Object.entries(verbs)) found.push({ words: [noun, verb], command });
  }
  return found;
}
