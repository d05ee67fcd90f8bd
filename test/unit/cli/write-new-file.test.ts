import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { writeNewFile } from "../../../src/cli/output/write-new-file.ts";

const folder = mkdtempSync(path.join(tmpdir(), "write-new-file-"));
afterAll(() => rmSync(folder, { recursive: true }));
const nameOf = (name: string) => path.join(folder, name);

async function* lines(...texts: readonly (string | (() => void))[]): AsyncGenerator<Buffer> {
  for (const text of texts) {
    if (typeof text === "string") yield Buffer.from(text);
    else text();
  }
}

it("a file has its name only when it is whole, and only its owner can read it", async () => {
  const file = nameOf("whole");
  const seen: boolean[] = [];
  await writeNewFile(
    file,
    lines("one\n", () => seen.push(existsSync(file)), "two\n"),
  );
  expect(seen).toEqual([false]);
  expect(readFileSync(file, "utf8")).toBe("one\ntwo\n");
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it("a failed attempt leaves nothing, and the next one succeeds", async () => {
  const file = nameOf("failed");
  const fail = () => {
    throw new Error("the service is gone");
  };
  await expect(writeNewFile(file, lines("one\n", fail))).rejects.toThrow("the service is gone");
  expect(readdirSync(folder).filter((name) => name.startsWith("failed"))).toEqual([]);
  await writeNewFile(file, lines("two\n"));
  expect(readFileSync(file, "utf8")).toBe("two\n");
});

it("an attempt that was killed does not block the next one", async () => {
  const file = nameOf("killed");
  writeFileSync(`${file}.partial`, "half of a longer line", { mode: 0o644 });
  await writeNewFile(file, lines("one\n"));
  expect(readFileSync(file, "utf8")).toBe("one\n");
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it.each(["before", "during"])("a file that appears %s the attempt stays as it is", async (when) => {
  const file = nameOf(`taken-${when}`);
  const take = () => writeFileSync(file, "of another");
  if (when === "before") take();
  const content = lines("one\n", () => {
    if (when === "during") take();
  });
  await expect(writeNewFile(file, content)).rejects.toThrow("exist");
  expect(readFileSync(file, "utf8")).toBe("of another");
});
