import { createReadStream } from "node:fs";
import { parseArgs } from "node:util";
import { splitLines } from "../audit/split-lines.ts";
import { type ExportReport, verifyExport } from "../audit/verify-export.ts";

const SHOWN_COUNT = 20;

/**
 * `tss audit verify FILE [--expect-seal HASH] [--public-key KEY] [--json]`: judges an export by itself, without a
 * configuration or a database. Names what is wrong and then sets exit code 1.
 */
export async function runAuditVerify(argv: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      "expect-seal": { type: "string" },
      "public-key": { type: "string", multiple: true },
      json: { type: "boolean" },
    },
  });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new Error("usage: tss audit verify FILE");
  const expected = values["expect-seal"];
  const report = await verifyExport(splitLines(createReadStream(file)), {
    expectedSealHash: expected === undefined ? undefined : bytesOf("--expect-seal", expected),
    publicKeys: (values["public-key"] ?? []).map((key) => bytesOf("--public-key", key)),
  });
  console.log(values.json ? JSON.stringify(plain(report)) : describe(report));
  if (report.faults.length > 0) process.exitCode = 1;
}

function bytesOf(option: string, hex: string): Uint8Array {
  if (!/^[0-9a-f]{64}$/i.test(hex)) throw new Error(`${option} takes 64 hex digits`);
  return Buffer.from(hex, "hex");
}

/** JSON has no integers of 64 bits, so they go as text, as in the contract. */
function plain(report: ExportReport): object {
  const { faults, isCut, sealCount, entryCount, newestSeal, isSigned } = report;
  return {
    valid: faults.length === 0,
    seals: String(sealCount),
    entries: String(entryCount),
    newestSeal: newestSeal && {
      number: String(newestSeal.number),
      lastSequence: String(newestSeal.lastSequence),
      sealHash: hex(newestSeal.sealHash),
      createTime: newestSeal.createdAt.toISOString(),
      signed: isSigned,
    },
    faults: faults.map(({ sequence, lastSequence, seal, ...fault }) => ({
      ...fault,
      sequence: sequence?.toString(),
      lastSequence: lastSequence?.toString(),
      seal: seal?.toString(),
    })),
    cut: isCut,
  };
}

function describe({ faults, isCut, sealCount, entryCount, newestSeal, isSigned }: ExportReport): string {
  const [first] = faults;
  const found = `${sealCount} seals, ${entryCount} entries`;
  const newest = newestSeal
    ? `newest seal ${newestSeal.number} of ${newestSeal.createdAt.toISOString()}\n${hex(newestSeal.sealHash)}`
    : "no seal";
  if (first === undefined) {
    return [`the export is as it was sealed: ${found}${isSigned ? ", signed" : ""}`, newest].join("\n");
  }
  const shown = faults.slice(0, SHOWN_COUNT).map(({ message }) => `  ${message}`);
  const hiddenCount = faults.length - shown.length;
  const more = isCut
    ? ["  and more; the rest was not read"]
    : hiddenCount > 0
      ? [`  and ${hiddenCount} more`]
      : [];
  return [`the export is not as it was sealed: ${found}`, ...shown, ...more].join("\n");
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
