import { beforeAll, describe, expect, it } from "vitest";
import { type Command, command } from "../../../src/cli/command-line/command.ts";
import { COMMAND_GROUPS, findCommand } from "../../../src/cli/command-line/command-groups.ts";
import { describeCommand } from "../../../src/cli/command-line/help.ts";
import {
  choicesOf,
  count,
  defaulted,
  flag,
  microUsd,
  moment,
  nonEmptyText,
  operand,
  optional,
  required,
} from "../../../src/cli/command-line/option.ts";
import { parseCommandLine } from "../../../src/cli/command-line/parse-command-line.ts";
import { readSource } from "../../support/repository/source-files.ts";
import { runCli } from "./run-cli.ts";

const OPTIONS = {
  id: operand("<id>", "what to act on", nonEmptyText),
  amountUsd: required("<usd>", "how much", microUsd),
  words: optional("<list>", "some words", choicesOf(["a", "b", "c"])),
  count: defaulted("<count>", "how many", count(1, 9), "3"),
  cursor: optional("<cursor>", "where to begin", nonEmptyText),
  json: flag("print JSON"),
};
/** Commands that use neither a database nor a service. */
const ALONE = [
  ...["serve", "localnet", "localnet faucet", "demo", "config", "version", "recover"],
  ...["signer create", "signer serve", "signer mcp", "signer backup", "signer restore", "watchtower"],
  ...["signer export", "signer leave"],
];
// Help loads the modules of every command.
beforeAll(() => runCli(["help"]), 60_000);

const parse = (...argv: string[]) => parseCommandLine(argv, OPTIONS);
const refusal = (...argv: string[]): string => {
  try {
    parse(...argv);
  } catch (error) {
    return (error as Error).message;
  }
  return "not refused";
};

describe("a command line", () => {
  it("is parsed by the table of its options, in any order", () => {
    const values = {
      id: "it",
      amountUsd: 1_500_000n,
      words: undefined,
      count: 3,
      cursor: undefined,
      json: false,
    };
    expect(parse("it", "--amount-usd", "1.5")).toEqual(values);
    expect(parse("--json", "--amount-usd=1.50", "it", "--words", "c,a", "--count", "9")).toEqual({
      ...values,
      words: ["a", "c"],
      count: 9,
      json: true,
    });
  });

  it("takes a negative amount or a cursor with a dash as a value, but not another option", () => {
    expect(parse("it", "--amount-usd", "-0.000001").amountUsd).toBe(-1n);
    expect(parse("it", "--amount-usd", "-1").amountUsd).toBe(-1_000_000n);
    expect(parse("it", "--amount-usd", "1", "--cursor", "-GGgOnGb").cursor).toBe("-GGgOnGb");
    expect(parse("it", "--amount-usd", "1", "--cursor=--GgOnGb").cursor).toBe("--GgOnGb");
    for (const option of ["--json", "-h", "-"])
      expect(refusal("it", "--amount-usd", option)).toBe(
        "--amount-usd takes a value: <usd>; if the value begins with a dash, write --amount-usd=<usd>",
      );
    expect(refusal("it", "--amount-usd")).toBe("--amount-usd takes a value: <usd>");
  });

  it("is refused with the name of the option that is wrong", () => {
    expect(refusal("--amount-usd", "1")).toBe("<id> is missing");
    expect(refusal("it")).toBe("--amount-usd is missing");
    expect(refusal("it", "--amount-usd", "1,5")).toBe(
      "--amount-usd takes an amount in US dollars, such as 12.50",
    );
    expect(refusal("it", "--amount-usd", "1", "--words", "a,B")).toBe(
      "--words takes one or more of a,b,c, separated by commas (did you mean b?)",
    );
    expect(refusal("it", "--amount-usd", "1", "--words", "a,a")).toBe(
      "--words takes one or more of a,b,c, separated by commas",
    );
    expect(refusal("it", "--amount-usd", "1", "--count", "10")).toBe(
      "--count takes a whole number from 1 to 9",
    );
    expect(refusal("it", "--amount-usd", "1", "--json=yes")).toBe("--json takes no value");
    expect(refusal("it", "--amount-usd", "1", "--amount-usd", "2")).toBe(
      "--amount-usd is given more than once",
    );
    expect(refusal("it", "--ammount-usd", "1")).toBe(
      "unknown option --ammount-usd (did you mean --amount-usd?)",
    );
    expect(refusal("it", "-x")).toBe("unknown option -x");
    expect(refusal("it", "__proto__", "--amount-usd", "1")).toBe("unexpected argument of 9 characters");
    expect(refusal("it", "extra", "--amount-usd", "1")).toBe('unexpected argument "extra"');
  });

  it("is not repeated in an error, because it may contain a key", () => {
    const key = "tss_live_0123456789abcdefghijklmnopqrstuvwxyz";
    for (const argv of [
      [`--admin-key=${key}`],
      ["it", key],
      ["it", "--amount-usd", key],
      ["it", "--amount-usd", "1", "--count", key],
      ["it", "--amount-usd", "1", `--json=${key}`],
    ]) {
      expect(refusal(...argv)).not.toMatch(/tss_live|not refused/);
    }
  });

  it("parses money exactly, from a micro-USD to ten million dollars", () => {
    expect([microUsd("99999999.999999"), microUsd("0.000001"), microUsd("-7")]).toEqual([
      ...[99_999_999_999_999n, 1n, -7_000_000n],
    ]);
    for (const wrong of ["", "1e3", ".5", "5.", "0x1", "1.0000001", "123456789", "$5", "Infinity", "--1"])
      expect(() => microUsd(wrong)).toThrow("takes an amount");
  });

  it("parses a time that means the same on every machine", () => {
    expect(moment("2027-01-31T12:00:00Z")).toEqual(new Date(Date.UTC(2027, 0, 31, 12)));
    expect(moment("2027-01-31T12:00+02:00")).toEqual(new Date(Date.UTC(2027, 0, 31, 10)));
    expect(moment("2027-01-31")).toEqual(new Date(Date.UTC(2027, 0, 31)));
    const in90Days = Date.now() + 90 * 86_400_000;
    expect(Math.abs(moment("90d").getTime() - in90Days)).toBeLessThan(60_000);
    for (const wrong of ["2027-01-31T12:00:00", "2027-13-01", "tomorrow", "90", "d"])
      expect(() => moment(wrong)).toThrow("takes a time");
  });
});

describe("help", () => {
  it("for a command is made from the table that parses its command line", () => {
    const described: Command = command({
      summary: "do it",
      details: "It is done.",
      options: OPTIONS,
      async run() {},
    });
    expect(describeCommand("thing do", described)).toBe(
      [
        "usage: tss thing do <id> --amount-usd <usd> [options]",
        "",
        "Do it.",
        "",
        "  <id>                what to act on",
        "  --amount-usd <usd>  how much",
        "  --words <list>      some words",
        "  --count <count>     how many; default 3",
        "  --cursor <cursor>   where to begin",
        "  --json              print JSON",
        "",
        "It is done.",
      ].join("\n"),
    );
  });

  it("goes to standard output with exit code 0, however it is requested", async () => {
    const overview = await runCli([]);
    expect(overview).toMatchObject({ exitCode: 0, err: "" });
    for (const argv of [["help"], ["--help"], ["-h"]]) expect(await runCli(argv)).toEqual(overview);
    const key = await runCli(["key", "create", "--help"]);
    expect(key.out).toContain("usage: tss key create --project <id> --name <name> [options]");
    expect(await runCli(["help", "key", "create"])).toEqual(key);
    expect((await runCli(["key", "--help"])).out).toContain("usage: tss key <create|list|");
  });

  it("has --direct where the guide for operators says so", async () => {
    const guide = readSource("docs/operations/deploy.md").text;
    const named = guide.split("\n\n").find((paragraph) => paragraph.includes("They take neither option."))!;
    const neither = [...named.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
    expect(neither).toHaveLength(4);
    const without = [...neither, ...ALONE];
    const rows = [...guide.matchAll(/^\| (`tss [^|]*) \| (.*) \|$/gm)];
    expect(rows.length).toBeGreaterThan(20);
    for (const [, cell = "", says = ""] of rows) {
      let noun = "";
      for (const [, code = ""] of cell.matchAll(/`([^`]+)`/g)) {
        const name = code.startsWith("tss ") ? code.slice(4) : `${noun} ${code}`;
        noun = name.split(" ")[0]!;
        const isRemote = says.includes("running service") || noun === "treasury";
        const { out } = await runCli(["help", ...name.split(" ")]);
        const hasDirect = out.includes("  --direct ");
        expect([name, hasDirect]).toEqual([name, !isRemote && !without.includes(name)]);
      }
    }
  });

  it("lists every command on its own line, and has help for each", async () => {
    const { out } = await runCli(["help"]);
    const words = out.split("\n").flatMap((line) => /^ {2}(\S+(?: \S+)?) {2,}\S/.exec(line)?.[1] ?? []);
    const nouns = COMMAND_GROUPS.flatMap(({ commands }) => Object.keys(commands));
    expect([...new Set(words.map((each) => each.split(" ")[0]))]).toEqual(nouns);
    for (const each of words) {
      const help = await runCli(["help", ...each.split(" ")]);
      expect(help.exitCode).toBe(0);
      expect(help.out).toMatch(new RegExp(`^usage: tss ${each}`));
      expect(help.out.split("\n").filter((line) => line.length > 120)).toEqual([]);
    }
  });

  it("has the same commands as docs/operations/deploy.md", async () => {
    const { out } = await runCli(["help"]);
    const inHelp = out.split("\n").flatMap((line) => /^ {2}(\S+(?: \S+)?) {2,}\S/.exec(line)?.[1] ?? []);
    const [, section = ""] = readSource("docs/operations/deploy.md").text.split("## The command\n");
    const rows = section.split("\n## ")[0]!.matchAll(/^\| (`tss .*?) \|/gm);
    const inDocument = [...rows].flatMap(([, cell = ""]) => {
      const names = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
      const noun = names[0]!.split(" ")[1]!;
      return names.map((name) => (name.startsWith("tss ") ? name.slice(4) : `${noun} ${name}`));
    });
    expect(inDocument.sort()).toEqual(inHelp.sort());
  });

  it("says for each command that calls the service where the key comes from, and has no option that takes a key", async () => {
    for (const noun of ["project", "key", "admin-key", "credit", "audit"]) {
      const tree = (await findCommand(noun)) as Record<string, Command>;
      const calling = Object.entries(tree).filter(([, { options }]) => Object.hasOwn(options, "url"));
      for (const [verb, { options, details }] of calling) {
        expect([noun, verb, details]).toEqual([noun, verb, expect.stringContaining("TSS_ADMIN_KEY")]);
        expect(Object.keys(options).filter((name) => /admin|apiKey|secret|token/i.test(name))).toEqual([]);
      }
    }
  });
});

describe("a wrong command line", () => {
  it("exits with 2 and reports the fault and the usage only on standard error", async () => {
    expect(await runCli(["credit", "adjust", "--project", "acme"])).toEqual({
      exitCode: 2,
      out: "",
      err: [
        "tss credit adjust: --project takes an id, a UUID",
        "usage: tss credit adjust --project <id> --amount-usd <usd> --reason <text> [options]",
        "Run `tss credit adjust --help` for details.",
      ].join("\n"),
    });
  });

  it("names an unknown command, unless it is so long that it may be a key", async () => {
    expect(await runCli(["frob"])).toMatchObject({ exitCode: 2, out: "" });
    expect((await runCli(["frob"])).err).toBe(
      'tss: unknown command "frob"\nRun `tss help` for the list of commands.',
    );
    expect((await runCli(["key", "frob"])).err).toMatch(
      /^tss key: unknown subcommand "frob"\nusage: tss key </,
    );
    expect((await runCli(["key"])).err).toMatch(/^tss key: a subcommand is missing\n/);
    expect((await runCli(["key", "constructor"])).exitCode).toBe(2);
    const { err } = await runCli(["tss_live_0123456789abcdefghijklmnopqrstuvwxyz"]);
    expect(err).toBe("tss: unknown command of 45 characters\nRun `tss help` for the list of commands.");
    expect((await runCli(["key", "k".repeat(45)])).err).toMatch(
      /^tss key: unknown subcommand of 45 characters\n/,
    );
  });
});
