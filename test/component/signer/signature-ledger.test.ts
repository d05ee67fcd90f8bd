import { appendFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSignatureLedger } from "../../../src/signer/mcp/signature-ledger.ts";

const HOUR_MS = 3_600_000;
let folder: string;
let nowMs: number;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tss-ledger-"));
  nowMs = Date.UTC(2026, 0, 2, 23, 30);
});
afterEach(() => rmSync(folder, { recursive: true }));
const open = (perHour = 2, perDay = 3) => openSignatureLedger(folder, { perHour, perDay }, () => nowMs);
const refused = { reason: "TOO_MANY_SIGNATURES" };

describe("a ledger of signatures", () => {
  it("bounds those of a key in any hour and any day, over midnight and for each key alone", () => {
    const ledger = open();
    ledger.take("a", 1);
    ledger.take("a", 1);
    expect(() => ledger.take("a", 1)).toThrow(expect.objectContaining(refused));
    ledger.take("b", 1);
    nowMs += HOUR_MS;
    ledger.take("a", 1);
    nowMs += HOUR_MS;
    expect(() => ledger.take("a", 1)).toThrow(expect.objectContaining(refused));
    nowMs += 22 * HOUR_MS;
    ledger.take("a", 1);
  });

  it("gives several signatures at once, or none", () => {
    const ledger = open(3, 9);
    ledger.take("a", 2);
    expect(() => ledger.take("a", 2)).toThrow(expect.objectContaining(refused));
    ledger.take("a", 1);
    expect(() => ledger.take("a", 1)).toThrow(expect.objectContaining(refused));
  });

  it("counts over a restart, for other processes, and if the clock goes back", () => {
    open().take("a", 1);
    open().take("a", 1);
    expect(() => open().take("a", 1)).toThrow(expect.objectContaining(refused));
    nowMs -= 2 * HOUR_MS;
    expect(() => open().take("a", 1)).toThrow(expect.objectContaining(refused));
  });

  it("gives the last place to nobody if another process has written at the same moment", () => {
    const file = path.join(folder, "2026-01-02.jsonl");
    const other = { id: "other", atMs: nowMs, keyName: "a", count: 1 };
    let readCount = 0;
    const racing = openSignatureLedger(folder, { perHour: 1, perDay: 3 }, () => {
      // The other process writes between this one's first look and its own line.
      if (++readCount === 2) appendFileSync(file, `${JSON.stringify(other)}\n`);
      return nowMs;
    });
    expect(() => racing.take("a", 1)).toThrow(expect.objectContaining(refused));
    // Its place is free again when the other one gives its own back too.
    appendFileSync(file, `${JSON.stringify({ returned: "other" })}\n`);
    racing.take("a", 1);
  });

  it("refuses every signature if it is damaged or cannot be written, and does not grow for ever", () => {
    writeFileSync(path.join(folder, "2025-12-31.jsonl"), "");
    const ledger = open();
    expect(readdirSync(folder)).toEqual([]);
    ledger.take("a", 1);
    const before = readdirSync(folder);
    writeFileSync(path.join(folder, before[0]!), "{");
    const unavailable = expect.objectContaining({ reason: "LEDGER_UNAVAILABLE" });
    expect(() => ledger.take("b", 1)).toThrow(unavailable);
    writeFileSync(path.join(folder, before[0]!), `{"id":"x","atMs":${nowMs},"keyName":"b"}\n`);
    expect(() => ledger.take("b", 1)).toThrow(unavailable);
    rmSync(folder, { recursive: true });
    expect(() => ledger.take("b", 1)).toThrow(unavailable);
    writeFileSync(folder, "");
  });
});
