/** An object id or address on Sui in its full form: 0x and 64 lower-case hex digits. */
export const OBJECT_ID = /^0x[0-9a-f]{64}$/;

/** Whether a value is an object id or address in its full form. */
export function isObjectId(value: unknown): value is string {
  return typeof value === "string" && OBJECT_ID.test(value);
}
