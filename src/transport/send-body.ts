import type { Limits } from "./limits.ts";
import { type ReplyBody, writeChunk } from "./node-http.ts";

/** What a reader must take in `writeTimeoutMs`, so that one on a slow line is told from one that takes nothing. */
const PIECE_BYTES = 64 * 1024;

/**
 * Writes the whole body of a reply, and ends it. A large one is written piece by piece, as its reader takes it.
 * Rejects with CANCELED when the reader is gone, or takes nothing for so long that it counts as gone.
 */
export function sendBody(
  reply: ReplyBody,
  body: Uint8Array,
  limits: Pick<Limits, "writeTimeoutMs">,
): void | Promise<void> {
  if (body.byteLength > PIECE_BYTES) return sendPieces(reply, body, limits);
  reply.end(body);
}

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
