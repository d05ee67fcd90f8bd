import { runChecker } from "./run-checker.ts";

/** Duplicate keys, odd indentation, and values that other parsers read as booleans are faults. */
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

/** Returns the faults of YAML files as text, whatever their meaning. */
export const checkYaml = (files: readonly string[]): string[] =>
  runChecker("yamllint", ["--strict", "--config-data", RULES, ...files]);
