import { readFileSync } from "node:fs";
import { parseAddressBlock } from "../access/address-block.ts";
import {
  CURVE_ALGORITHMS,
  type CurveAlgorithm,
  findSignatureAlgorithm,
  isUnsupportedAlgorithm,
} from "../protocol/algorithms.ts";
import { createRedact } from "../telemetry/redact.ts";
import { Secret } from "../telemetry/secret.ts";

/** One environment variable. */
export interface ConfigVariable {
  readonly name: string;
  /** The default value. Undefined: none. */
  readonly default?: string;
  readonly description: string;
  /** A secret, which is never printed. `<NAME>_FILE` may name a file that contains it. */
  readonly secret?: true;
}

/** Thrown with all faults. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`the configuration has ${faults.length} fault(s):\n${faults.map((f) => `  - ${f}`).join("\n")}`);
    this.faults = faults;
  }
}

/** A variable with its effective value. */
export interface Setting {
  readonly name: string;
  /** Undefined if it is unset and has no default; `[redacted]` for a secret. */
  readonly value: string | undefined;
  readonly source: "default" | "environment" | "file" | "unset";
  /** The file, if the source is one. */
  readonly file?: string;
  readonly isSecret: boolean;
  readonly description: string;
}

const redact = createRedact();
const SHOWN_MAX_CHARACTERS = 200;

/** Reads variables of a table and collects every fault, so that one error lists them all. */
export class ConfigReader<Name extends string> {
  readonly faults: string[] = [];
  /** The secrets that were read, by name. */
  readonly secrets = new Map<Name, Secret>();
  readonly #environment: NodeJS.ProcessEnv;
  readonly #variables: readonly ConfigVariable[];
  readonly #fallbacks = new Map<string, string>();

  constructor(environment: NodeJS.ProcessEnv, variables: readonly ConfigVariable[]) {
    this.#environment = environment;
    this.#variables = variables;
  }

  /** @param found the value; never of a secret, see {@link ConfigReader.secretFault} */
  fault(name: Name, found: string | undefined, expected: string): void {
    this.#tell(name, found === undefined ? "nothing" : JSON.stringify(shown(found)), expected);
  }

  /** Describes a value for errors; shows only the length of a secret. */
  secretFault(name: Name, secret: string, expected: string): void {
    this.#tell(name, `${secret.length} characters`, expected);
  }

  /** Returns every variable of the table with its effective value. Call it after all reads. */
  settings(): Setting[] {
    return this.#variables.map(({ name, description, secret, default: usual }) => {
      const about = { name, description, isSecret: secret === true };
      const given = this.#environment[name]?.trim();
      if (given) return { ...about, source: "environment", value: secret ? "[redacted]" : redact(given) };
      const file = secret && this.#environment[`${name}_FILE`]?.trim();
      if (file) return { ...about, source: "file", value: "[redacted]", file };
      const value = this.#fallbacks.get(name) ?? usual;
      return { ...about, value, source: value === undefined ? "unset" : "default" };
    });
  }

  /** Returns the trimmed value or the default. An empty variable counts as unset. */
  optional(name: Name): string | undefined {
    const variable = this.#variables.find((v) => v.name === name);
    return this.#environment[name]?.trim() || variable?.default;
  }

  text(name: Name): string {
    return this.optional(name) ?? "";
  }

  required(name: Name, pattern: RegExp, expected: string): string {
    const value = this.optional(name);
    if (value === undefined || !pattern.test(value)) this.fault(name, value, expected);
    return value ?? "";
  }

  integer(name: Name, least: number, most: number, fallback?: number): number {
    const text = this.optional(name);
    if (text === undefined && fallback !== undefined) {
      this.#fallbacks.set(name, String(fallback));
      return fallback;
    }
    const value = /^\d+$/.test(text ?? "") ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    this.fault(name, text, `a whole number from ${least} to ${most}`);
    return least;
  }

  oneOf<Value extends string>(name: Name, allowed: readonly Value[]): Value {
    const value = this.text(name);
    if (!allowed.some((one) => one === value)) this.fault(name, value, `one of ${allowed.join(", ")}`);
    return value as Value;
  }

  list(name: Name): string[] {
    return this.text(name)
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "");
  }

  /** Addresses and CIDR blocks. */
  addressBlocks(name: Name): string[] {
    const blocks = this.list(name);
    for (const block of blocks) {
      if (parseAddressBlock(block) === undefined)
        this.fault(name, block, "addresses or CIDR blocks, such as 10.0.0.0/8");
    }
    return blocks;
  }

  url(name: Name): string | undefined {
    const value = this.optional(name);
    if (value === undefined) return undefined;
    if (!/^https?:\/\//.test(value) || !URL.canParse(value)) this.fault(name, value, "an http(s) URL");
    return value;
  }

  /** A public URL, which must not contain credentials. */
  publicUrl(name: Name): string | undefined {
    const value = this.url(name);
    if (value === undefined || !URL.canParse(value)) return value;
    const { username, password, search } = new URL(value);
    if (username !== "" || password !== "" || search !== "")
      this.secretFault(name, value, "a URL without credentials and query, because it is public");
    return value;
  }

  boolean(name: Name): boolean {
    return this.oneOf(name, ["true", "false"]) === "true";
  }

  /** A share, 0 to 1. */
  share(name: Name): number {
    const text = this.text(name);
    if (/^(?:0?\.\d+|[01](?:\.0*)?)$/.test(text)) return Number(text);
    this.fault(name, text, "a number from 0 to 1");
    return 0;
  }

  /** The path of a file that can be read; undefined when unset. */
  file(name: Name): string | undefined {
    const path = this.optional(name);
    if (path !== undefined && path !== "") this.#read(name, path);
    return path || undefined;
  }

  /**
   * Reads a secret from the variable or from the file that `<NAME>_FILE` names, not from both. Faults never quote a
   * secret.
   */
  secret(name: Name, pattern: RegExp, expected: string): Secret | undefined {
    const direct = this.#environment[name]?.trim();
    const file = this.#environment[`${name}_FILE`]?.trim();
    if (direct && file) this.#tell(name, `both ${name} and ${name}_FILE`, "one of them");
    const value = direct || (file && this.#read(name, file, `${name}_FILE`));
    if (value === "") this.#tell(name, `${name}_FILE=${JSON.stringify(file)}, an empty file`, expected);
    if (!value) return undefined;
    if (!pattern.test(value)) this.secretFault(name, value, expected);
    const secret = new Secret(value);
    this.secrets.set(name, secret);
    return secret;
  }

  /** A URL that may contain a password. An unescaped `/`, `?` or `#` would end the password too early. */
  secretUrl(name: Name, pattern: RegExp, expected: string): Secret | undefined {
    const secret = this.secret(name, pattern, expected);
    const value = secret?.reveal();
    if (value !== undefined && pattern.test(value) && !URL.canParse(value))
      this.secretFault(name, value, `${expected}, with a percent-encoded password`);
    return secret;
  }

  /** Like `secretUrl`, but required. */
  requiredSecretUrl(name: Name, pattern: RegExp, expected: string): Secret {
    const secret = this.secretUrl(name, pattern, expected);
    if (secret === undefined) this.fault(name, undefined, expected);
    return secret ?? new Secret("");
  }

  buckets(name: Name): CurveAlgorithm[] {
    return this.list(name).flatMap((item) => this.#bucket(name, item));
  }

  #bucket(name: Name, item: string): CurveAlgorithm[] {
    const [curve, algorithmName = ""] = item.split("/");
    const algorithm = findSignatureAlgorithm(algorithmName);
    const found = CURVE_ALGORITHMS.find((c) => c.curve === curve && c.signatureAlgorithm === algorithm);
    if (found) return [found];
    const names = CURVE_ALGORITHMS.map((c) => `${c.curve}/${c.signatureAlgorithm}`).join(", ");
    const why = isUnsupportedAlgorithm(algorithmName) ? `, since ${algorithmName} is not supported` : "";
    this.fault(name, item, `one of ${names}${why}`);
    return [];
  }

  /** Returns the trimmed content. If the file cannot be read, adds a fault and returns undefined. */
  #read(name: Name, file: string, variable: string = name): string | undefined {
    try {
      return readFileSync(file, "utf8").trim();
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
      this.#tell(name, `${variable}=${JSON.stringify(file)} (${code})`, "a readable file");
      return undefined;
    }
  }

  #tell(name: Name, found: string, expected: string): void {
    this.faults.push(`${name}: expected ${expected}, found ${found}`);
  }
}

/** Returns the printable part of a value that may contain a secret by mistake. */
function shown(value: string): string {
  const text = redact(value);
  return text.length <= SHOWN_MAX_CHARACTERS ? text : `${text.slice(0, SHOWN_MAX_CHARACTERS)}…`;
}
