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

describe("a router", () => {
  it("prefers literals to *, and * to **", () => {
    const { match } = routerOf("/a/b", "/a/{x}", "/{deep=**}");
    expect(match("/a/b")).toEqual(["/a/b", {}]);
    expect(match("/a/c")).toEqual(["/a/{x}", { x: "c" }]);
    expect(match("/a/c/d")).toEqual(["/{deep=**}", { deep: "a/c/d" }]);
  });

  it("goes back when the more special branch has no end", () => {
    const { match } = routerOf("/a/b/c", "/a/{x}/d");
    expect(match("/a/b/d")).toEqual(["/a/{x}/d", { x: "b" }]);
  });

  it("binds variables of several segments, before and after **", () => {
    const { match } = routerOf("/v1/{name=shelves/*/books/*}", "/files/{path=**}/raw", "/{x}/{y=m/**/n}");
    expect(match("/v1/shelves/1/books/2")?.[1]).toEqual({ name: "shelves/1/books/2" });
    expect(match("/files/a/b/raw")?.[1]).toEqual({ path: "a/b" });
    expect(match("/files/raw")?.[1]).toEqual({ path: "" });
    expect(match("/q/m/1/2/n")?.[1]).toEqual({ x: "q", y: "m/1/2/n" });
  });

  it("tells verbs from colons in text", () => {
    const { match } = routerOf("/items/{id}", "/items/{id}:close");
    expect(match("/items/7:close")).toEqual(["/items/{id}:close", { id: "7" }]);
    expect(match("/items/7:open")).toEqual(["/items/{id}", { id: "7:open" }]);
  });

  it("does not match an empty segment, a slash more or one less", () => {
    const { match } = routerOf("/items/{id}");
    for (const path of ["/items/", "/items", "/items/1/", "//items/1", "items/1", ""]) {
      expect(match(path), path).toBeUndefined();
    }
  });

  it("keeps %2F in variables of several segments, and decodes it in those of one", () => {
    const { match } = routerOf("/one/{a}", "/many/{b=**}");
    expect(match("/one/x%2Fy%20z")?.[1]).toEqual({ a: "x/y z" });
    expect(match("/many/x%2fy%20z/w")?.[1]).toEqual({ b: "x%2Fy z/w" });
  });

  it("binds nothing to escapes that are not UTF-8", () => {
    const { match } = routerOf("/one/{a}", "/many/{b=**}");
    expect(match("/one/%ff")?.[1]).toEqual({ a: undefined });
    expect(match("/many/x/%ff")?.[1]).toEqual({ b: undefined });
  });

  it("refuses a route that is taken", () => {
    const { router } = routerOf("/a/{x}", "/b/**/c");
    expect(() => router.add("GET", "/a/{y}", "")).toThrow("taken");
    expect(() => router.add("GET", "/b/**/c", "")).toThrow("taken");
    router.add("POST", "/a/{x}", "");
    expect(router.methodsOf("/a/1")).toEqual(["GET", "POST"]);
  });

  it("gives back any text that was escaped into a path", () => {
    const { match } = routerOf("/x/{a}/y/{b}:go");
    const text = fc.string({ unit: "grapheme", minLength: 1 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const path = `/x/${encodeURIComponent(a)}/y/${encodeURIComponent(b)}:go`;
        expect(match(path)?.[1]).toEqual({ a, b });
      }),
    );
  });

  it("never throws on any path", () => {
    const { match } = routerOf("/a/{x}", "/{y=**}/b:v", "/c/{z=d/*}");
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
