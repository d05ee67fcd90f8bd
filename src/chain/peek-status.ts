/**
 * Reads the status of a unary gRPC-web response from its head or the start of its body, such as `429` for HTTP and
 * `grpc 14` for gRPC; undefined if the response has a message. Returns it with the whole response, whose body calls
 * `onBreak` if it breaks before its end.
 */
export async function peekStatus(
  response: Response,
  onBreak: (error: unknown) => void,
): Promise<PeekedAnswer> {
  const status = statusInHead(response);
  if (status !== undefined || response.body === null) return { status, whole: response };
  const reader = response.body.getReader();
  const first = await reader.read();
  const begin = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    if (first.done) controller.close();
    else controller.enqueue(first.value);
  };
  return { status: statusOf(first.value), whole: withBody(response, passOn(reader, onBreak, begin)) };
}

/**
 * Reads the status of a gRPC-web response with an endless stream from its head. Returns it with the whole response,
 * whose body calls `onEnd` if it breaks or ends.
 */
export function watchStream(response: Response, onEnd: (error: unknown) => void): PeekedAnswer {
  const status = statusInHead(response);
  if (status !== undefined || response.body === null) return { status, whole: response };
  const watched = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({ flush: () => onEnd(new Error("the stream ended")) }),
  );
  return { status: undefined, whole: withBody(response, passOn(watched.getReader(), onEnd)) };
}

/** A response whose status was read; undefined for none. */
export interface PeekedAnswer {
  readonly status: string | undefined;
  readonly whole: Response;
}

/** Returns a stream that starts with the chunks of `begin` and continues with those of `reader`. */
function passOn(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  onBreak: (error: unknown) => void,
  begin?: (controller: ReadableStreamDefaultController<Uint8Array>) => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    ...(begin && { start: begin }),
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        onBreak(error);
        throw error;
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

function withBody({ status, statusText, headers }: Response, body: ReadableStream<Uint8Array>): Response {
  return new Response(body, { status, statusText, headers });
}

function statusInHead({ ok, status, headers }: Response): string | undefined {
  if (!ok) return String(status);
  const inHead = headers.get("grpc-status");
  return inHead === null ? undefined : `grpc ${inHead}`;
}

/** The flag of a frame with trailers, which comes first only if there is no message. */
const TRAILERS = 0x80;
const HEADER_BYTES = 5;

function statusOf(chunk: Uint8Array | undefined): string | undefined {
  if (chunk === undefined || chunk[0] !== TRAILERS) return undefined;
  const [, code] = /grpc-status: ?(\d+)/i.exec(new TextDecoder().decode(chunk.subarray(HEADER_BYTES))) ?? [];
  return code && `grpc ${code}`;
}
