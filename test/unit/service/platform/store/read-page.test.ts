import { describe, expect, it } from "vitest";
import { newId } from "../../../../../src/service/platform/store/database.ts";
import {
  type PagedList,
  readPage,
  sealToken,
  UUID_POSITION,
} from "../../../../../src/service/platform/store/read-page.ts";

interface Row {
  readonly id: string;
}

/** A list in memory, the newest first, like those in the database. */
function listOf(rows: readonly Row[], scope: readonly string[] = ["row", "project"]): PagedList<Row> {
  return {
    scope,
    positionOf: ({ id }) => id,
    position: UUID_POSITION,
    read: async (after, count) =>
      rows
        .filter(({ id }) => after === undefined || id < after)
        .toSorted((a, b) => (a.id < b.id ? 1 : -1))
        .slice(0, count),
  };
}

const rowsOf = (count: number): Row[] => Array.from({ length: count }, () => ({ id: newId() }));
const first = (pageSize: number) => ({ pageSize, pageToken: "" });

describe("a page", () => {
  it.each([
    [0, 50],
    [1, 1],
    [200, 200],
    [201, 200],
    [2_147_483_647, 200],
  ])("of size %i has at most %i rows", async (pageSize, count) => {
    const page = await readPage(first(pageSize), listOf(rowsOf(300)));
    expect(page.rows).toHaveLength(count);
    expect(page.nextPageToken).not.toBe("");
  });

  it("that reaches the end has no token, even if it is full", async () => {
    const rows = rowsOf(3);
    expect(await readPage(first(3), listOf(rows))).toEqual({ rows: rows.toReversed(), nextPageToken: "" });
    expect(await readPage(first(3), listOf([]))).toEqual({ rows: [], nextPageToken: "" });
  });

  it("continues after the one before, whatever is added meanwhile", async () => {
    const rows = rowsOf(7);
    const before = [...rows];
    const seen: Row[] = [];
    let pageToken = "";
    do {
      const page = await readPage({ pageSize: 3, pageToken }, listOf(rows));
      seen.push(...page.rows);
      rows.push({ id: newId() });
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(seen).toEqual(before.toReversed());
  });
});

describe("a page token", () => {
  const rows = rowsOf(3);
  const refusal = (pageToken: string, scope?: readonly string[]) =>
    expect(readPage({ pageSize: 1, pageToken }, listOf(rows, scope))).rejects.toMatchObject({
      reason: "VALIDATION",
      violations: [{ field: "page_token" }],
    });

  it("needs no escaping in a URL or a header", async () => {
    expect((await readPage(first(1), listOf(rows))).nextPageToken).toMatch(/^[\w-]{1,256}$/);
  });

  it("is refused in another list, by another project and with another filter", async () => {
    const { nextPageToken } = await readPage(first(1), listOf(rows, ["row", "project", "a"]));
    await refusal(nextPageToken, ["other", "project", "a"]);
    await refusal(nextPageToken, ["row", "another", "a"]);
    await refusal(nextPageToken, ["row", "project", "b"]);
    await refusal(nextPageToken, ["row", "projecta"]);
  });

  it("is refused if the service did not create it", async () => {
    const { nextPageToken } = await readPage(first(1), listOf(rows));
    await refusal("1");
    await refusal(`${nextPageToken}=`);
    await refusal(` ${nextPageToken}`);
    await refusal(nextPageToken.slice(0, -2));
    await refusal(sealToken(["row", "project"], "'; DROP TABLE project"));
  });
});
