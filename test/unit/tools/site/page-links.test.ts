import { describe, expect, it } from "vitest";
import { type PageMap, withPageLinks } from "../../../../tools/site/page-links.ts";

const map: PageMap = {
  pages: new Map([
    ["docs/sdk.md", "sdk.md"],
    ["docs/operations/deploy.md", "operations/deploy.md"],
    ["examples/node/README.md", "examples/node.md"],
  ]),
  isInRepository: (file) => file === "src/service/app/app.ts",
  sourceUrl: "https://example.com/tree/v1.0.0",
};
const at =
  (from: string) =>
  (text: string, more: Partial<PageMap> = {}) =>
    withPageLinks(text, from, { ...map, ...more });
const inSdk = at("docs/sdk.md");

describe("a link of a document", () => {
  it("leads to the page of the document, with its heading", () => {
    expect(inSdk("[deploy](operations/deploy.md#the-image)")).toBe(
      "[deploy](./operations/deploy.md#the-image)",
    );
    expect(at("docs/operations/deploy.md")("[guide](../sdk.md)")).toBe("[guide](../sdk.md)");
    expect(inSdk("[main\nprogram](../examples/node)")).toBe("[main\nprogram](./examples/node.md)");
  });

  it("stays as it is within a page, and to another site", () => {
    const text = "[a](#errors), [b](https://example.com/x), ![c](https://example.com/y.png)";
    expect(inSdk(text)).toBe(text);
  });

  it("leads to the repository for a file without a page, or is text if no URL is known", () => {
    expect(inSdk("[the root](../src/service/app/app.ts)")).toBe(
      "[the root](https://example.com/tree/v1.0.0/src/service/app/app.ts)",
    );
    expect(inSdk("[the root](../src/service/app/app.ts)", { sourceUrl: undefined })).toBe("the root");
  });

  it("to nothing is refused", () => {
    expect(() => inSdk("[gone](gone.md)")).toThrow("docs/sdk.md links to gone.md, which does not exist");
  });

  it("in code is code", () => {
    const text = "```ts\nlist[0](operations/deploy.md)\n```\n";
    expect(inSdk(text)).toBe(text);
  });
});
