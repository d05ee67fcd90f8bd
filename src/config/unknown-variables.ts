import type { ConfigVariable } from "./reader.ts";

/** A line for each variable that is set, is none of the table, and looks as if it were meant to be. No values. */
export function unknownVariables(
  environment: NodeJS.ProcessEnv,
  variables: readonly ConfigVariable[],
): string[] {
  const known = new Set(variables.flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name])));
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

/** Names that begin so are this service's own: whatever else begins so is a mistake. */
const OWN_PREFIXES = [
  ...["ADMIN_API_", "BILLING_", "DRAIN_", "GAS_STATION_", "HOT_WALLET_", "LOCALNET_", "OTEL_EXPORTER_OTLP_"],
  ...["PRESIGN_", "RATE_LIMIT_", "SERVICECORE_", "SUI_GRPC_", "TRUSTED_PROX"],
];
/** Shorter names are like too many others. */
const LEAST_CHARACTERS = 7;

/** The known name that differs in a few letters only. */
function mostSimilar(name: string, known: ReadonlySet<string>): string | undefined {
  if (name.length < LEAST_CHARACTERS) return undefined;
  const most = name.length < 12 ? 1 : 2;
  const near = [...known]
    .filter((other) => Math.abs(other.length - name.length) <= most)
    .map((other) => ({ other, distance: editDistance(name, other) }))
    .filter(({ distance }) => distance <= most);
  return near.sort((a, b) => a.distance - b.distance)[0]?.other;
}

/** Letters to be added, left out or changed to make one of the other (Levenshtein). */
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
