import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPathRouter } from "../../../../src/transport/rest/path-router.ts";

function routerOf(...templates: string[]) {
  const router = createPathRouter<string>();
  for (const template of templates) router.add("GET", template, template);
  const match = (path: string) => {
    const found = router.match("GET", path);
    return found && [found.value, Object.fromEntries(found.bindings)];
  };
  return { router, match };
}

/** One segment of a template, with a matching text, plain and as it is in a path. */
interface Piece {
  readonly template: string;
  readonly text: string;
  readonly path: string;
}

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 });
const verb = fc.constantFrom("", "go", "take%20it");

const literal = text.map((plain): Piece => {
  const path = encodeURIComponent(plain).replace(/\*/g, "%2A");
  return { template: path, text: plain, path };
});
const one = text.map((plain): Piece => ({ template: "*", text: plain, path: encodeURIComponent(plain) }));
const many = fc.array(text, { maxLength: 4 }).map(
  (parts): Piece => ({
    template: "**",
    text: parts.join("/"),
    path: parts.map((plain) => encodeURIComponent(plain)).join("/"),
  }),
);

/** The value of several segments: `%2F` stays, so that a slash within a segment differs from one between two. */
const bindMany = (pieces: readonly Piece[]) =>
  pieces
    .filter(({ path }) => path !== "")
    .map(({ path }) => path.split(/(%2F)/).map((part) => (part === "%2F" ? part : decodeURIComponent(part))))
    .map((parts) => parts.join(""))
    .join("/");

/** A template of segments and variables in any order, with a path made from texts for its variables. */
const templateWithBindings = fc
  .record({
    groups: fc.array(
      fc.record({
        isVariable: fc.boolean(),
        pieces: fc.array(fc.oneof(literal, one), { minLength: 1, maxLength: 3 }),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    tail: fc.option(fc.record({ isVariable: fc.boolean(), piece: many }), { nil: undefined }),
    verb,
  })
  .map(({ groups, tail, verb: ending }) => {
    const all = [
      ...groups,
      ...(tail === undefined ? [] : [{ isVariable: tail.isVariable, pieces: [tail.piece] }]),
    ];
    const bindings: Record<string, string> = {};
    const parts = all.map(({ isVariable, pieces }, index) => {
      const pattern = pieces.map(({ template }) => template).join("/");
      if (!isVariable) return pattern;
      const [first] = pieces;
      const isSingle = pieces.length === 1 && first?.template !== "**";
      bindings[`v${index}`] = isSingle && first !== undefined ? first.text : bindMany(pieces);
      return `{v${index}=${pattern}}`;
    });
    const path = all
      .flatMap(({ pieces }) => pieces)
      .filter(({ path: part }) => part !== "")
      .map(({ path: part }) => part);
    const suffix = ending === "" ? "" : `:${ending}`;
    return { template: `/${parts.join("/")}${suffix}`, path: `/${path.join("/")}${suffix}`, bindings };
  });

describe("a router", () => {
  it("prefers literals to *, and * to **", () => {
    const { match } = routerOf("/a/b", "/a/{x}", "/{deep=**}");
    expect(match("/a/b")).toEqual(["/a/b", {}]);
    expect(match("/a/c")).toEqual(["/a/{x}", { x: "c" }]);
    expect(match("/a/c/d")).toEqual(["/{deep=**}", { deep: "a/c/d" }]);
  });

  it("backtracks if the more specific branch has no end", () => {
    const { match } = routerOf("/a/b/c", "/a/{x}/d");
    expect(match("/a/b/d")).toEqual(["/a/{x}/d", { x: "b" }]);
  });

  it("binds variables of several segments", () => {
    const { match } = routerOf("/v1/{name=shelves/*/books/*}", "/files/{path=raw/**}", "/{x}/{y=m/*}/z");
    expect(match("/v1/shelves/1/books/2")?.[1]).toEqual({ name: "shelves/1/books/2" });
    expect(match("/files/raw/a/b")?.[1]).toEqual({ path: "raw/a/b" });
    expect(match("/q/m/1/z")?.[1]).toEqual({ x: "q", y: "m/1" });
  });

  it("matches ** with no segment", () => {
    const { match } = routerOf("/files/{path=**}", "/raw/{path=x/**}");
    expect(match("/files")?.[1]).toEqual({ path: "" });
    expect(match("/raw/x")?.[1]).toEqual({ path: "x" });
    expect(match("/raw")).toBeUndefined();
  });

  it("binds no empty segment, except under **", () => {
    const { match } = routerOf("/files/{path=**}", "/raw/**", "/goods/{path=**}:go", "/{a}/b/**");
    for (const path of ["/files/", "/files//a", "/files/a//b", "/files/a/", "/goods/:go", "//b/c"]) {
      expect(match(path), path).toBeUndefined();
    }
    expect(match("/raw/")?.[0]).toBe("/raw/**");
    expect(match("/x/b//c/")?.[1]).toEqual({ a: "x" });
  });

  it("uses the route for any method if the method has none", () => {
    const { router } = routerOf("/a/b");
    router.add("*", "/a/{x}", "any");
    expect(router.match("GET", "/a/b")?.value).toBe("/a/b");
    expect(router.match("GET", "/a/c")?.value).toBe("any");
    expect(router.match("BREW", "/a/b")?.value).toBe("any");
  });

  it("distinguishes verbs from colons in text", () => {
    const { match } = routerOf("/items/{id}", "/items/{id}:close");
    expect(match("/items/7:close")).toEqual(["/items/{id}:close", { id: "7" }]);
    expect(match("/items/7:open")).toEqual(["/items/{id}", { id: "7:open" }]);
  });

  it("does not match an empty segment, or a missing or extra slash", () => {
    const { match } = routerOf("/items/{id}");
    for (const path of ["/items/", "/items", "/items/1/", "//items/1", "items/1", ""]) {
      expect(match(path), path).toBeUndefined();
    }
  });

  it("keeps %2F in variables of several segments, and decodes it in those of one", () => {
    const { match } = routerOf("/one/{a}", "/many/{b=**}");
    expect(match("/one/x%2Fy%20z")?.[1]).toEqual({ a: "x/y z" });
    expect(match("/many/x%2fy%20z/%2F")?.[1]).toEqual({ b: "x%2fy z/%2F" });
  });

  it("refuses escapes that are not UTF-8", () => {
    const { match } = routerOf("/one/{a}", "/many/{b=**}");
    expect(match("/one/%ff")?.[1]).toEqual({ a: undefined });
    expect(match("/many/x/%ff")?.[1]).toEqual({ b: undefined });
  });

  it("refuses a route that exists", () => {
    const { router } = routerOf("/a/{x}", "/b/**");
    expect(() => router.add("GET", "/a/{y}", "")).toThrow("already exists");
    expect(() => router.add("GET", "/b/{y=**}", "")).toThrow("already exists");
    router.add("POST", "/a/{x}", "");
    expect(router.methodsOf("/a/1")).toEqual(["GET", "POST"]);
  });

  it("binds the values of a generated path, for any template of the grammar", () => {
    fc.assert(
      fc.property(templateWithBindings, ({ template, path, bindings }) => {
        const { match } = routerOf(template);
        expect(match(path)).toEqual([template, bindings]);
      }),
      { numRuns: 1000 },
    );
  });

  it("never throws on any path", () => {
    const { match } = routerOf("/a/{x}", "/{y=**}:v", "/c/{z=d/*}");
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("/", "a", "b", "c", "d", ":", "v", "%", "%2F", "%ff", "")),
        (parts) => {
          match(parts.join(""));
        },
      ),
    );
  });
});
