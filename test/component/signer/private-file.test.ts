import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readPrivateFile } from "../../../src/signer/store/private-file.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tss-private-"));
  file = path.join(folder, "secret");
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("a file with a secret", () => {
  it("is read without its line break", () => {
    write("a secret \r\n", 0o600);
    expect(readPrivateFile(file, "the token")).toBe("a secret ");
  });

  it.each(["604", "640", "660", "602", "606", "644"])("is refused with mode %s, and not quoted", (mode) => {
    write("a secret", Number.parseInt(mode, 8));
    expect(() => readPrivateFile(file, "the token")).toThrow(
      `others may read the file of the token, ${file}: make it yours alone with chmod 600`,
    );
  });

  it("is refused if it belongs to another user, who could change it", () => {
    write("a secret", 0o600);
    const stranger = 54_321;
    if (process.getuid?.() === 0) chownSync(file, stranger, stranger);
    const getuid = vi.spyOn(process as { getuid(): number }, "getuid").mockReturnValue(12_345);
    try {
      expect(() => readPrivateFile(file, "the token")).toThrow(
        `the file of the token, ${file}, is another user's: only root or this process's own user may own it`,
      );
    } finally {
      getuid.mockRestore();
    }
  });

  it("is refused if it is empty or too long for a secret", () => {
    write("\n", 0o600);
    expect(() => readPrivateFile(file, "the token")).toThrow("is empty");
    write("x".repeat(5_000), 0o600);
    expect(() => readPrivateFile(file, "the token")).toThrow("has more than 4096 bytes");
  });
});

function write(text: string, mode: number): void {
  writeFileSync(file, text);
  chmodSync(file, mode);
}
