import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { documentPages, writeDocumentPages } from "../../../../tools/site/document-pages.ts";
import type { OpenApi } from "../../../../tools/site/open-api.ts";
import { restReference } from "../../../../tools/site/rest-reference.ts";
import { sidebarOf } from "../../../../tools/site/sidebar.ts";
import { ROOT, readSource, sourcesBelow } from "../../../support/repository/source-files.ts";

const pages = documentPages(ROOT);

describe("the site", () => {
  it("lists every document in its sidebar once", () => {
    const groups = sidebarOf(readSource("docs/README.md").text, (document) => document, String);
    const listed = groups.flatMap(({ items = [] }) => items.map(({ link }) => link?.slice(1)));
    const documents = sourcesBelow(["docs"], [".md"]).map((file) => file.path);
    expect(listed.filter((document) => document?.startsWith("docs/")).sort()).toEqual(
      documents.filter((document) => document !== "docs/README.md"),
    );
  });

  it("has one page for each document", () => {
    const places = [...pages.values()];
    expect(places.length).toBeGreaterThan(30);
    expect(places.filter((page, index) => places.indexOf(page) !== index)).toEqual([]);
  });

  it("has no link to nothing", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "site-"));
    try {
      // Refuses a link to nothing.
      writeDocumentPages(ROOT, folder, undefined);
      expect(readFileSync(path.join(folder, "documents.md"), "utf8")).toContain("](./sdk.md)");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("describes every operation of the OpenAPI document, and every schema that one mentions", () => {
    const document = JSON.parse(readSource("gen/openapi.json").text) as OpenApi;
    const reference = restReference(document);
    const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
    const headings = reference.flatMap(([, text]) =>
      [...text.matchAll(/^### (\S+)$/gm)].map(([, name]) => name),
    );
    expect(operations.length).toBeGreaterThan(50);
    expect(operations.filter(({ operationId }) => !headings.includes(operationId))).toEqual([]);
    for (const [file, text] of reference) {
      const anchors = new Set(
        [...text.matchAll(/^#+ (.+)$/gm)].map(([, name = ""]) =>
          name.toLowerCase().replaceAll(/[^\w-]/g, ""),
        ),
      );
      const dead = [...text.matchAll(/\]\(#([^)]+)\)/g)].filter(([, anchor = ""]) => !anchors.has(anchor));
      expect({ file, dead: dead.map(([link]) => link) }).toEqual({ file, dead: [] });
    }
  });
});
