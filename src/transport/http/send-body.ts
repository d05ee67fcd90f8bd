import type { Limits } from "../limits.ts";
import { type ReplyBody, writeChunk } from "./node-http.ts";

/**
 * Writes the whole body of a reply and ends it. It writes a large body piece by piece, at its reader's pace. Rejects
 * with CANCELED when the reader is gone or has read nothing for `writeTimeoutMs`.
 */
export function sendBody(reply: ReplyBody, body: Uint8Array, limits: Limits): void | Promise<void> {
  if (body.byteLength > PIECE_BYTES) return sendPieces(reply, body, limits);
  reply.end(body);
}

/** The amount that a reader must take within `writeTimeoutMs`, which tells a slow reader from a stalled one. */
const PIECE_BYTES = 64 * 1024;

async function sendPieces(reply: ReplyBody, body: Uint8Array, limits: Limits): Promise<void> {
  let at = 0;
  for (; at + PIECE_BYTES < body.byteLength; at += PIECE_BYTES) {
    await writeChunk(reply, body.subarray(at, at + PIECE_BYTES), limits);
  }
  reply.end(body.subarray(at));
}

/**
 * Periodically checks all open replies, and cuts those that have ended and are not read within `writeTimeoutMs`. When
 * one address leaves more than `unreadBytesPerAddress` unread between two checks, it cuts the rest of that address's
 * unread replies at once. Checks cost nothing per call.
 * @returns a function that stops the checks
 */
export function cutSlowReaders(openReplies: () => Iterable<OpenReply>, limits: Limits): () => void {
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
      // A running stream has a time-out for each of its messages.
      if (isTooMuch || (isEnded && now - sinceMs >= limits.writeTimeoutMs)) tooSlow.push(reply);
    }
    known = waiting;
    for (const reply of tooSlow) reply.cut();
  };
  const timer = setInterval(sweep, Math.min(SWEEP_INTERVAL_MS, limits.writeTimeoutMs));
  timer.unref();
  return () => clearInterval(timer);
}

/** An unfinished reply over either HTTP version. */
export interface OpenReply {
  /** Whether the whole reply is written, so that only the reader is pending. */
  readonly isEnded: boolean;
  /** The bytes that this process buffers because the reader has not taken them yet. */
  readonly unsentBytes: number;
  /** Identifies the reader for the limit per address; undefined for proxies, which read for many. */
  readonly address: string | undefined;
  /** The same object for the same reply. */
  readonly key: object;
  cut(): void;
}

/** The interval between checks, unless a time-out is shorter. */
const SWEEP_INTERVAL_MS = 1000;
