/** The version of presigns that this code signs with. Ika's VSS algorithms have presigns of version 3. */
export const PRESIGN_VERSION = 2;

/** The version of a versioned presign: its first byte counts from 0. 0 for no bytes. */
export function presignVersion(presign: Uint8Array): number {
  const [tag] = presign;
  return tag === undefined ? 0 : tag + 1;
}
