import { spawnSync } from "node:child_process";

/** Debian's package of each program that npm does not have. */
const PACKAGES: Readonly<Record<string, string>> = { promtool: "prometheus" };

/** Runs a checker. Returns its output as one fault if it fails, and a fault that names the package if it is missing. */
export function runChecker(program: string, argv: readonly string[], input?: string): string[] {
  const { error, status, stdout, stderr } = spawnSync(program, argv, { encoding: "utf8", input });
  if (error !== undefined)
    return [
      `${program} does not run (${error.message}); Debian has it: apt-get install ${PACKAGES[program] ?? program}`,
    ];
  return status === 0 ? [] : [`${program}: ${stdout}${stderr}`.trim()];
}
