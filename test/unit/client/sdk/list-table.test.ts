import { describe, expect, test } from "vitest";
import type { ConnectedFullnode, TablePage } from "../../../../src/client/sdk/chain/fullnode.ts";
import { listTable } from "../../../../src/client/sdk/chain/list-table.ts";
import { TssError } from "../../../../src/client/sdk/errors.ts";

type Lister = Pick<ConnectedFullnode, "tablePage">;

const TABLE = { tableId: `0x${"1".repeat(64)}`, hasValues: false };
const signal = new AbortController().signal;
const page = (names: readonly number[], cursor: string | null = null): TablePage => ({
  entries: names.map((name) => ({ name: Uint8Array.of(name), value: undefined })),
  cursor,
});

/** A fullnode with these pages by their cursors, of which the first is "". An error is thrown once, in its turn. */
function fullnode(pages: Record<string, (TablePage | Error)[]>): Lister {
  return {
    async tablePage({ cursor }) {
      const turns = pages[cursor ?? ""]!;
      const turn = turns.length > 1 ? turns.shift()! : turns[0]!;
      if (turn instanceof Error) throw turn;
      return turn;
    },
  };
}

async function names(...fullnodes: Lister[]): Promise<number[]> {
  const found: number[] = [];
  for await (const { name } of listTable(fullnodes, { signal }, TABLE)) found.push(name[0]!);
  return found;
}

describe("the entries of a table", () => {
  test("come from all pages of every fullnode", async () => {
    const first = fullnode({ "": [page([1, 2], "a")], a: [page([3])] });
    expect(await names(first, fullnode({ "": [page([1, 4])] }))).toEqual([1, 2, 3, 1, 4]);
  });

  test("are requested again once, at once, if a fullnode does not answer", async () => {
    const away = new Error("away");
    expect(await names(fullnode({ "": [away, page([1])] }))).toEqual([1]);
    const gone = names(fullnode({ "": [page([1])] }), fullnode({ "": [away] }));
    await expect(gone).rejects.toMatchObject({
      ...{ reason: "CHAIN_UNAVAILABLE", metadata: { fullnode: "2" }, cause: away },
    });
  });

  test.each([
    ["repeats a page", { "": [page([1], "a")], a: [page([2], "a")] }],
    ["continues after an empty page", { "": [page([], "a")], a: [page([2])] }],
  ])("end with an error if a fullnode %s", async (_what, pages) => {
    await expect(names(fullnode(pages))).rejects.toThrow(TssError);
  });

  test("end with the action", async () => {
    const aborted = { signal: AbortSignal.abort(new Error("enough")) };
    const entries = listTable([fullnode({ "": [page([1])] })], aborted, TABLE);
    await expect(entries.next()).rejects.toThrow("enough");
  });
});
