import { runChecker } from "./run-checker.ts";

/** The faults of shell scripts. */
export const checkShell = (files: readonly string[]): string[] =>
  runChecker("shellcheck", ["--severity=warning", ...files]);
