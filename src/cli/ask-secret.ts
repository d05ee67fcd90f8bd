import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { type CommandContext, UsageError } from "./command-line/command.ts";

/** Asks for a secret on the terminal, which does not show it. Throws a UsageError without a terminal or an answer. */
export async function askSecret(
  context: CommandContext,
  question: string,
  { what, instead }: AskedSecret,
): Promise<string> {
  if (context.ask !== undefined) return await context.ask(question);
  if (!process.stdin.isTTY) throw new UsageError(`there is no terminal to ask for ${what}: ${instead}`);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  const stop = new AbortController();
  for (const event of ["SIGINT", "close"] as const) terminal.once(event, () => stop.abort());
  try {
    process.stderr.write(question);
    return await terminal.question("", { signal: stop.signal });
  } catch (cause) {
    throw new UsageError(`${what} was not given`, { cause });
  } finally {
    terminal.close();
    process.stderr.write("\n");
  }
}

interface AskedSecret {
  /** What is asked for, such as `the passphrase`. */
  readonly what: string;
  /** What to do without a terminal. */
  readonly instead: string;
}
