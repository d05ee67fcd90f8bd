import type { Limits } from "./limits.ts";

/** A reply that is not over, of either HTTP version. */
export interface OpenReply {
  /** Whether all of it was written on this side, so that only its reader is awaited. */
  readonly isEnded: boolean;
  /** What the reader has not taken yet, and this process holds. */
  readonly unsentBytes: number;
  /** Stands for the reader in the bound of its address; undefined for proxies, which read for many. */
  readonly address: string | undefined;
  /** The same object as long as it is the same reply. */
  readonly key: object;
  cut(): void;
}

/** How often open replies are looked at, unless a time-out is shorter. */
const SWEEP_INTERVAL_MS = 1000;

/**
 * Looks at all open replies again and again, and cuts those that are ended and were not read to their end in
 * `writeTimeoutMs`. Where one address leaves more than `unreadBytesPerAddress` unread from one look to the next, the
 * rest of its unread replies is cut at once. Looking costs nothing per call.
 * @returns what ends it
 */
export function cutSlowReaders(
  openReplies: () => Iterable<OpenReply>,
  limits: Pick<Limits, "writeTimeoutMs" | "unreadBytesPerAddress">,
): () => void {
  let known = new Map<object, number>();
  const sweep = () => {
    const now = performance.now();
    const waiting = new Map<object, number>();
    const unreadBytes = new Map<string, number>();
    const tooSlow: OpenReply[] = [];
    for (const reply of openReplies()) {
      const { key, isEnded, unsentBytes, address } = reply;
      if (!isEnded && unsentBytes === 0) continue;
      const sinceMs = known.get(key);
      waiting.set(key, sinceMs ?? now);
      if (sinceMs === undefined) continue;
      const bytes = unsentBytes + (address === undefined ? 0 : (unreadBytes.get(address) ?? 0));
      if (address !== undefined) unreadBytes.set(address, bytes);
      const isTooMuch = address !== undefined && bytes > limits.unreadBytesPerAddress;
      // A stream that goes on has a time-out for each of its messages.
      if (isTooMuch || (isEnded && now - sinceMs >= limits.writeTimeoutMs)) tooSlow.push(reply);
    }
    known = waiting;
    for (const reply of tooSlow) reply.cut();
  };
  const timer = setInterval(sweep, Math.min(SWEEP_INTERVAL_MS, limits.writeTimeoutMs));
  timer.unref();
  return () => clearInterval(timer);
}
