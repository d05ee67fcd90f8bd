import type { OpenDatabase } from "./open-configured-database.ts";
import type { Options, Values } from "./option.ts";

/** States a command, with the types of its options. */
export function command<O extends Options>(definition: Command<O>): Command<O> {
  return definition;
}

/** How `tss` ends. */
export const EXIT = {
  /** Done. */
  done: 0,
  /** Refused, failed, or a check found something. */
  failed: 1,
  /** The command line is wrong; nothing was done. */
  usage: 2,
  /** The service or the database was not reached, or gave no answer in time: try again. */
  unreachable: 3,
} as const;

/** One of {@link EXIT}. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What a command has of the process. */
export interface CommandContext {
  /** Writes a line of what was asked for, to standard output. */
  print(line: string): void;
  /** Writes a line about it, to standard error. */
  note(line: string): void;
  /** Default: the environment of the process. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
  /** Default: the database that the configuration names. */
  readonly openDatabase?: OpenDatabase | undefined;
}

/** A command: what help says of it, what it takes, and what it does. */
export interface Command<O extends Options = Options> {
  /** One line, for the list of commands. */
  readonly summary: string;
  /** More lines, for the end of its own help. */
  readonly details?: string;
  readonly options: O;
  /** Commands by a second word, beside what the first word does alone. */
  readonly subcommands?: Readonly<Record<string, Command>>;
  /** Returns the exit code; nothing means done. An error is printed and ends the command with 1, 2 or 3. */
  run(values: Values<O>, context: CommandContext): Promise<number | undefined> | Promise<void>;
}

/** A command, or commands by a second word: `key` has `create`, `list` and `revoke`. */
export type CommandTree = Command | { readonly [verb: string]: Command };

/** The command line is wrong. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Whether a second word is wanted. */
export function isCommand(tree: CommandTree): tree is Command {
  return typeof tree["run"] === "function";
}
