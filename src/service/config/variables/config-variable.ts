/** One environment variable. */
export interface ConfigVariable {
  readonly name: string;
  /** The default value. Undefined for none. */
  readonly default?: string;
  readonly description: string;
  /** A secret, which is never printed. `<NAME>_FILE` may name a file that contains it. */
  readonly secret?: true;
  /**
   * Set if `<NAME>_<NETWORK>` overrides the variable on one network. `own` is for keys: with several networks, the
   * variable without a suffix applies to none of them.
   */
  readonly perNetwork?: "override" | "own";
  /** The type of process that does not need this secret, and therefore ignores it. */
  readonly uselessIn?: "api" | "worker";
}

/**
 * The suffixes of variables for one network, by its name. The localnet has none, because it is always the only network.
 */
export const NETWORK_SUFFIXES = { testnet: "_TESTNET", mainnet: "_MAINNET" } as const;

/** Returns the variable, and its variants for single networks, which have no defaults. */
export function networkVariants(
  variable: ConfigVariable,
): readonly (ConfigVariable & { readonly isVariant: boolean })[] {
  const { default: _, ...rest } = variable;
  const suffixes = variable.perNetwork === undefined ? [] : Object.entries(NETWORK_SUFFIXES);
  return [
    { ...variable, isVariant: false },
    ...suffixes.map(([network, suffix]) => ({
      ...rest,
      name: `${variable.name}${suffix}`,
      description: `The same on ${network}`,
      isVariant: true,
    })),
  ];
}

/** A variable with its effective value. */
export interface Setting {
  readonly name: string;
  /** Undefined if it is unset and has no default; `[redacted]` for a secret. */
  readonly value: string | undefined;
  readonly source: "default" | "environment" | "file" | "unset";
  /** The file, if the source is `file`. */
  readonly file?: string;
  readonly isSecret: boolean;
  readonly description: string;
}

/** Thrown for an invalid configuration. The message lists all faults. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`the configuration has ${faults.length} fault(s):\n${faults.map((f) => `  - ${f}`).join("\n")}`);
    this.faults = faults;
  }
}
