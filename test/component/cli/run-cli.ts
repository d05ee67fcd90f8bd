import type { OpenDatabase } from "../../../src/cli/connections/open-configured-database.ts";
import { runTss } from "../../../src/cli/run-tss.ts";

/** The outcome of a command and its output. */
export interface CliResult {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

/**
 * Runs `tss` in this process with only the given environment. `answer` is typed at every prompt, or its items are typed
 * one after the other.
 */
export async function runCli(
  argv: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  openDatabase?: OpenDatabase,
  answer?: string | readonly string[],
): Promise<CliResult> {
  const [out, err]: [string[], string[]] = [[], []];
  const answers = Array.isArray(answer) ? [...(answer as string[])] : [];
  const typed = () => (typeof answer === "string" ? answer : (answers.shift() ?? ""));
  const exitCode = await runTss(argv, {
    print: (line) => void out.push(line),
    note: (line) => void err.push(line),
    environment,
    openDatabase,
    ...(answer !== undefined && { ask: async () => typed() }),
  });
  return { exitCode, out: out.join("\n"), err: err.join("\n") };
}

/** Runs a command that must succeed, and returns its output. */
export async function printed(...run: Parameters<typeof runCli>): Promise<string> {
  const [argv] = run;
  const { exitCode, out, err } = await runCli(...run);
  if (exitCode !== 0) throw new Error(`tss ${argv.join(" ")} ended with ${exitCode}:\n${err}`);
  return out;
}

/** Replaces the parts of a text that differ between runs: ids, times and keys. */
export function masked(text: string): string {
  return text
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "00000000-0000-0000-0000-000000000000")
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "2026-01-01T00:00:00Z")
    .replace(/tss_(local|admin)_\w{12,}/g, "tss_$1_KEY")
    .replace(/tss_(local|admin)_\w{4}\b/g, "tss_$1_PRE");
}
