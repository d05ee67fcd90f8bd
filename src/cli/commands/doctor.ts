import { runDoctor } from "../../app/doctor/doctor.ts";
import type { NamedFinding } from "../../app/doctor/doctor-check.ts";
import { command, EXIT } from "../command.ts";
import { flag } from "../option.ts";

/** `tss doctor`. */
export const doctorCommand = command({
  summary: "check everything that the service needs, and say what to do",
  details: "Changes nothing. You can run it beside a running service. Exits with 1 if something is wrong.",
  options: { json: flag("print a JSON object") },
  async run({ json }, { environment, print }) {
    const findings = await runDoctor(environment);
    const isHealthy = findings.every(({ status }) => status !== "fail");
    print(json ? JSON.stringify({ isHealthy, findings }, undefined, 2) : describe(findings));
    return isHealthy ? EXIT.done : EXIT.failed;
  },
});

function describe(findings: readonly NamedFinding[]): string {
  const width = Math.max(...findings.map(({ name }) => name.length));
  return findings
    .flatMap(({ name, status, found, advice }) => [
      `${status.padEnd(4)}  ${name.padEnd(width)}  ${found}`,
      ...(advice === undefined ? [] : [`${" ".repeat(width + 8)}-> ${advice}`]),
    ])
    .join("\n");
}
