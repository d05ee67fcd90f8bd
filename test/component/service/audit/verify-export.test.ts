import { createHash } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sealHash } from "../../../../src/protocol/seals/audit-seal.ts";
import {
  decodeLine,
  type ExportLine,
  encodeLine,
  splitLines,
} from "../../../../src/service/audit/export-line.ts";
import { verifyExport } from "../../../../src/service/audit/verify-export.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { exported, sealAll, verified, writeEvents } from "../../../support/database/audit-trail.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";

let database: Database;
/** Four seals of 5, 1, 7 and 12 entries. */
let lines: readonly Buffer[];
const SIZES = [5, 1, 7, 12];

beforeAll(async () => {
  database = await openTestDatabase();
  for (const size of SIZES) {
    await writeEvents(database, size);
    await sealAll(database);
  }
  lines = await exported(database);
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

const faultsOf = async (changed: readonly Uint8Array[]) => (await verified(changed)).faults;
/** The index of an entry's line: the head, the earlier entries and one seal for each earlier range come before it. */
const lineOf = (sequence: number) => sequence + SIZES.filter((_, i) => sum(i) < sequence).length;
const sum = (count: number) => SIZES.slice(0, count).reduce((a, b) => a + b, 0);
const sealLines = () => lines.flatMap((line, index) => (decodeLine(line)?.kind === "seal" ? [index] : []));
const swapped = (a: number, b: number) => lines.with(a, lines[b]!).with(b, lines[a]!);
const flipped = (line: Buffer, bit: number) => {
  const copy = Buffer.from(line);
  copy[bit >> 3]! ^= 1 << (bit & 7);
  return copy;
};
/** Splits the bytes as a reader of the file does: a flipped bit that makes or breaks a line feed moves the lines. */
const reread = (changed: readonly Uint8Array[]) =>
  verifyExport(
    splitLines(
      (async function* () {
        yield Buffer.concat(changed);
      })(),
    ),
  );

describe("an export", () => {
  it("is valid as it was written", async () => {
    expect(await verified(lines)).toMatchObject({ faults: [], isCut: false, sealCount: 4n, entryCount: 25n });
    expect((await reread(lines)).faults).toEqual([]);
  });

  it("of a range of seals verifies without the others", async () => {
    const part = await exported(database, { fromSeal: 2n, toSeal: 3n });
    expect(await verified(part)).toMatchObject({ faults: [], sealCount: 2n, entryCount: 8n });
    await expect(exported(database, { fromSeal: 5n })).rejects.toThrow(
      "seal 5 does not exist; the newest one is 4",
    );
    await expect(exported(database, { fromSeal: 3n, toSeal: 2n })).rejects.toThrow("ends before it begins");
  });

  it("is invalid if any one bit is flipped", async () => {
    const bits = lines.flatMap((line, index) =>
      Array.from({ length: 8 * line.length }, (_, bit) => [index, bit]),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...bits), async ([index, bit]) => {
        const changed = lines.with(index!, flipped(lines[index!]!, bit!));
        return (await reread(changed)).faults.length > 0;
      }),
      { numRuns: 300 },
    );
  }, 30_000);

  it("names the entry if a bit is flipped in any byte of its line", async () => {
    const index = lineOf(9);
    for (let byte = 0; byte < lines[index]!.length; byte++) {
      const { faults } = await reread(lines.with(index, flipped(lines[index]!, 8 * byte)));
      expect(faults[0]).toMatchObject({ kind: "changed", sequence: 9n });
    }
  }, 30_000);

  it("is invalid without any one of its lines", async () => {
    for (const index of lines.keys()) expect(await faultsOf(lines.toSpliced(index, 1))).not.toEqual([]);
  });

  it("is invalid with any two lines swapped", async () => {
    for (let a = 0; a < lines.length; a++) {
      for (let b = a + 1; b < lines.length; b++) expect(await faultsOf(swapped(a, b))).not.toEqual([]);
    }
  }, 30_000);

  it("is invalid with any line repeated", async () => {
    for (const [index, line] of lines.entries()) {
      expect(await faultsOf(lines.toSpliced(index, 0, line))).not.toEqual([]);
    }
  });

  it("is invalid if it is cut at any byte", async () => {
    const whole = Buffer.concat(lines);
    for (let length = 0; length < whole.length; length += 61) {
      expect((await reread([whole.subarray(0, length)])).faults).not.toEqual([]);
    }
  });
});

describe("a fault names", () => {
  it.each([
    ["an entry that is missing", () => lines.toSpliced(lineOf(9), 1), { kind: "missing", sequence: 9n }],
    [
      "entries that are missing",
      () => lines.toSpliced(lineOf(15), 4),
      { kind: "missing", sequence: 15n, lastSequence: 18n },
    ],
    ["the last entry of a seal", () => lines.toSpliced(lineOf(13), 1), { kind: "missing", sequence: 13n }],
    ["the first entry of a seal", () => lines.toSpliced(lineOf(14), 1), { kind: "missing", sequence: 14n }],
    [
      "an entry that was moved up",
      () => lines.toSpliced(lineOf(20), 1).toSpliced(lineOf(15), 0, lines[lineOf(20)]!),
      { kind: "reordered", sequence: 20n },
    ],
    [
      "an entry that was moved behind another seal",
      () => lines.toSpliced(lineOf(9), 1).toSpliced(lineOf(20), 0, lines[lineOf(9)]!),
      { kind: "reordered", sequence: 9n },
    ],
    [
      "an entry that is there twice",
      () => lines.toSpliced(lineOf(9), 0, lines[lineOf(9)]!),
      { kind: "repeated", sequence: 9n },
    ],
    [
      "a seal with its entries that is missing",
      () => lines.toSpliced(sealLines()[1]!, 2),
      { kind: "seal", seal: 2n },
    ],
    ["a seal without its line", () => lines.toSpliced(sealLines()[2]!, 1), { kind: "seal", seal: 3n }],
    ["the end that is missing", () => lines.slice(0, -1), { kind: "truncated" }],
    ["what is not an export", () => [Buffer.from("hello\n")], { kind: "format", line: 1 }],
  ])("%s", async (_what, change, fault) => {
    expect((await faultsOf(change()))[0]).toMatchObject(fault);
  });

  it.each(["merkleRoot", "chainHash"] as const)(
    "a seal whose %s is not that of its entries",
    async (field) => {
      const at = sealLines()[3]!;
      const line = decodeLine(lines[at]!);
      if (line?.kind !== "seal") throw new Error("no seal");
      const content = { ...line.seal, [field]: new Uint8Array(32) };
      const seal = { ...content, sealHash: sealHash(content) };
      expect(await faultsOf(lines.with(at, encodeLine({ kind: "seal", seal })))).toMatchObject([
        { kind: "seal", seal: 4n, message: "seal 4 does not match its entries 14 to 25" },
      ]);
    },
  );

  it("both of two entries that were swapped across a seal", async () => {
    const faults = await faultsOf(swapped(lineOf(13), lineOf(14)));
    expect(faults.map(({ kind, sequence }) => [kind, sequence])).toEqual([
      ["reordered", 14n],
      ["reordered", 13n],
    ]);
  });

  it("one of two neighbours that were swapped", async () => {
    expect(await faultsOf(swapped(lineOf(16), lineOf(17)))).toMatchObject([{ kind: "reordered" }]);
  });

  it("a flipped, a deleted and a reordered entry of one export, each once", async () => {
    const flip = lines.with(lineOf(8), flipped(lines[lineOf(8)]!, 900));
    const moved = flip.with(lineOf(16), flip[lineOf(17)]!).with(lineOf(17), flip[lineOf(16)]!);
    const faults = await faultsOf(moved.toSpliced(lineOf(22), 1));
    expect(faults.map(({ kind, sequence }) => [kind, sequence])).toEqual([
      ["changed", 8n],
      ["reordered", 17n],
      ["missing", 22n],
    ]);
  });
});

describe("a rewritten entry", () => {
  const rewritten = (sequence: number, change: (line: ExportLine & { kind: "entry" }) => ExportLine) => {
    const line = decodeLine(lines[lineOf(sequence)]!);
    if (line?.kind !== "entry") throw new Error("no entry");
    return lines.with(lineOf(sequence), encodeLine(change(line)));
  };

  it("is named if nothing else was rewritten", async () => {
    const changed = rewritten(9, ({ entry }) => ({ kind: "entry", entry: { ...entry, actor: "nobody" } }));
    expect(await faultsOf(changed)).toMatchObject([{ kind: "changed", sequence: 9n }]);
  });

  it("is named by the chain if its leaf hash was rewritten too", async () => {
    const changed = rewritten(9, ({ entry }) => ({
      kind: "entry",
      entry: forged({ ...entry, actor: "nobody" }),
    }));
    expect(await faultsOf(changed)).toMatchObject([{ kind: "changed", sequence: 9n }]);
  });

  it("is found by the next seal if all hashes up to its own seal's were rewritten too", async () => {
    const changed = forgeSeal(2, "nobody");
    expect(await faultsOf(changed)).toMatchObject([
      { kind: "seal", seal: 3n, message: "seal 3 does not continue seal 2 of this export" },
      { kind: "changed", sequence: 7n },
    ]);
  });

  it("is found only by a seal that was noted elsewhere if all hashes to the end were rewritten too", async () => {
    const noted = decodeLine(lines[sealLines()[3]!]!);
    if (noted?.kind !== "seal") throw new Error("no seal");
    const expectedSealHash = noted.seal.sealHash;
    expect((await verified(lines, { expectedSealHash })).faults).toEqual([]);
    // No later seal contradicts the last one.
    const changed = forgeSeal(4, "nobody");
    expect((await verified(changed)).faults).toEqual([]);
    expect((await verified(changed, { expectedSealHash })).faults).toMatchObject([{ kind: "anchor" }]);
    const cut = [
      ...lines.slice(0, sealLines()[3]!),
      encodeLine({ kind: "end", sealCount: 3n, entryCount: 13n }),
    ];
    expect((await verified(cut)).faults).toEqual([]);
    expect((await verified(cut, { expectedSealHash })).faults).toMatchObject([{ kind: "anchor" }]);
  });
});

const digest = (...parts: Uint8Array[]) => createHash("sha256").update(Buffer.concat(parts)).digest();

type Entry = Extract<ExportLine, { kind: "entry" }>["entry"];

/** The entry with its leaf hash recomputed from its bytes. */
function forged(entry: Entry): Entry {
  return { ...entry, leafHash: leaf(entry) };
}

function leaf(entry: Entry): Buffer {
  const u64 = (value: bigint) => Buffer.from(value.toString(16).padStart(16, "0"), "hex");
  const text = (value: string) => {
    const bytes = Buffer.from(value);
    return Buffer.concat([u64(BigInt(bytes.length)).subarray(4), bytes]);
  };
  const optional = (value: string | null) =>
    value === null ? Buffer.of(0) : Buffer.concat([Buffer.of(1), text(value)]);
  return digest(
    Buffer.of(0),
    Buffer.from("tss.audit.entry.v1"),
    ...[entry.sequence, entry.auditEventId, BigInt(entry.createdAt.getTime())].map(u64),
    ...[entry.actor, entry.action, entry.subject].map(text),
    ...[entry.projectId, entry.requestId, entry.address].map(optional),
  );
}

/** The export with another actor in all entries of one seal, and every hash of that seal recomputed. */
function forgeSeal(number: number, actor: string): Buffer[] {
  const at = sealLines()[number - 1]!;
  const seal = decodeLine(lines[at]!);
  const before = decodeLine(lines[sealLines()[number - 2]!]!);
  if (seal?.kind !== "seal" || before?.kind !== "seal") throw new Error("no seal");
  let chain = Buffer.from(before.seal.chainHash);
  const entries = lines.slice(at + 1, at + 1 + SIZES[number - 1]!).map((bytes) => {
    const line = decodeLine(bytes);
    if (line?.kind !== "entry") throw new Error("no entry");
    const entry = forged({ ...line.entry, actor });
    chain = digest(Buffer.from("tss.audit.chain.v1"), chain, entry.leafHash);
    return { ...entry, chainHash: chain };
  });
  const content = { ...seal.seal, merkleRoot: root(entries.map((e) => e.leafHash)), chainHash: chain };
  const forgedSeal = { ...content, sealHash: sealHash(content) };
  return [
    ...lines.slice(0, at),
    encodeLine({ kind: "seal", seal: forgedSeal }),
    ...entries.map((entry) => encodeLine({ kind: "entry", entry })),
    ...lines.slice(at + 1 + entries.length),
  ];
}

/** RFC 6962 by pairs from the leaves up: the last node of a level moves up unchanged if it has no partner. */
function root(level: readonly Uint8Array[]): Uint8Array {
  if (level.length === 1) return level[0]!;
  const above = Array.from({ length: Math.ceil(level.length / 2) }, (_, i) => {
    const [left, right] = [level[2 * i]!, level[2 * i + 1]];
    return right === undefined ? left : digest(Buffer.of(1), left, right);
  });
  return root(above);
}
