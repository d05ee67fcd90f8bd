import { readFileSync } from "node:fs";
import { validate } from "dockerfile-utils";

/** The faults of a Dockerfile: unknown instructions, flags and forms, and what is deprecated. */
export function checkDockerfile(file: string): string[] {
  return validate(readFileSync(file, "utf8")).map(
    ({ range, message }) =>
      `${file}:${range.start.line + 1}: ${typeof message === "string" ? message : message.value}`,
  );
}
