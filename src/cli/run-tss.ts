import { type Command, type CommandContext, EXIT, isCommand } from "./command-line/command.ts";
import { COMMAND_NAMES, findCommand } from "./command-line/command-groups.ts";
import { didYouMean } from "./command-line/option.ts";
import { shownWord } from "./command-line/parse-command-line.ts";
import { printableOutput } from "./output/printable.ts";

/**
 * Runs a command or prints its help. Returns the exit code and never throws. Results go to standard output, everything
 * else to standard error. Neither gets a character that controls the terminal, whatever a service, a fullnode or a file
 * says.
 */
export async function runTss(argv: readonly string[], given: CommandContext): Promise<number> {
  if (argv[0] === "--version") return runTss(["version", ...argv.slice(1)], given);
  const context: CommandContext = {
    ...given,
    print: (text) => given.print(printableOutput(text)),
    note: (text) => given.note(printableOutput(text)),
  };
  const isHelp = argv.length === 0 || argv[0] === "help" || argv.includes("--help") || argv.includes("-h");
  const words = argv.slice(argv[0] === "help" ? 1 : 0).filter((word) => !isHelp || !word.startsWith("-"));
  const [noun, verb] = words;
  const help = await import("./command-line/help.ts");
  if (noun === undefined) return print(context, await help.describeAll());
  const tree = await findCommand(noun);
  if (tree === undefined)
    return refuse(
      context,
      `tss: unknown command ${shownWord(noun)}${didYouMean(noun, COMMAND_NAMES)}`,
      "Run `tss help` for the list of commands.",
    );
  const verbsOf = isCommand(tree) ? (tree.subcommands ?? {}) : tree;
  const command = verb !== undefined && Object.hasOwn(verbsOf, verb) ? verbsOf[verb] : undefined;
  if (command !== undefined) return runOrExplain(`${noun} ${verb}`, command, words.slice(2));
  if (isCommand(tree)) return runOrExplain(noun, tree, words.slice(1));
  const verbs = help.describeTree(noun, tree);
  if (isHelp) return print(context, verbs);
  const fault =
    verb === undefined
      ? "a subcommand is missing"
      : `unknown subcommand ${shownWord(verb)}${didYouMean(verb, Object.keys(tree))}`;
  return refuse(context, `tss ${noun}: ${fault}`, verbs);

  function runOrExplain(name: string, found: Command, rest: readonly string[]): Promise<number> | number {
    return isHelp ? print(context, help.describeCommand(name, found)) : run(name, found, rest, context);
  }
}

async function run(
  name: string,
  command: Command,
  argv: readonly string[],
  context: CommandContext,
): Promise<number> {
  try {
    const { parseCommandLine } = await import("./command-line/parse-command-line.ts");
    return (await command.run(parseCommandLine(argv, command.options), context)) ?? EXIT.done;
  } catch (error) {
    const { describeFailure } = await import("./failure.ts");
    const { message, exitCode } = describeFailure(error);
    const { createRedact } = await import("../service/platform/telemetry/redact.ts");
    const { readConfig } = await import("../service/config/config.ts");
    const redact = createRedact(readConfig().secrets);
    context.note(redact(`tss ${name}: ${message}`));
    if (exitCode === EXIT.usage) {
      const { usageOf } = await import("./command-line/help.ts");
      context.note(`${usageOf(name, command)}\nRun \`tss ${name} --help\` for details.`);
    }
    return exitCode;
  }
}

function print(context: CommandContext, text: string): number {
  context.print(text);
  return EXIT.done;
}

function refuse(context: CommandContext, ...lines: readonly string[]): number {
  for (const line of lines) context.note(line);
  return EXIT.usage;
}
