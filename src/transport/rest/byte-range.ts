/** A part of a body; `end` is exclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** The result of a `range` header (RFC 9110, 14.2). */
export type RangeChoice = { kind: "whole" } | { kind: "part"; range: ByteRange } | { kind: "unsatisfiable" };

/**
 * Selects the part of a body to send. It ignores several ranges, other units and malformed headers, as the RFC permits.
 * @param etag of the current body; a caller with another one (`if-range`) gets the whole
 */
export function chooseRange(
  header: string | null,
  ifRange: string | null,
  etag: string,
  sizeBytes: number,
): RangeChoice {
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? "");
  if (match === null || (ifRange !== null && ifRange.trim() !== etag)) return WHOLE;
  const [, first = "", last = ""] = match;
  if (first === "") return last === "" ? WHOLE : suffixOf(Number(last), sizeBytes);
  const start = Number(first);
  const end = last === "" ? sizeBytes : Math.min(Number(last) + 1, sizeBytes);
  if (last !== "" && Number(last) < start) return WHOLE;
  return start < sizeBytes ? { kind: "part", range: { start, end } } : { kind: "unsatisfiable" };
}

const WHOLE: RangeChoice = { kind: "whole" };

function suffixOf(lengthBytes: number, sizeBytes: number): RangeChoice {
  if (lengthBytes === 0) return { kind: "unsatisfiable" };
  // An empty body has no range that content-range could express.
  if (sizeBytes === 0) return WHOLE;
  return { kind: "part", range: { start: Math.max(sizeBytes - lengthBytes, 0), end: sizeBytes } };
}
