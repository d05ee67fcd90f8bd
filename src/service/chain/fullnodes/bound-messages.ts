/**
 * Wraps a fetch function so that a reply about checkpoints never buffers more than one message of `maxBytes`. A longer
 * message fails the call. The body yields one gRPC-web frame in each turn of the event loop, so that its reader handles
 * each message before the next one arrives. Other calls pass unchanged.
 */
export function boundMessages(send: typeof fetch, maxBytes: number = MAX_MESSAGE_BYTES): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    const { body, status, statusText, headers } = response;
    if (body === null || !isBounded(input)) return response;
    if (headers.get("content-type")?.includes("-text"))
      throw new Error("the fullnode replied in the text format, which was not requested");
    const frames = readFrames(body, maxBytes);
    const bounded = new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        async pull(controller) {
          const { done, value } = await frames.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        async cancel() {
          await frames.return(undefined);
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(bounded, { status, statusText, headers });
  };
}

/**
 * A checkpoint has at most some ten thousand transactions, and a balance change takes about 200 bytes. Checkpoints of
 * public networks are about a thousand times smaller.
 */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const HEADER_BYTES = 5;

function isBounded(input: Parameters<typeof fetch>[0]): boolean {
  const url = input instanceof Request ? input.url : String(input);
  return url.endsWith("Service/SubscribeCheckpoints") || url.endsWith("Service/GetCheckpoint");
}

/** The frames of a body, each complete with its header. The rest of a truncated body comes last. */
async function* readFrames(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let frame = new Uint8Array(HEADER_BYTES);
  let length = 0;
  let hasHeader = false;
  for await (const chunk of body) {
    for (let rest = chunk; rest.length > 0; ) {
      const taken = rest.subarray(0, frame.length - length);
      frame.set(taken, length);
      length += taken.length;
      rest = rest.subarray(taken.length);
      if (length === HEADER_BYTES && !hasHeader) {
        const messageBytes = new DataView(frame.buffer).getUint32(1);
        if (messageBytes > maxBytes)
          throw new Error(`the fullnode sent a message of ${messageBytes} bytes; the limit is ${maxBytes}`);
        const header = frame;
        frame = new Uint8Array(HEADER_BYTES + messageBytes);
        frame.set(header);
        hasHeader = true;
      }
      if (!hasHeader || length < frame.length) continue;
      yield frame;
      frame = new Uint8Array(HEADER_BYTES);
      length = 0;
      hasHeader = false;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  if (length > 0) yield frame.slice(0, length);
}
