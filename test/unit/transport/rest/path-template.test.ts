import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { normalizeEscapes, parsePathTemplate } from "../../../../src/transport/rest/path-router.ts";

describe("a path template", () => {
  it("has segments, variables and a verb", () => {
    expect(parsePathTemplate("/v1/{name=shelves/*/books/*}/{rest.of=**}:read")).toEqual({
      segments: [
        { kind: "literal", text: "v1" },
        { kind: "literal", text: "shelves" },
        { kind: "one" },
        { kind: "literal", text: "books" },
        { kind: "one" },
        { kind: "many" },
      ],
      variables: [
        { fieldPath: "name", start: 1, end: 5 },
        { fieldPath: "rest.of", start: 5, end: 6 },
      ],
      verb: "read",
    });
  });

  it("matches a variable without a pattern with one segment", () => {
    expect(parsePathTemplate("/{a}").segments).toEqual([{ kind: "one" }]);
  });

  it.each([
    "",
    "v1",
    "//",
    "/v1/",
    "/{a",
    "/a}",
    "/{}",
    "/{a.}",
    "/{a}/{a}",
    "/{a={b}}",
    "/**/*",
    "/**/**",
    "/{a=**}/{b}",
    "/{a=**}/b",
    "/**/b:c",
    "/{a=b/**/c}",
    "/a:",
    "/a:b:c",
    "/a:b/c",
    "/a b",
    "/a?b",
    "/%zz",
    "/%2",
  ])("refuses %j and names the position", (text) => {
    expect(() => parsePathTemplate(text)).toThrow(/ at \d+ in path template/);
  });
});

describe("escapes", () => {
  it("in their normal form have the same meaning, and are stable", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const normal = normalizeEscapes(encodeURIComponent(text));
        expect(decodeURIComponent(normal)).toBe(text);
        expect(normalizeEscapes(normal)).toBe(normal);
      }),
    );
  });
});
