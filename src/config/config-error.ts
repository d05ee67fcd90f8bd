/** Thrown for an invalid configuration. The message lists all faults. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`the configuration has ${faults.length} fault(s):\n${faults.map((f) => `  - ${f}`).join("\n")}`);
    this.faults = faults;
  }
}
