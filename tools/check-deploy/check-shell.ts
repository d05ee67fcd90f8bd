import { runChecker } from "./run-checker.ts";

/** Returns the faults of shell scripts. */
export const checkShell = (files: readonly string[]): string[] =>
  runChecker("shellcheck", ["--severity=warning", ...files]);
