/** Runs every command of the operators' documents unchanged, against a service on PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isCommand } from "../../src/cli/command-line/command.ts";
import { findCommand } from "../../src/cli/command-line/command-groups.ts";
import { parseCommandLine } from "../../src/cli/command-line/parse-command-line.ts";
import { TREASURY_SUBCOMMANDS } from "../../src/cli/treasury/treasury-subcommands.ts";
import { type Localnet, startLocalnet } from "../../src/localnet/localnet.ts";
import { testDatabase } from "../support/database/postgres.ts";
import { programMissing } from "../support/environment.ts";
import { type DocumentedCommand, documentedCommands } from "../support/repository/documented-commands.ts";
import { type ServiceProcess, serviceFolder, startService } from "../support/service/service.ts";
import { createCheapMpc } from "../unit/localnet/cheap-mpc.ts";
import { makeValues, OPERATOR_SECRETS } from "./operator/documented-values.ts";
import { type OperatorShell, openOperatorShell } from "./operator/operator-shell.ts";
import { runProgram } from "./run-program.ts";

const RESTORE = "docs/operations/restore.md";
const DOCUMENTS = [
  "docs/start/operator.md",
  "docs/operations/deploy.md",
  "docs/operations/operate.md",
  "docs/operations/keys.md",
  RESTORE,
  "docs/runbook.md",
  "docs/threat-model.md",
  "docs/threat-tests.md",
  "docs/audit.md",
  "docs/deposits.md",
  "docs/identity-providers.md",
  "docs/api-access.md",
];
/** Its commands run in test/interop/documented-treasury.test.ts. */
const TREASURY = "docs/treasury.md";
/** Its commands run in test/flow/exit.test.ts, test/flow/recovery.test.ts and test/component/cli/sign-commands.test.ts. */
const SDK = "docs/sdk.md";
/** Its commands run in test/component/cli/webhook-commands.test.ts. */
const WEBHOOKS = "docs/webhooks.md";
/** Runs until it is stopped: test/flow/watchtower.test.ts. */
const WATCHTOWER = "docs/watchtower.md";
const GO_ON = /^(?:\w+=\S+ )*(?:tss serve|tss localnet(?! faucet)|npm start)\b/;
/**
 * Commands of other documents that also require all replicas to be stopped. The restore guide contains each of them.
 */
const WANTS_ALONE = /^tss (?:reconcile|serve --after-restore)\b/;
/** Commands that this test does not run, with the place where they run or the reason. */
const RUN_ELSEWHERE: Readonly<Record<string, string>> = {
  "tss recover": "it takes a seed or pieces: test/flow/recovery.test.ts and test/flow/exit.test.ts",
  "tss demo": "a minute of real cryptography: test/flow/demo.test.ts",
  "tss try": "real cryptography, which this localnet's network lacks: test/flow/try.test.ts",
  'tss receipt get "$SIGN_REQUEST_ID" --json > receipt.json': "it takes a signature: test/flow/try.test.ts",
  'tss receipt verify receipt.json --public-key "$SEAL_KEY" --dwallet-key "$DWALLET_PUBLIC_KEY"':
    "it takes a signature: test/flow/try.test.ts",
  'tss sign release "$SIGN_REQUEST_ID"': "it takes a held half: test/component/cli/sign-commands.test.ts",
  'tss sign cancel "$SIGN_REQUEST_ID"': "the same",
  'tss inspect "$SUBJECT_ID"': "it takes a signature: test/component/cli/sign-commands.test.ts",
  "tss localnet": "its own port may be taken: run with another one",
  "tss doctor --network testnet": "it calls a public fullnode: test/crypto/network-doctor.test.ts",
  "tss project list --network testnet":
    "it takes a service of several networks: test/race/two-networks.test.ts",
  "tss treasury --network mainnet": "the same",
  "tss network drain --network testnet": "the same: test/race/network-drain.test.ts",
  "tss network status --network testnet": "the same",
  "tss network resume --network testnet": "the same",
  "tss audit list --network testnet": "the same",
  "tss doctor --only mainnet": "the same: test/race/two-network-doctor.test.ts",
  "npm ci && npm start": "it installs the packages",
  "npm install --global threshold-signing-service": "it takes the published package",
  "tss signer mcp": "it speaks to an agent: test/flow/signer.test.ts",
  "tss signer export": "it takes a key of a signer: test/flow/signer.test.ts",
  "tss signer leave": "the same",
  "tss signer create": "it asks for a passphrase: test/component/cli/signer-commands.test.ts",
  "tss coin-price confirm IKA --price 0.031": "no price waits here: test/race/price-bounds.test.ts",
  "npm run check:deploy": "a step of .ci/run of its own",
  "npm run move:test": "the same",
  "promtool test rules deploy/prometheus/alerts.test.yml": "test/interop/alerts-and-dashboards.test.ts",
};
/** A command without values, which does the same in every document and runs once. */
const PLAIN = /^(?:tss(?: [a-z-]+)*|npm start)$/;
/** Commands that the document describes as failing, with their exit code. */
const ENDS: Readonly<Record<string, number | NodeJS.Signals>> = {
  "HOT_WALLET_SUI_SECRET_HEX_FILE=new-wallet.secret tss doctor": 1,
};
const TIMEOUT_MS = 150_000;

const all = [...DOCUMENTS, "SECURITY.md"].flatMap(documentedCommands);
const runnable: DocumentedCommand[] = [];
const names: DocumentedCommand[] = [];
for (const each of all) {
  if (Object.hasOwn(RUN_ELSEWHERE, each.text)) continue;
  ((await isName(each.text)) ? names : runnable).push(each);
}
/** The restore guide runs last, from its first command to its last, with all replicas stopped. */
const alone = [
  ...new Map(
    runnable.filter(({ document }) => document === RESTORE).map((each) => [each.text, each]),
  ).values(),
];
const wantsAlone = runnable.filter(({ document, text }) => document !== RESTORE && WANTS_ALONE.test(text));
const together = [
  ...new Map(
    runnable
      .filter((each) => each.document !== RESTORE && !wantsAlone.includes(each))
      .map((each) => [PLAIN.test(each.text) ? each.text : `${each.document} ${each.text}`, each]),
  ).values(),
];
const sections = [...new Set(together.map(placeOf))];

const [postgres, copy] = [await testDatabase(), await testDatabase()];
const missing = await missingPrograms(["psql", "pg_dump", "pg_restore", "curl", "openssl", "promtool"]);
if (missing.length > 0) programMissing(missing.join(", "), "documented commands");

afterAll(async () => {
  await Promise.all([postgres?.drop(), copy?.drop()]);
});

it("the documents show every command with its options", () => {
  const shown = (text: string) =>
    [...all, ...[TREASURY, SDK, WEBHOOKS, WATCHTOWER].flatMap(documentedCommands)].some((each) =>
      each.text.startsWith(`${text} `),
    );
  expect(names.length).toBeGreaterThan(5);
  expect(names.filter(({ text }) => !shown(text))).toEqual([]);
  expect(wantsAlone.filter(({ text }) => !alone.some((each) => each.text === text))).toEqual([]);
  expect(Object.keys(RUN_ELSEWHERE).filter((text) => !all.some((each) => each.text === text))).toEqual([]);
});

describe.skipIf(!postgres || !copy || missing.length > 0)(
  "a documented command",
  { timeout: TIMEOUT_MS },
  () => {
    const { folder, remove } = serviceFolder();
    let shell: OperatorShell;
    let localnet: Localnet;
    let service: ServiceProcess;
    let environment: Record<string, string>;

    beforeAll(async () => {
      localnet = await startLocalnet({ mpc: createCheapMpc() });
      const configured = { ...OPERATOR_SECRETS, DATABASE_URL: postgres!.url, LOCALNET_URL: localnet.url };
      shell = await openOperatorShell();
      service = await startService(folder, configured);
      const values = await makeValues(service.access.baseUrl, localnet.url);
      environment = { ...configured, ...values, PORT: "0", LOCALNET_PORT: "0" };
    }, 120_000);
    afterAll(async () => {
      await service?.stop();
      await localnet?.close();
      await shell?.close();
      remove();
    });

    const runs = async (documented: DocumentedCommand) => {
      const place = placeOf(documented);
      const { text } = documented;
      const [, name, value] = /^export (\w+)=(.*)$/.exec(text) ?? [];
      if (name !== undefined) {
        const { out } = await shell.run(place, `printf %s ${value}`, environment);
        environment = { ...environment, [name]: out.toString() };
        return;
      }
      if (GO_ON.test(text)) {
        expect(await shell.runUntilReady(place, text, environment)).toBe(ENDS[text] ?? 0);
        return;
      }
      const { code, out, err } = await shell.run(place, text, environment);
      expect({ code, said: `${out.toString()}${err}` }).toMatchObject({ code: ENDS[text] ?? 0 });
    };

    describe("next to other commands", { concurrent: true }, () => {
      describe.for(sections)("of %s", { concurrent: true }, (place) => {
        const here = together.filter((each) => placeOf(each) === place);
        it.for(here)("runs: $text", { concurrent: false }, runs);
      });
    });

    describe("with every replica stopped", () => {
      beforeAll(async () => {
        expect(await service.stop()).toBe(0);
        const { TSS_URL: _stopped, ...rest } = environment;
        environment = { ...rest, RESTORED_DATABASE_URL: copy!.url };
      });

      it.for(alone)("runs: $text", runs);
    });
  },
);

/** The folder in which a command runs: one for each section, and one for the whole restore guide. */
function placeOf({ document, section }: DocumentedCommand): string {
  return document === RESTORE ? document : `${document} ${section}`;
}

/** Whether a text only names a command that needs arguments. Commands that change the Treasury need a key file. */
async function isName(text: string): Promise<boolean> {
  const [program, noun = "", verb = "", ...rest] = text.split(" ");
  if (program === "tss" && Object.keys(TREASURY_SUBCOMMANDS).includes(verb) && noun === "treasury")
    return verb !== "status";
  if (program !== "tss" || rest.length > 0) return false;
  const tree = await findCommand(noun);
  const command = tree !== undefined && isCommand(tree) ? (tree.subcommands?.[verb] ?? tree) : tree?.[verb];
  if (command === undefined || !isCommand(command) || verb.startsWith("-")) return false;
  try {
    parseCommandLine([], command.options);
    return false;
  } catch {
    return true;
  }
}

async function missingPrograms(programs: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    programs.map((program) => runProgram(program, ["--version"]).catch(() => undefined)),
  );
  return programs.filter((_, index) => found[index] === undefined);
}
