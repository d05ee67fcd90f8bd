import { type ConfigVariable, networkVariants } from "./config-variable.ts";

/** Returns a line for each set variable that resembles one of the table but is not in it. It contains no values. */
export function unknownVariables(
  environment: NodeJS.ProcessEnv,
  variables: readonly ConfigVariable[],
): string[] {
  const known = new Set(
    variables
      .flatMap(networkVariants)
      .flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name])),
  );
  return Object.keys(environment)
    .filter((name) => !known.has(name))
    .sort()
    .flatMap((name) => {
      const similar = mostSimilar(name, known);
      if (similar !== undefined)
        return [`${name} is not a variable of this service; did you mean ${similar}?`];
      const isOwn = OWN_PREFIXES.some((prefix) => name.startsWith(prefix));
      return isOwn ? [`${name} is not a variable of this service and has no effect`] : [];
    });
}

/** The prefixes of this service's variables. An unknown variable with such a prefix is a mistake. */
const OWN_PREFIXES = [
  ...["ADMIN_API_", "BILLING_", "DRAIN_", "GAS_STATION_", "HOT_WALLET_", "LOCALNET_", "OTEL_EXPORTER_OTLP_"],
  ...["PRESIGN_", "RATE_LIMIT_", "SERVICECORE_", "SUI_GRPC_", "TRUSTED_PROX"],
];
/** Shorter names resemble too many others. */
const LEAST_CHARACTERS = 7;

/** Returns the known name that differs only in a few letters. */
function mostSimilar(name: string, known: ReadonlySet<string>): string | undefined {
  if (name.length < LEAST_CHARACTERS) return undefined;
  const most = name.length < 12 ? 1 : 2;
  const near = [...known]
    .filter((other) => Math.abs(other.length - name.length) <= most)
    .map((other) => ({ other, distance: editDistance(name, other) }))
    .filter(({ distance }) => distance <= most);
  return near.sort((a, b) => a.distance - b.distance)[0]?.other;
}

/** Returns the Levenshtein distance: the number of letters to add, remove or change. */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (const [at, letter] of [...left].entries()) {
    const next = [at + 1];
    for (const [column, other] of [...right].entries()) {
      const changed = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
