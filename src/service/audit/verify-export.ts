import type { AuditSeal } from "../../protocol/seals/audit-seal.ts";
import { type AuditFault, tidyFaults, unreadableLine } from "./check-entries.ts";
import { decodeLine, type ExportLine } from "./export-line.ts";
import { createSealsVerifier, type SealsVerifier, signatureStanding } from "./verify-seals.ts";

/**
 * Verifies an export, given line by line with the line feeds, and reports every fault. Needs only the lines, and holds
 * one seal's entries in memory at a time. docs/audit.md explains what it proves.
 */
export async function verifyExport(
  lines: AsyncIterable<Uint8Array>,
  { expectedSealHash, publicKeys = [] }: VerifyExportOptions = {},
): Promise<ExportReport> {
  const faults: AuditFault[] = [];
  const tell = (fault: AuditFault) => void faults.push(fault);
  let lineCount = 0;
  let [sealCount, entryCount] = [0n, 0n];
  let seals: SealsVerifier | undefined;
  let newestSeal: AuditSeal | undefined;
  let hasEnded = false;
  let isExpected = expectedSealHash === undefined;
  let isSigned = false;

  for await (const bytes of lines) {
    lineCount++;
    takeLine(decodeLine(bytes));
    if (faults.length >= FAULTS_MAX_COUNT) return report(true);
  }
  seals?.end();
  checkEnd();
  return report(false);

  function takeLine(line: ExportLine | undefined): void {
    if (hasEnded) {
      tell(unreadableLine(lineCount));
      return;
    }
    if (seals === undefined) {
      seals = createSealsVerifier(line?.kind === "head" ? line.previousChainHash : undefined, tell);
      if (line?.kind === "head") return;
      tell({ kind: "format", line: 1, message: "line 1 is not the header of an export" });
      if (line === undefined) return;
    }
    switch (line?.kind) {
      case "seal":
        takeSeal(line.seal);
        seals.takeSeal(line.seal);
        break;
      case "entry":
        entryCount++;
        seals.takeEntry(line.entry, lineCount);
        break;
      case "end":
        seals.end();
        hasEnded = true;
        if (faults.length === 0 && (line.sealCount !== sealCount || line.entryCount !== entryCount)) {
          const found = `${sealCount} seals with ${entryCount} entries`;
          tell({ kind: "format", line: lineCount, message: `the last line does not match ${found}` });
        }
        break;
      case "head":
      case undefined:
        seals.takeUnreadable(lineCount);
    }
  }

  function takeSeal(seal: AuditSeal): void {
    sealCount++;
    newestSeal = seal;
    isExpected ||= Buffer.compare(seal.sealHash, expectedSealHash ?? new Uint8Array()) === 0;
    const signature = signatureStanding(seal, publicKeys);
    isSigned = signature === "trusted";
    if (signature === "wrong") {
      const message = `seal ${seal.number} has a signature that does not verify`;
      tell({ kind: "signature", seal: seal.number, message });
    }
  }

  function checkEnd(): void {
    if (!hasEnded) tell({ kind: "truncated", message: `the export ends early, after line ${lineCount}` });
    if (!isExpected) {
      const hash = Buffer.from(expectedSealHash ?? []).toString("hex");
      const message = `the export has no seal ${hash}: its end is missing, or its seals were recreated`;
      tell({ kind: "anchor", message });
    }
    if (publicKeys.length > 0 && !isSigned) {
      tell({ kind: "signature", message: "the newest seal is not signed by a given key" });
    }
  }

  function report(isCut: boolean): ExportReport {
    return { faults: tidyFaults(faults), isCut, sealCount, entryCount, newestSeal, isSigned };
  }
}

/** External facts with which an export is compared. */
export interface VerifyExportOptions {
  /** The hash of a seal, 32 bytes, that was recorded elsewhere. The export must contain that seal. */
  readonly expectedSealHash?: Uint8Array | undefined;
  /** Ed25519 keys of 32 bytes. If there is one, the newest seal must be signed by one of them. */
  readonly publicKeys?: readonly Uint8Array[];
}

/** The result of a verification. */
export interface ExportReport {
  /** Empty if the export matches its seals. */
  readonly faults: readonly AuditFault[];
  /** Whether the verification stopped early, after a thousand faults. */
  readonly isCut: boolean;
  readonly sealCount: bigint;
  readonly entryCount: bigint;
  /** The newest seal, whose hash covers everything before it; undefined if the export has none. */
  readonly newestSeal: AuditSeal | undefined;
  /** Whether one of the given keys has signed the newest seal. */
  readonly isSigned: boolean;
}

const FAULTS_MAX_COUNT = 1_000;
