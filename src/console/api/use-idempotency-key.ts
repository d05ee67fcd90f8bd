import { useMemo } from "preact/hooks";

/**
 * The header that makes a repeated call, such as one after a lost reply, the same call. Another input is another call.
 */
export function useIdempotencyKey(inputs: readonly string[]): Readonly<Record<string, string>> {
  return useMemo(() => ({ "idempotency-key": randomHex() }), [JSON.stringify(inputs)]);
}

/** 128 bits. `crypto.randomUUID` exists on secure origins only. */
function randomHex(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
