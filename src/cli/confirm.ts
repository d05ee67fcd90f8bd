import { createInterface } from "node:readline/promises";
import { type CommandContext, UsageError } from "./command-line/command.ts";

/** Asks for confirmation. Throws a UsageError without a terminal. */
export async function confirm(context: CommandContext, question: string): Promise<boolean> {
  const ask = context.ask ?? ((text) => askTerminal(text, "--yes"));
  const answer = await ask(`${question} Type yes to continue: `);
  return answer.trim().toLowerCase() === "yes";
}

/** Has a person type the name of what they act on. Throws if they type anything else, and without a terminal. */
export async function confirmName(context: CommandContext, name: string): Promise<void> {
  const ask = context.ask ?? ((text) => askTerminal(text, "--confirm <name>"));
  const answer = await ask(`Type the name ${name} to continue: `);
  if (answer.trim() !== name) throw new Error("that is not the name; nothing was done");
}

async function askTerminal(question: string, option: string): Promise<string> {
  if (!process.stdin.isTTY)
    throw new UsageError(`there is no terminal to ask on: use ${option} to skip the question`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const stop = new AbortController();
  // Ctrl-C and Ctrl-D count as no.
  for (const event of ["SIGINT", "close"] as const) terminal.once(event, () => stop.abort());
  try {
    return await terminal.question(question, { signal: stop.signal });
  } catch (error) {
    if (stop.signal.aborted) return "";
    throw error;
  } finally {
    terminal.close();
  }
}
