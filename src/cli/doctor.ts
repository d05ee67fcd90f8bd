import { parseArgs } from "node:util";
import { runDoctor } from "../app/doctor/doctor.ts";
import type { NamedFinding } from "../app/doctor/doctor-check.ts";

/**
 * `tss doctor [--json]`: looks at everything that the service needs, and says of each thing what was found and what to
 * do. Exit code 1 when something is wrong; warnings are not.
 */
export async function runDoctorCommand(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...argv], options: { json: { type: "boolean" } } });
  const findings = await runDoctor();
  const isHealthy = findings.every(({ status }) => status !== "fail");
  console.log(values.json ? JSON.stringify({ isHealthy, findings }, undefined, 2) : describe(findings));
  if (!isHealthy) process.exitCode = 1;
}

function describe(findings: readonly NamedFinding[]): string {
  const width = Math.max(...findings.map(({ name }) => name.length));
  return findings
    .flatMap(({ name, status, found, advice }) => [
      `${status.padEnd(4)}  ${name.padEnd(width)}  ${found}`,
      ...(advice === undefined ? [] : [`${" ".repeat(width + 8)}-> ${advice}`]),
    ])
    .join("\n");
}
