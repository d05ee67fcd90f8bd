import { readFileSync } from "node:fs";
import { parseAddressBlock } from "../access/address-block.ts";
import { createRedact } from "../platform/telemetry/redact.ts";
import { Secret } from "../platform/telemetry/secret.ts";
import {
  type ConfigVariable,
  NETWORK_SUFFIXES,
  networkVariants,
  type Setting,
} from "./variables/config-variable.ts";

const redact = createRedact();
const SHOWN_MAX_CHARACTERS = 200;

/** Reads variables of a table and collects every fault, so that one error lists them all. */
export class ConfigReader<Name extends string> {
  readonly faults: string[] = [];
  /** The secrets read so far, by the name of their variable. */
  readonly secrets = new Map<string, Secret>();
  /** The names of secrets that are set although a process of this type does not need them. */
  readonly useless = new Set<string>();
  readonly #environment: NodeJS.ProcessEnv;
  readonly #variables: readonly ConfigVariable[];
  #fallbacks = new Map<string, string>();
  /** The suffix of variables for one network; empty without one. */
  #suffix = "";
  /** True if keys without a suffix apply to no network. */
  #needsOwnKeys = false;

  readonly #processType: string | undefined;

  /** @param processType the type of the process that reads. Default: one that needs every secret */
  constructor(
    environment: NodeJS.ProcessEnv,
    variables: readonly ConfigVariable[],
    processType?: string,
    shared?: Pick<ConfigReader<Name>, "faults" | "secrets" | "useless">,
  ) {
    this.#environment = environment;
    this.#variables = variables;
    this.#processType = processType;
    if (shared === undefined) return;
    this.faults = shared.faults;
    this.secrets = shared.secrets;
    this.useless = shared.useless;
  }

  /**
   * Returns a reader of the same variables for one network, where `<NAME>_<NETWORK>` overrides `<NAME>`. Both readers
   * share faults and secrets. If there are other networks, keys need the suffix.
   */
  forNetwork(name: string, hasOthers: boolean): ConfigReader<Name> {
    const reader = new ConfigReader<Name>(this.#environment, this.#variables, this.#processType, this);
    reader.#suffix = name in NETWORK_SUFFIXES ? NETWORK_SUFFIXES[name as keyof typeof NETWORK_SUFFIXES] : "";
    reader.#needsOwnKeys = hasOthers;
    reader.#fallbacks = this.#fallbacks;
    return reader;
  }

  /** Returns true if the environment has the variable or its `_FILE`. */
  isSet(name: string): boolean {
    return [name, `${name}_FILE`].some((one) => this.#environment[one]?.trim());
  }

  /** Returns true if a process of this type needs the secret. */
  needs(name: string): boolean {
    const uselessIn = this.#find(name)?.uselessIn;
    return uselessIn === undefined || uselessIn !== this.#processType;
  }

  /** Returns the name under which this reader finds a variable. */
  nameOf(name: string): string {
    const perNetwork = this.#find(name)?.perNetwork;
    const own = `${name}${this.#suffix}`;
    const isOwn =
      perNetwork !== undefined && (this.isSet(own) || (perNetwork === "own" && this.#needsOwnKeys));
    return isOwn ? own : name;
  }

  /** @param found the value; never of a secret, see {@link ConfigReader.secretFault} */
  fault(name: Name, found: string | undefined, expected: string): void {
    this.#tell(name, found === undefined ? "nothing" : JSON.stringify(shown(found)), expected);
  }

  /** Adds a fault that shows only the length of the secret. */
  secretFault(name: string, secret: string, expected: string): void {
    this.#tell(name, `${secret.length} characters`, expected);
  }

  /** Returns every variable of the table with its effective value. Call it after all reads. */
  settings(): Setting[] {
    return this.#variables
      .flatMap(networkVariants)
      .filter(({ name, isVariant }) => !isVariant || this.isSet(name))
      .map((variable) => this.#settingOf(variable));
  }

  /** Returns the trimmed value or the default. An empty variable counts as unset. */
  optional(name: Name): string | undefined {
    return this.#environment[this.nameOf(name)]?.trim() || this.#find(name)?.default;
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

  /** Reads addresses and CIDR blocks. */
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

  /** Reads a public URL, which must not contain credentials. */
  publicUrl(name: Name): string | undefined {
    const value = this.url(name);
    if (value === undefined || !URL.canParse(value)) return value;
    const { username, password, search } = new URL(value);
    if (username !== "" || password !== "" || search !== "")
      this.secretFault(name, value, "a URL without credentials and query, because it is public");
    return value;
  }

  /** Reads http(s) URLs without credentials, query and fragment. */
  publicUrls(name: Name): string[] {
    const urls = this.list(name);
    for (const text of urls) {
      const url = URL.canParse(text) ? new URL(text) : undefined;
      const isPlain = url !== undefined && `${url.origin}${url.pathname}` === url.href;
      if (!isPlain || !/^https?:$/.test(url.protocol))
        this.fault(name, undefined, "http(s) URLs without credentials and query, separated by commas");
    }
    return urls;
  }

  boolean(name: Name): boolean {
    return this.oneOf(name, ["true", "false"]) === "true";
  }

  /** Reads a number from 0 to 1. */
  share(name: Name): number {
    const text = this.text(name);
    if (/^(?:0?\.\d+|[01](?:\.0*)?)$/.test(text)) return Number(text);
    this.fault(name, text, "a number from 0 to 1");
    return 0;
  }

  /** Reads the path of a readable file; undefined if unset. */
  file(name: Name): string | undefined {
    const path = this.optional(name);
    if (path !== undefined && path !== "") this.#read(name, path);
    return path || undefined;
  }

  /**
   * Reads a secret from the variable or from the file that `<NAME>_FILE` names, not from both. Faults never quote a
   * secret. Returns undefined for a secret that a process of this type does not need, and does not open its file.
   */
  secret(name: Name, pattern: RegExp, expected: string): Secret | undefined {
    const found = this.nameOf(name);
    const direct = this.#environment[found]?.trim();
    const file = this.#environment[`${found}_FILE`]?.trim();
    if (!this.needs(name)) {
      if (direct || file) this.useless.add(direct ? found : `${found}_FILE`);
      if (direct) this.secrets.set(found, new Secret(direct));
      return undefined;
    }
    if (direct && file) this.#tell(name, `both ${found} and ${found}_FILE`, "one of them");
    const value = direct || (file && this.#read(name, file, `${found}_FILE`));
    if (value === "") this.#tell(name, `${found}_FILE=${JSON.stringify(file)}, an empty file`, expected);
    if (!value) return undefined;
    if (!pattern.test(value)) this.secretFault(name, value, expected);
    const secret = new Secret(value);
    this.secrets.set(found, secret);
    return secret;
  }

  /** Reads a key or seed of 32 bytes in hex. */
  secretKey(name: Name): Secret | undefined {
    return this.secret(name, /^[0-9a-f]{64}$/i, "64 hex digits");
  }

  /** Reads a URL that may contain a password. An unescaped `/`, `?` or `#` would end the password too early. */
  secretUrl(
    name: Name,
    pattern: RegExp,
    expected: string,
    canParse: (url: string) => boolean = URL.canParse,
  ): Secret | undefined {
    const secret = this.secret(name, pattern, expected);
    const value = secret?.reveal();
    if (value !== undefined && pattern.test(value) && !canParse(value))
      this.secretFault(name, value, `${expected}, with a percent-encoded password`);
    return secret;
  }

  /** Reads one or more such URLs, comma-separated. */
  requiredSecretUrls(name: Name, pattern: RegExp, expected: string): readonly [Secret, ...Secret[]] {
    const given = this.secret(name, /./, expected)?.reveal();
    const texts = (given ?? "").split(/ *, */);
    if (given === undefined) this.fault(name, undefined, expected);
    const wrong = texts.find((text) => !pattern.test(text) || !URL.canParse(text));
    if (given && wrong !== undefined) this.secretFault(name, wrong, `${expected}, with encoded passwords`);
    const urls = texts.map((text) => new Secret(text)) as [Secret, ...Secret[]];
    for (const [index, url] of urls.entries()) this.secrets.set(`${name} (${index + 1})`, url);
    return urls;
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

  #settingOf({ name, description, secret, default: usual }: ConfigVariable): Setting {
    const about = { name, description, isSecret: secret === true };
    const given = this.#environment[name]?.trim();
    if (given) return { ...about, source: "environment", value: secret ? "[redacted]" : redact(given) };
    const file = secret && this.#environment[`${name}_FILE`]?.trim();
    if (file) return { ...about, source: "file", value: "[redacted]", file };
    const value = this.#fallbacks.get(name) ?? usual;
    return { ...about, value, source: value === undefined ? "unset" : "default" };
  }

  #find(name: string): ConfigVariable | undefined {
    return this.#variables.find((variable) => variable.name === name);
  }

  /** Adds a fault once, because a variable that several networks share is read for each of them. */
  #tell(name: string, found: string, expected: string): void {
    const fault = `${this.nameOf(name)}: expected ${expected}, found ${found}`;
    if (!this.faults.includes(fault)) this.faults.push(fault);
  }
}

/** Returns the printable part of a value that may contain a secret by mistake. */
function shown(value: string): string {
  const text = redact(value);
  return text.length <= SHOWN_MAX_CHARACTERS ? text : `${text.slice(0, SHOWN_MAX_CHARACTERS)}…`;
}
