import { readFileSync } from "node:fs";
import path from "node:path";
import { ROOT } from "../../../../support/repository/source-files.ts";

interface Reply {
  readonly $ref?: string;
  readonly "x-reasons"?: readonly string[];
}

interface Document {
  readonly paths: Record<string, Record<string, { operationId: string; responses: Record<string, Reply> }>>;
  readonly components: { readonly responses: Record<string, Reply> };
}

/** The reasons that the OpenAPI document gives for each operation's refusals, by the operation's id. */
export function documentedReasons(): ReadonlyMap<string, ReadonlySet<string>> {
  const file = path.join(ROOT, "gen/openapi.json");
  const { paths, components } = JSON.parse(readFileSync(file, "utf8")) as Document;
  const reasonsOf = ({ $ref, ...reply }: Reply) =>
    ($ref === undefined ? reply : components.responses[$ref.split("/").at(-1)!])?.["x-reasons"] ?? [];
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  return new Map(
    operations.map(({ operationId, responses }) => [
      operationId,
      new Set(Object.values(responses).flatMap(reasonsOf)),
    ]),
  );
}
