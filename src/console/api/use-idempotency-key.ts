import { useMemo } from "preact/hooks";

/** Returns the idempotency key header, which stays the same for a retry with the same inputs. */
export function useIdempotencyKey(inputs: readonly string[]): Readonly<Record<string, string>> {
  return useMemo(() => ({ "idempotency-key": randomHex() }), [JSON.stringify(inputs)]);
}

/** Returns 128 random bits. `crypto.randomUUID` exists only on secure origins. */
function randomHex(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
