import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A fullnode behind a proxy that a test can make fail. */
export interface FullnodeFront {
  readonly url: string;
  /** Sets how calls are answered. At first they are passed on. */
  become(state: FrontState): void;
  /** Ends the state `slow`: forwards the waiting calls, and becomes honest. */
  release(): void;
  /** The number of calls in the current state. */
  readonly callCount: () => number;
  /** The number of calls forwarded to the fullnode, in any state. */
  readonly passedCount: () => number;
  close(): Promise<void>;
}

/**
 * - `honest`: passes each call on.
 * - `hangs`: never answers.
 * - `refuses`: answers 429.
 * - `breaks`: closes the connection.
 * - `slow`: holds each call until it is released, then forwards it.
 * - `lies`: answers every call with meaningless bytes.
 * - `poses`: forwards every call to the node of another chain.
 * - `disguises`: the same, and removes the header that names the chain.
 */
export type FrontState = "honest" | "hangs" | "refuses" | "breaks" | "slow" | "lies" | "poses" | "disguises";

/** Starts a proxy in front of a fullnode. In the states `poses` and `disguises` it forwards to `other`. */
export async function startFullnodeFront(target: string, other?: string): Promise<FullnodeFront> {
  let state: FrontState = "honest";
  let calls = 0;
  let passed = 0;
  const waiting: (() => void)[] = [];
  const server: Server = createServer((request, response) => {
    calls += 1;
    if (state === "breaks") request.socket.destroy();
    else if (state === "refuses") response.writeHead(429).end();
    else if (state !== "hangs") answer(request, response).catch(() => request.socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (state === "slow") await new Promise<void>((resolve) => waiting.push(resolve));
    const node = { honest: target, poses: other, disguises: other }[String(state)];
    const isDisguised = state === "disguises";
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (node === undefined) {
      response.writeHead(200, { "content-type": CONTENT_TYPE });
      response.end(NONSENSE);
      return;
    }
    if (node === target) passed += 1;
    const reply = await fetch(new URL(request.url ?? "/", node), {
      method: request.method ?? "POST",
      headers: { "content-type": request.headers["content-type"] ?? CONTENT_TYPE },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      signal: closed(response),
    });
    const headers = new Headers(reply.headers);
    if (isDisguised) headers.delete("x-sui-chain-id");
    response.writeHead(reply.status, Object.fromEntries(headers));
    if (reply.body) for await (const chunk of reply.body) response.write(chunk);
    response.end();
  }

  return {
    url: `http://127.0.0.1:${port}`,
    become(next) {
      state = next;
      calls = 0;
      // Hanging calls end with their state.
      server.closeAllConnections();
    },
    release() {
      state = "honest";
      for (const pass of waiting.splice(0)) pass();
    },
    callCount: () => calls,
    passedCount: () => passed,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const CONTENT_TYPE = "application/grpc-web+proto";
/** A frame of nine bytes that decode to no message. */
const NONSENSE = Buffer.from([0, 0, 0, 0, 9, 255, 254, 253, 252, 251, 250, 249, 248, 247]);

/** Aborts when the peer has disconnected. */
function closed(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  return gone.signal;
}
