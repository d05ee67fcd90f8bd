import { formatPairs } from "../output/format.ts";
import { type Command, type CommandTree, EXIT, isCommand } from "./command.ts";
import { COMMAND_GROUPS } from "./command-groups.ts";
import { type Option, optionName } from "./option.ts";

/** The help of all commands, which the build writes into the bundle. Undeclared in the sources. */
declare const TSS_HELP: string | undefined;

/** Returns the help of all commands, by groups. The bundle has it as a text, because making it loads every command. */
export async function describeAll(): Promise<string> {
  if (typeof TSS_HELP === "string") return TSS_HELP;
  const groups = await Promise.all(
    COMMAND_GROUPS.map(async ({ title, commands }) => {
      const loaded = Object.entries(commands).map(async ([name, load]) => linesOf(name, await load()));
      return { title, lines: (await Promise.all(loaded)).flat() };
    }),
  );
  const all = formatPairs(groups.flatMap(({ lines }) => lines)).split("\n");
  const sections = groups.map(({ title, lines }) => [title, ...all.splice(0, lines.length).map(indent)]);
  return [
    "usage: tss <command> [options]",
    ...sections.flatMap((section) => ["", ...section]),
    "",
    "Run `tss <command> --help` for the options of a command.",
    `Exit codes: ${EXIT.done} done; ${EXIT.failed} failed or refused; ${EXIT.usage} wrong command line; ${EXIT.unreachable} service unreachable, try again.`,
  ].join("\n");
}

/** Returns the help of the subcommands of one word. */
export function describeTree(name: string, tree: Exclude<CommandTree, Command>): string {
  const lines = formatPairs(linesOf(name, tree)).split("\n");
  return [`usage: tss ${name} <${Object.keys(tree).join("|")}> [options]`, "", ...lines.map(indent)].join(
    "\n",
  );
}

/** Returns the help of one command with its options. */
export function describeCommand(name: string, command: Command): string {
  const { summary, details, options, subcommands } = command;
  const rows = Object.entries(options).map(
    ([option, shape]) => [labelOf(option, shape), shape.description] as const,
  );
  return [
    usageOf(name, { options }),
    "",
    capitalised(summary),
    ...(rows.length === 0 ? [] : ["", ...formatPairs(rows).split("\n").map(indent)]),
    ...(details === undefined ? [] : ["", details]),
    ...(subcommands === undefined
      ? []
      : ["", "Subcommands:", ...formatPairs(verbsOf(name, subcommands)).split("\n").map(indent)]),
  ].join("\n");
}

/** Returns the usage line of a command. */
export function usageOf(name: string, { options }: Pick<Command, "options">): string {
  const entries = Object.entries(options);
  const wanted = entries.filter(([, { isRequired }]) => isRequired).map((entry) => labelOf(...entry));
  return ["usage: tss", name, ...wanted, ...(wanted.length < entries.length ? ["[options]"] : [])].join(" ");
}

function linesOf(name: string, tree: CommandTree): [string, string][] {
  if (isCommand(tree)) return [[name, tree.summary], ...linesOf(name, tree.subcommands ?? {})];
  return verbsOf(name, tree);
}

function verbsOf(name: string, verbs: Exclude<CommandTree, Command>): [string, string][] {
  return Object.entries(verbs).map(([verb, { summary }]) => [`${name} ${verb}`, summary]);
}

function labelOf(name: string, { kind, placeholder }: Option<unknown>): string {
  if (kind === "operand") return placeholder;
  return kind === "flag" ? optionName(name) : `${optionName(name)} ${placeholder}`;
}

function indent(line: string): string {
  return `  ${line}`;
}

function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
