import { readFileSync } from "node:fs";
import { validate } from "dockerfile-utils";

/** Returns the faults of a Dockerfile: unknown instructions, flags and forms, and deprecated ones. */
export function checkDockerfile(file: string): string[] {
  return validate(readFileSync(file, "utf8")).map(
    ({ range, message }) =>
      `${file}:${range.start.line + 1}: ${typeof message === "string" ? message : message.value}`,
  );
}
