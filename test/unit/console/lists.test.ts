import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  parameterOf,
  placeOf,
  placeText,
  withParameter,
} from "../../../src/console/address/hash-parameters.ts";
import { READ_ALL_MAX_COUNT, readAll } from "../../../src/console/api/use-pages.ts";
import { csvFormOf, csvText } from "../../../src/console/format/csv.ts";
import { sortedRows } from "../../../src/console/format/sorted.ts";

describe("a CSV file", () => {
  it("has a line of titles and a line for each row, and quotes what would break a line", () => {
    expect(
      csvText(
        ["Name", "Note"],
        [
          ["a,b", 'says "hi"'],
          ["two\nlines", " x "],
        ],
      ),
    ).toBe('Name,Note\r\n"a,b","says ""hi"""\r\n"two\nlines"," x "\r\n');
  });

  it.each(["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", " =1", "\t=1", "\r=1", "\u200b=1", "＝1"])(
    "runs no formula from %j",
    (text) => {
      const cell = csvText([], [[text]]).split("\r\n")[1] ?? "";
      expect(cell.replace(/^"/, "").startsWith("'")).toBe(true);
    },
  );

  it("has the separator and the decimals of the reader's spreadsheets", () => {
    const rows = [["1.5", "a;b", "c,d", "-7"]];
    expect(csvText(["Price", "Name", "Note", "Sum"], rows, csvFormOf("de"))).toBe(
      'Price;Name;Note;Sum\r\n1,5;"a;b";"c,d";-7\r\n',
    );
    expect(csvText([], rows, csvFormOf("en"))).toBe('\r\n1.5,"a;b","c,d",-7\r\n');
  });

  it.each(["en", "de"])(
    "runs no formula where a spreadsheet in another locale than %s cuts a text",
    (locale) => {
      const other = locale === "en" ? ";" : ",";
      for (const cut of [`x${other}=1+1`, `x${other} =1+1`, `x${other}"=1+1`, "x\n=1+1"]) {
        const line = csvText([], [["id", cut]], csvFormOf(locale));
        const cells = line.split(new RegExp(`[${other}\\r\\n]`));
        expect(cells.filter((cell) => /^["\s]*=/.test(cell))).toEqual([]);
      }
    },
  );

  it("keeps numbers as numbers", () => {
    expect(csvText([], [["-12.5", "0.000001", "7"]])).toBe("\r\n-12.5,0.000001,7\r\n");
  });
});

describe("sorted rows", () => {
  const sort = (texts: string[], isNumber: boolean, isDescending = false) =>
    sortedRows(texts, { textOf: (text) => text, isNumber, isDescending });

  it("are in the order of their numbers, or of their texts", () => {
    expect(sort(["10", "9", "-1", "0.5"], true)).toEqual(["-1", "0.5", "9", "10"]);
    expect(sort(["key 10", "key 9", "a"], false)).toEqual(["a", "key 9", "key 10"]);
    expect(sort(["1", "3", "2"], true, true)).toEqual(["3", "2", "1"]);
  });

  it("end with those that have no value, in both directions", () => {
    expect(sort(["", "2", "1"], true)).toEqual(["1", "2", ""]);
    expect(sort(["", "2", "1"], true, true)).toEqual(["2", "1", ""]);
  });
});

describe("an address", () => {
  const change = (hash: string, name: string, value: string) =>
    withParameter(hash, { name, value, defaultValue: "" });

  it("keeps a filter, and drops it at its default", () => {
    expect(change("#/signs", "state", "2")).toBe("#/signs?state=2");
    expect(change("#/signs?state=2", "state", "")).toBe("#/signs");
    expect(parameterOf("#/signs?state=2", "state")).toBe("2");
    expect(parameterOf("#/signs", "state")).toBeNull();
  });

  it("returns to the first page when a filter changes, and stays when the sort or the columns change", () => {
    const hash = "#/signs?signs.page=3.abc";
    expect(change(hash, "state", "2")).toBe("#/signs?state=2");
    expect(change(hash, "signs.sort", "Price")).toBe("#/signs?signs.page=3.abc&signs.sort=Price");
    expect(change(hash, "signs.hidden", "User")).toBe("#/signs?signs.page=3.abc&signs.hidden=User");
  });

  it("keeps the place in a list with any token, and takes anything else for the first page", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 9_999 }),
        fc.string({ minLength: 1, maxLength: 50 }),
        (number, token) => {
          const text = placeText({ number, token });
          const hash = change("#/signs", "signs.page", text);
          expect(placeOf(parameterOf(hash, "signs.page") ?? "")).toEqual({ number, token });
        },
      ),
    );
    for (const text of ["", "1.abc", "x.abc", "3", "3.", "-2.abc", "3x.abc"])
      expect(placeOf(text)).toEqual({ number: 1, token: "" });
  });
});

it("a list is read from its first page to its last, and no further than its bound", async () => {
  const asked: string[] = [];
  const listOf =
    (pageCount: number) =>
    async ({ pageToken }: { pageToken: string }) => {
      asked.push(pageToken);
      const number = Number(pageToken || "1");
      return {
        items: Array.from({ length: 200 }, (_, index) => number * 1_000 + index),
        nextPageToken: number < pageCount ? `${number + 1}` : "",
      };
    };
  const { signal } = new AbortController();
  expect(await readAll(listOf(3), signal)).toHaveLength(600);
  expect(asked).toEqual(["", "2", "3"]);
  expect(await readAll(listOf(1_000), signal)).toHaveLength(READ_ALL_MAX_COUNT);
  expect(asked).toHaveLength(3 + READ_ALL_MAX_COUNT / 200);
});

it("the reading of a whole list ends if the service gives empty pages for ever", async () => {
  let count = 0;
  const load = async () => ({ items: [], nextPageToken: `${++count}` });
  await expect(readAll(load, new AbortController().signal)).rejects.toThrow("without an end");
  expect(count).toBe(200);
});

it("the reading of a whole list ends when the reader leaves", async () => {
  const leaving = new AbortController();
  let count = 0;
  const load = async () => {
    if (++count === 2) leaving.abort();
    return { items: [count], nextPageToken: "more" };
  };
  await expect(readAll(load, leaving.signal)).rejects.toThrow();
  expect(count).toBe(2);
});
