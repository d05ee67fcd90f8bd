import type { Limits } from "./limits.ts";
import { type ReplyBody, writeChunk } from "./node-http.ts";

/**
 * Writes the whole body of a reply and ends it. It writes a large body piece by piece, at its reader's pace. Rejects
 * with CANCELED when the reader is gone or has read nothing for `writeTimeoutMs`.
 */
export function sendBody(
  reply: ReplyBody,
  body: Uint8Array,
  limits: Pick<Limits, "writeTimeoutMs">,
): void | Promise<void> {
  if (body.byteLength > PIECE_BYTES) return sendPieces(reply, body, limits);
  reply.end(body);
}

/** The amount that a reader must take within `writeTimeoutMs`, which tells a slow reader from a stalled one. */
const PIECE_BYTES = 64 * 1024;

async function sendPieces(
  reply: ReplyBody,
  body: Uint8Array,
  limits: Pick<Limits, "writeTimeoutMs">,
): Promise<void> {
  let at = 0;
  for (; at + PIECE_BYTES < body.byteLength; at += PIECE_BYTES) {
    await writeChunk(reply, body.subarray(at, at + PIECE_BYTES), limits);
  }
  reply.end(body.subarray(at));
}
