/** Shortens an id to its start and end: `0x1234…cdef`. */
export function shortId(id: string): string {
  return id.length <= 16 ? id : `${id.slice(0, id.startsWith("0x") ? 8 : 6)}…${id.slice(-6)}`;
}
