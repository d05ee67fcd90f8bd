import {
  encodeGrpcWebBody,
  grpcWebContentType,
  grpcWebFormat,
} from "../../src/localnet/fullnode/wire/grpc-web.ts";
import { NoAnswer } from "../../src/localnet/fullnode/wire/node-methods.ts";
import type { LocalChain } from "../../src/localnet/local-chain.ts";

/** The fullnode's apparent URL. */
export const IN_PROCESS_URL = "http://localnet.test";

/** Creates a `fetch` that calls the localnet's fullnode in this process, with the same bytes as over a socket. */
export function inProcessFetch({ answerCall }: Pick<LocalChain, "answerCall">): typeof fetch {
  return async (input, init) => {
    const contentType = new Headers(init?.headers).get("content-type");
    const format = grpcWebFormat(contentType ?? undefined);
    if (format === undefined) throw new TypeError(`not gRPC-web: ${contentType}`);
    const octets = Buffer.from(init?.body as Uint8Array<ArrayBuffer>);
    const { message, status } = await untilGone(init?.signal ?? undefined, () =>
      answerCall(new URL(String(input)).pathname, octets, format),
    );
    const body = encodeGrpcWebBody(message, status, format);
    return new Response(new Uint8Array(body), { headers: { "content-type": grpcWebContentType(format) } });
  };
}

/** Ends like a call over a socket: with the reply, with the caller's abort, or with the connection. */
function untilGone<T>(signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
    call().then(resolve, (error: unknown) => {
      if (!(error instanceof NoAnswer)) reject(error);
      else if (error.how === "connection-breaks") reject(new TypeError("fetch failed"));
    });
  });
}
