/** A difference between an export and the sealed events. */
export interface AuditFault {
  /**
   * `changed`: an entry does not match its hashes. `missing`: entries are missing. `reordered`: an entry is not in its
   * sealed position. `repeated`: an entry occurs again. `seal`: a seal is missing, changed, or does not match its
   * entries or the previous seal. `signature`: a signature is invalid or missing. `truncated`: the end is missing.
   * `anchor`: the expected seal is missing. `format`: a line is not a line of an export.
   */
  readonly kind:
    | "changed"
    | "missing"
    | "reordered"
    | "repeated"
    | "seal"
    | "signature"
    | "truncated"
    | "anchor"
    | "format";
  /** The first affected entry. */
  readonly sequence?: bigint;
  /** The last affected entry, if there are several. */
  readonly lastSequence?: bigint;
  /** The number of the affected seal. */
  readonly seal?: bigint;
  /** The line of the export, counted from 1. */
  readonly line?: number;
  /** A human-readable text that names the entry or the seal. */
  readonly message: string;
}

/** Removes the `missing` fault of each entry that is only reordered, so that it counts once. Keeps the order. */
export function tidyFaults(faults: readonly AuditFault[]): AuditFault[] {
  const moved = new Set(faults.filter(({ kind }) => kind === "reordered").map(({ sequence }) => sequence));
  return faults.filter(
    ({ kind, sequence, lastSequence }) =>
      kind !== "missing" || lastSequence !== sequence || !moved.has(sequence),
  );
}
