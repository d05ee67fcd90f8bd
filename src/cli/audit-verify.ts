import { createReadStream } from "node:fs";
import { splitLines } from "../audit/export-line.ts";
import { type ExportReport, verifyExport } from "../audit/verify-export.ts";
import { command, EXIT } from "./command.ts";
import { flag, operand, optional } from "./option.ts";
import { hash, hashes, nonEmptyText } from "./option-values.ts";

export const auditVerify = command({
  summary: "verify an export, without a configuration or a database",
  details: "Lists every entry that was changed, removed or moved. Exits with 1 if there is one.",
  options: {
    file: operand("<file>", "a file from `tss audit export`", nonEmptyText),
    expectSeal: optional(
      "<hash>",
      "the hash of a seal, recorded elsewhere, that the export must contain",
      hash,
    ),
    publicKey: optional("<keys>", "the permitted signing keys of the seals, separated by commas", hashes),
    json: flag("print a JSON object"),
  },
  async run({ file, expectSeal, publicKey = [], json }, { print }) {
    const report = await verifyExport(splitLines(createReadStream(file)), {
      expectedSealHash: expectSeal,
      publicKeys: publicKey,
    });
    print(json ? JSON.stringify(plain(report)) : describe(report));
    return report.faults.length > 0 ? EXIT.failed : EXIT.done;
  },
});

const SHOWN_COUNT = 20;

/** JSON has no 64-bit integers, so they are text, as in the contract. */
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
    return [`the export is intact: ${found}${isSigned ? ", signed" : ""}`, newest].join("\n");
  }
  const shown = faults.slice(0, SHOWN_COUNT).map(({ message }) => `  ${message}`);
  const hiddenCount = faults.length - shown.length;
  const more = isCut
    ? ["  and more; the rest was not checked"]
    : hiddenCount > 0
      ? [`  and ${hiddenCount} more`]
      : [];
  return [`the export was changed after it was sealed: ${found}`, ...shown, ...more].join("\n");
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
