/** A part of an export that differs from what was sealed. */
export interface AuditFault {
  /**
   * `changed`: an entry is not what its hashes were made of. `missing`: entries are not there. `reordered`: an entry
   * stands elsewhere than where it was sealed. `repeated`: an entry is there again. `seal`: a seal is missing, changed
   * or does not fit its entries or the seal before. `signature`: a signature is wrong or not there. `truncated`: the
   * end is missing. `anchor`: the expected seal is not there. `format`: a line is not one of an export.
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
  /** The first entry concerned. */
  readonly sequence?: bigint;
  /** The last entry concerned, if there are several. */
  readonly lastSequence?: bigint;
  /** The number of the seal concerned. */
  readonly seal?: bigint;
  /** The line of the export, from 1 on. */
  readonly line?: number;
  /** A text for people, which names the entry or the seal. */
  readonly message: string;
}

/** The faults in the order of entries. An entry that is missing in one place and present in another counts once. */
export function tidyFaults(faults: readonly AuditFault[]): AuditFault[] {
  const moved = new Set(faults.filter(({ kind }) => kind === "reordered").map(({ sequence }) => sequence));
  return faults.filter(
    ({ kind, sequence, lastSequence }) =>
      kind !== "missing" || lastSequence !== sequence || !moved.has(sequence),
  );
}
