/**
 * Returns the version of a versioned presign: its first byte plus one, because BCS counts from 0. Returns 0 for no
 * bytes.
 */
export function presignVersion(presign: Uint8Array): number {
  const [tag] = presign;
  return tag === undefined ? 0 : tag + 1;
}

/** The presign version that this code supports. Presigns of Ika's VSS algorithms have version 3. */
export const PRESIGN_VERSION = 2;
