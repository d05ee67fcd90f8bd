import { readFileSync } from "node:fs";
import path from "node:path";
import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { decodeJson } from "../../../../src/transport/rest/decode-request.ts";
import { parametersToJson, parseQuery, readQuery } from "../../../../src/transport/rest/parameters.ts";
import {
  createPathRouter,
  type PathRouter,
  parsePathTemplate,
} from "../../../../src/transport/rest/path-router.ts";
import { DIALECT } from "./dialect.ts";
import { Parameters } from "./gallery.ts";

interface TemplateCase {
  template: string;
  valid: boolean;
  segments?: string[];
  verb?: string;
  variables?: { fieldPath: string; start: number; end: number }[];
}

interface RouterFile {
  routes: string[];
  cases: { path: string; match: string | null; vars: Record<string, string> }[];
}

interface MatcherCase {
  test: string;
  routes: { id: string; method: string; template: string }[];
  invalidTemplates: string[];
  lookups: {
    method: string;
    path: string;
    query?: string;
    match: string | null;
    bindings?: [string, string][];
    bindingValues?: string[];
  }[];
}

interface ParameterCase {
  field: string;
  value: string;
  before?: string[];
  want: JsonValue;
}

/** Vectors of two other implementations. The dialect table lists exactly the differences. */
describe("the vectors of grpc-httpjson-transcoding and vanguard agree on", () => {
  it.each(["vanguard", "httpjson"])("templates: %s", (origin) => {
    const { cases } = read<{ cases: TemplateCase[] }>(`${origin}-template-parse`);
    const name = (one: TemplateCase) => `${origin} template ${one.template}`;
    expect(differing(cases, name, parsed, wanted)).toEqual(expectedOf(cases.map(name)));
  });

  it("routes, by path", () => {
    const { routes, cases } = read<RouterFile>("vanguard-router");
    const router = routerOf(["GET", "POST"].flatMap((method) => routes.map((one) => [method, one, one])));
    const name = (one: (typeof cases)[number]) => `vanguard path ${one.path}`;
    for (const method of ["GET", "POST"]) {
      const got = differing(
        cases,
        name,
        (one) => {
          const match = router.match(method, one.path);
          return { match: match?.value ?? null, vars: Object.fromEntries(match?.bindings ?? []) };
        },
        ({ match, vars }) => ({ match, vars }),
      );
      expect(got).toEqual(expectedOf(cases.map(name)));
    }
    for (const { path: text } of cases) expect(router.match("DELETE", text)).toBeUndefined();
  });

  it("routes and bindings, by path and query", () => {
    for (const { test, routes, invalidTemplates, lookups } of read<{ cases: MatcherCase[] }>(
      "httpjson-path-matcher",
    ).cases) {
      for (const text of invalidTemplates) expect(() => parsePathTemplate(text), text).toThrow(SyntaxError);
      const router = routerOf(routes.map(({ method, template, id }) => [method, template, id]));
      const name = (one: (typeof lookups)[number]) =>
        `${test} ${one.path}${one.query === undefined ? "" : `?${one.query}`}`;
      const got = differing(
        lookups,
        name,
        (one) => {
          const [text = "", query = one.query ?? ""] = one.path.split("?");
          const match = router.match(one.method, text);
          const bindings = match === undefined ? [] : [...match.bindings, ...parseQuery(query)];
          return {
            match: match?.value ?? null,
            bindings: one.bindings && withoutQueryOf(one.path, bindings),
            bindingValues: one.bindingValues && bindings.map(([, value]) => value),
          };
        },
        ({ match, bindings, bindingValues }) => ({ match, bindings, bindingValues }),
      );
      expect(got).toEqual(expectedOf(lookups.map(name)));
    }
  });

  it("the values of parameters", () => {
    const { cases } = read<{ cases: ParameterCase[] }>("vanguard-params");
    const name = (one: ParameterCase) => `${one.field}=${one.value}`;
    const got = differing(
      cases,
      name,
      ({ field, value, before = [] }) => {
        const query = [...before, value].map((text) => `${field}=${encodeURIComponent(text)}`).join("&");
        return orNull(() =>
          decodeJson(Parameters, parametersToJson(readQuery(Parameters, query, new Set()))),
        );
      },
      ({ want }) => want && fromJson(Parameters, want),
    );
    expect(got).toEqual(expectedOf(cases.map(name)));
  });

  it("everything except the listed differences, each of which has a case", () => {
    const all = [
      ...["vanguard", "httpjson"].flatMap((origin) =>
        read<{ cases: TemplateCase[] }>(`${origin}-template-parse`).cases.map(
          ({ template }) => `${origin} template ${template}`,
        ),
      ),
      ...read<RouterFile>("vanguard-router").cases.map((one) => `vanguard path ${one.path}`),
      ...read<{ cases: MatcherCase[] }>("httpjson-path-matcher").cases.flatMap(({ test, lookups }) =>
        lookups.map((one) => `${test} ${one.path}${one.query === undefined ? "" : `?${one.query}`}`),
      ),
      ...read<{ cases: ParameterCase[] }>("vanguard-params").cases.map((one) => `${one.field}=${one.value}`),
    ];
    expect(DIALECT.flatMap(({ differs }) => differs).filter((name) => !all.includes(name))).toEqual([]);
    expect(all.length).toBe(93 + 36 + 23 + 112 + 58);
  });
});

function read<T>(name: string): T {
  return JSON.parse(readFileSync(path.join(import.meta.dirname, "vectors", `${name}.json`), "utf8")) as T;
}

/** The names of the cases with an unexpected outcome. */
function differing<T>(
  cases: readonly T[],
  name: (one: T) => string,
  actual: (one: T) => unknown,
  wanted: (one: T) => unknown,
): string[] {
  return cases
    .filter((one) => {
      try {
        expect(actual(one)).toEqual(wanted(one));
        return false;
      } catch {
        return true;
      }
    })
    .map(name);
}

/** The names that a dialect choice mentions. */
function expectedOf(names: readonly string[]): string[] {
  const known = new Set(DIALECT.flatMap(({ differs }) => differs));
  return names.filter((name) => known.has(name));
}

function parsed(one: TemplateCase) {
  return orNull(() => {
    const { segments, verb, variables } = parsePathTemplate(one.template);
    const isOpen = segments.at(-1)?.kind === "many";
    return {
      segments: segments.map((part) =>
        part.kind === "literal" ? part.text : part.kind === "one" ? "*" : "**",
      ),
      // Some vectors mention only segments and variables.
      verb: one.verb === undefined ? undefined : verb,
      variables:
        one.variables &&
        variables.map(({ fieldPath, start, end }) => ({
          fieldPath,
          start,
          end: isOpen && end === segments.length ? -1 : end,
        })),
    };
  });
}

function wanted({ valid, segments, verb, variables }: TemplateCase) {
  if (!valid) return null;
  return {
    segments,
    verb,
    variables: variables?.map(({ fieldPath, start, end }) => ({ fieldPath, start, end })),
  };
}

/**
 * Builds a router without the templates that the dialect refuses, so that the paths of the others can still be tested.
 */
function routerOf(routes: readonly (readonly string[])[]): PathRouter<string> {
  const router = createPathRouter<string>();
  for (const [method = "", template = "", id = ""] of routes) {
    try {
      router.add(method, template, id);
    } catch (error) {
      expect((error as Error).message).toMatch(/a segment after '\*\*'|expected a literal|already exists/);
    }
  }
  return router;
}

/** The transport cuts off a query before it matches paths, so such cases do not concern the look-up. */
function withoutQueryOf<T>(text: string, bindings: T[]): T[] {
  return text.includes("?") ? [] : bindings;
}

function orNull<T>(make: () => T): T | null {
  try {
    return make();
  } catch {
    return null;
  }
}
