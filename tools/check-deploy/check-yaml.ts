import { runChecker } from "./run-checker.ts";

/** Two keys of one name, odd indentation and values that other readers take for booleans are faults. */
const RULES = `
extends: default
rules:
  document-start: disable
  line-length: disable
  braces: { max-spaces-inside: 1 }
  comments: { min-spaces-from-content: 1 }
  indentation: { spaces: 2, indent-sequences: true }
  truthy: { allowed-values: ["true", "false"] }
`;

/** The faults of YAML files as text, whatever they mean. */
export const checkYaml = (files: readonly string[]): string[] =>
  runChecker("yamllint", ["--strict", "--config-data", RULES, ...files]);
