import { spawn } from "node:child_process";
import { once } from "node:events";

/** How a command is run. */
export interface CommandOptions {
  /** Whether its output is also shown as it arrives. */
  readonly shown?: boolean;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Runs a program to its end and resolves with its standard output. Rejects with its output if it fails. */
export async function runCommand(
  program: string,
  argv: readonly string[],
  { shown = false, environment = {} }: CommandOptions = {},
): Promise<string> {
  const child = spawn(program, argv, { env: environment, stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let all = "";
  child.stdout.on("data", (data: Buffer) => {
    out += data.toString();
    all += data.toString();
    if (shown) process.stdout.write(data);
  });
  child.stderr.on("data", (data: Buffer) => {
    all += data.toString();
    if (shown) process.stderr.write(data);
  });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`${program} ${argv.join(" ")} ended with ${code}:\n${all.slice(-4_000)}`);
  return out;
}
