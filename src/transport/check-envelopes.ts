import { Code, ConnectError } from "@connectrpc/connect";
import { TransportError } from "./transport-error.ts";

/** Yields the chunks of a body unchanged, after checking the flags of the envelopes that begin in each. */
export async function* checkEnvelopes(
  chunks: AsyncIterable<Uint8Array>,
  rules: EnvelopeRules,
): AsyncGenerator<Uint8Array> {
  const head = Buffer.alloc(HEAD_BYTES);
  let headBytes = 0;
  let bodyBytes = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      if (bodyBytes > 0) {
        const skipped = Math.min(bodyBytes, chunk.length - at);
        bodyBytes -= skipped;
        at += skipped;
        continue;
      }
      head[headBytes++] = chunk[at++] ?? 0;
      if (headBytes < HEAD_BYTES) continue;
      checkFlags(head[0] ?? 0, rules);
      bodyBytes = head.readUInt32BE(1);
      headBytes = 0;
    }
    yield chunk;
  }
}

/** One byte of flags and four of length precede each message of gRPC, gRPC-web and Connect's streams. */
const HEAD_BYTES = 5;
const COMPRESSED = 1;
/** Each protocol's flags besides {@link COMPRESSED}: they mark the last envelope of a Connect or gRPC-web stream. */
const FLAGS = { grpc: 0, "grpc-web": 0x80, connect: 2 } as const;

/** The rules for the envelopes of a request's messages. */
export interface EnvelopeRules {
  /** The flags that an envelope may have. */
  readonly knownFlags: number;
  /** Whether the head names the compression. */
  readonly isEncodingNamed: boolean;
}

/** Returns the rules for a request from its head, or `undefined` when its body has no envelopes. */
export function envelopeRules(headers: NodeJS.Dict<string | string[]>): EnvelopeRules | undefined {
  const match = /^application\/(grpc-web|grpc|connect)\b/i.exec(String(headers["content-type"] ?? ""));
  if (match === null) return undefined;
  const protocol = String(match[1]).toLowerCase() as keyof typeof FLAGS;
  const encoding = headers[protocol === "connect" ? "connect-content-encoding" : "grpc-encoding"];
  return {
    knownFlags: FLAGS[protocol] | COMPRESSED,
    isEncodingNamed: encoding !== undefined && encoding !== "identity",
  };
}

/**
 * Checks the flags of an envelope.
 * @throws ConnectError INTERNAL for a reserved flag, and for a compressed message without a named encoding (gRPC's
 *   compression.md)
 */
export function checkFlags(flags: number, { knownFlags, isEncodingNamed }: EnvelopeRules): void {
  if ((flags & ~knownFlags) !== 0) throw malformed("the envelope of a message has reserved flags");
  if ((flags & COMPRESSED) !== 0 && !isEncodingNamed) {
    throw malformed("a message is compressed, but the headers name no compression");
  }
}

/** Puts the error in a cause, because the library replaces other errors. */
function malformed(message: string): ConnectError {
  const cause = new TransportError("MALFORMED_FRAME", message);
  return new ConnectError(message, Code.Internal, undefined, undefined, cause);
}
