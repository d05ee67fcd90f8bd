import type { OpenDatabase } from "../connections/open-configured-database.ts";
import type { Options, Values } from "./option.ts";

/** Declares a command, so that its action gets the types of its options. */
export function command<O extends Options>(definition: Command<O>): Command<O> {
  return definition;
}

/** The exit codes of `tss`. */
export const EXIT = {
  done: 0,
  /** Refused, failed, or a check found something. */
  failed: 1,
  /** Wrong command line. Nothing was done. */
  usage: 2,
  /** The service or the database was unreachable or too slow. A retry may succeed. */
  unreachable: 3,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The command's access to the process. */
export interface CommandContext {
  /** Writes a line of the result to standard output. */
  print(line: string): void;
  /** Writes a message to standard error. */
  note(line: string): void;
  /** Asks a question and returns the answer. Default: on the terminal, if there is one. */
  ask?(question: string): Promise<string>;
  /** Default: the environment of the process. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
  /** Default: the configured database. */
  readonly openDatabase?: OpenDatabase | undefined;
}

/** A command: its help, its options and its action. */
export interface Command<O extends Options = Options> {
  /** One line, for the list of commands. */
  readonly summary: string;
  /** Additional lines at the end of its own help. */
  readonly details?: string;
  readonly options: O;
  /** Subcommands of a command that also works alone. */
  readonly subcommands?: Readonly<Record<string, Command>>;
  /** Returns the exit code; undefined means 0. A thrown error is printed, and the exit code is 1, 2 or 3. */
  run(values: Values<O>, context: CommandContext): Promise<number | undefined> | Promise<void>;
}

/** A command, or several subcommands: `key` has `create`, `list` and `revoke`. */
export type CommandTree = Command | { readonly [verb: string]: Command };

/** Thrown for a wrong command line. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** True if this is a command without a subcommand. */
export function isCommand(tree: CommandTree): tree is Command {
  return typeof tree["run"] === "function";
}
