import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";

/**
 * How far a log was read. A file that does not begin with what was read is read from its beginning. A copy that is made
 * again and again is another file each time, and its old lines must not explain anything once more.
 */
export interface LogPosition {
  readonly offset: number;
  /** SHA-256 of the bytes before the offset, at most {@link TAIL_MAX_BYTES}, in hex. */
  readonly tail: string;
}

/** A signature or an exit that the user asked for. */
export interface LoggedRequest {
  /** SHA-256 of the message in hex, or `leave`. */
  readonly what: string;
  /** What distinguishes two requests for the same message: the idempotency key, or the line's own id. */
  readonly key: string;
  /** Undefined if the line names none. */
  readonly dwalletId: string | undefined;
}

/**
 * Reads the complete lines that a log has gained, up to {@link READ_MAX_BYTES}. Lines of other programs and lines without a
 * request are skipped. A file that does not exist yet has no lines.
 */
export async function readLog(file: string, last: LogPosition | undefined): Promise<LogPart> {
  const handle = await open(file, "r").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return undefined;
    throw cause;
  });
  if (handle === undefined) return { requests: [], position: last, hasMore: false };
  try {
    const { size } = await handle.stat();
    const isGrown =
      last !== undefined && last.offset <= size && (await tailOf(handle, last.offset)) === last.tail;
    const start = isGrown ? last.offset : 0;
    const buffer = Buffer.alloc(Math.min(size - start, READ_MAX_BYTES));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
    const read = buffer.subarray(0, bytesRead);
    const complete = read.lastIndexOf(0x0a) + 1;
    // A line that fills the whole buffer is none of ours.
    const used = complete === 0 && bytesRead === READ_MAX_BYTES ? bytesRead : complete;
    const lines = read.subarray(0, complete).toString("utf8").split("\n");
    const offset = start + used;
    return {
      requests: lines.flatMap((line) => requestOf(line)),
      position: { offset, tail: await tailOf(handle, offset) },
      hasMore: offset < size && used > 0,
    };
  } finally {
    await handle.close();
  }
}

interface LogPart {
  readonly requests: readonly LoggedRequest[];
  readonly position: LogPosition | undefined;
  /** Whether another read may find more. */
  readonly hasMore: boolean;
}

const READ_MAX_BYTES = 4 * 1024 * 1024;
const TAIL_MAX_BYTES = 1_024;

async function tailOf(handle: FileHandle, offset: number): Promise<string> {
  const count = Math.min(offset, TAIL_MAX_BYTES);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(count), 0, count, offset - count);
  return createHash("sha256").update(buffer.subarray(0, bytesRead)).digest("hex");
}

/**
 * Returns the request of a line: `tss signer` writes one before it sends anything, with `"audit":"sign"` and
 * `"outcome":"requested"`. A program with the SDK writes the same fields, or `"audit":"leave"` with `dwalletId`.
 */
function requestOf(line: string): LoggedRequest[] {
  // Most lines are others, and parsing is slow.
  if (!line.includes('"audit"')) return [];
  let fields: Readonly<Record<string, unknown>>;
  try {
    const parsed: unknown = JSON.parse(line);
    if (typeof parsed !== "object" || parsed === null) return [];
    fields = parsed as Readonly<Record<string, unknown>>;
  } catch {
    return [];
  }
  const { audit, outcome, messageSha256, idempotencyKey, dwalletId } = fields;
  if (typeof dwalletId !== "string" && dwalletId !== undefined) return [];
  if (audit === "leave" && typeof dwalletId === "string")
    return [{ what: "leave", key: typeof idempotencyKey === "string" ? idempotencyKey : "", dwalletId }];
  if (audit !== "sign" || outcome !== "requested") return [];
  if (typeof messageSha256 !== "string" || !/^[0-9a-f]{64}$/.test(messageSha256)) return [];
  if (typeof idempotencyKey !== "string" || idempotencyKey.length > 256) return [];
  return [{ what: messageSha256, key: idempotencyKey, dwalletId }];
}
