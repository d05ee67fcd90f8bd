import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { CURVE_ALGORITHMS, type CurveAlgorithm } from "./protocol/algorithms.ts";
import { Secret } from "./telemetry/secret.ts";

/** One environment variable: the table below is the whole surface. */
export interface ConfigVariable {
  readonly name: string;
  /** The value when it is unset; undefined means that it stays unset. */
  readonly default?: string;
  readonly description: string;
  /** Never printed; may also be given as a file's path in `<NAME>_FILE`. */
  readonly secret?: true;
}

/** Thrown with every fault at once. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`the configuration has ${faults.length} fault(s):\n${faults.map((f) => `  - ${f}`).join("\n")}`);
    this.faults = faults;
  }
}

/** Reads variables of a table and collects every fault, so that a wrong configuration is told whole. */
export class ConfigReader<Name extends string> {
  readonly #environment: NodeJS.ProcessEnv;
  readonly #variables: readonly ConfigVariable[];
  readonly #faults: string[] = [];

  constructor(environment: NodeJS.ProcessEnv, variables: readonly ConfigVariable[]) {
    this.#environment = environment;
    this.#variables = variables;
  }

  fault(name: Name, found: string | undefined, expected: string): void {
    this.#faults.push(
      `${name}: expected ${expected}, found ${found === undefined ? "nothing" : JSON.stringify(found)}`,
    );
  }

  done(): void {
    if (this.#faults.length > 0) throw new ConfigError(this.#faults);
  }

  /** The trimmed value or its default; an empty variable counts as unset. */
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
    if (text === undefined && fallback !== undefined) return fallback;
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
      const [, address = "", bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(block) ?? [];
      const maxBits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
      if (Number(bits ?? 0) > maxBits)
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

  /** Faults never quote a secret. */
  secret(name: Name, pattern: RegExp, expected: string): Secret | undefined {
    const direct = this.#environment[name]?.trim();
    const value = direct || this.#secretFile(name);
    if (value === undefined) return undefined;
    if (!pattern.test(value)) this.fault(name, `${value.length} characters`, expected);
    return new Secret(value);
  }

  buckets(name: Name): CurveAlgorithm[] {
    return this.list(name).flatMap((item) => this.#bucket(name, item));
  }

  #bucket(name: Name, item: string): CurveAlgorithm[] {
    const [curve, algorithm] = item.split("/");
    const found = CURVE_ALGORITHMS.find((c) => c.curve === curve && c.signatureAlgorithm === algorithm);
    if (found) return [found];
    const names = CURVE_ALGORITHMS.map((c) => `${c.curve}/${c.signatureAlgorithm}`).join(", ");
    this.fault(name, item, `one of ${names}`);
    return [];
  }

  #secretFile(name: Name): string | undefined {
    const file = this.#environment[`${name}_FILE`]?.trim();
    if (!file) return undefined;
    try {
      return readFileSync(file, "utf8").trim();
    } catch (error) {
      this.fault(
        name,
        `${name}_FILE=${file}`,
        `a readable file (${error instanceof Error ? error.message : String(error)})`,
      );
      return undefined;
    }
  }
}
