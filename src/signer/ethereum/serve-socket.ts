import { randomUUID } from "node:crypto";
import { createServer, type Socket } from "node:net";
import { listenOnSocket } from "../../transport/connections/unix-socket.ts";
import type { Caller } from "../access/caller.ts";
import { SignerError } from "../signer-error.ts";
import type { EthereumCalls } from "./ethereum-calls.ts";
import { RPC_CODES } from "./rpc-error.ts";
import { createJsonSplitter } from "./split-json.ts";

/** A Unix socket that speaks JSON-RPC as geth's `ipc` does: JSON texts in both directions, without HTTP. */
export interface EthereumSocket {
  readonly url: string;
  /** Takes no more calls, waits for those under way, and removes the socket. */
  close(timeoutMs: number): Promise<void>;
}

/**
 * Listens on a Unix socket that only this process's user can connect to. A connection has up to 8 calls under way and
 * then waits. Replies may come in another order than the calls. A connection that sends something else than JSON-RPC
 * gets an error and is closed.
 *
 * @param identify returns the caller of this socket, which can send no token. Throws a SignerError if there is none: the
 * connection gets the error and is closed
 */
export async function serveEthereumSocket(
  file: string,
  calls: EthereumCalls,
  identify: () => Caller,
  bounds: SocketBounds = BOUNDS,
): Promise<EthereumSocket> {
  const connections = new Set<Connection>();
  // A caller may end its side before it has read the replies.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    if (connections.size >= bounds.connectionsCount) {
      socket.destroy();
      return;
    }
    const connection = serveConnection(socket, calls, identify, bounds);
    connections.add(connection);
    socket.once("close", () => connections.delete(connection));
  });
  const remove = await listenOnSocket(server, file);
  server.once("close", remove);
  return {
    url: `unix:${file}`,
    async close(timeoutMs) {
      const closed = new Promise((resolve) => server.close(resolve));
      const late = setTimeout(() => {
        for (const { socket } of connections) socket.destroy();
      }, timeoutMs);
      for (const connection of connections) connection.finish();
      await closed;
      clearTimeout(late);
    },
  };
}

/** The bounds of a socket. */
interface SocketBounds {
  readonly connectionsCount: number;
  /** Of one connection. */
  readonly callsCount: number;
  readonly callBytes: number;
  readonly callTimeoutMs: number;
}

const BOUNDS: SocketBounds = {
  connectionsCount: 64,
  callsCount: 8,
  callBytes: 256 * 1024,
  callTimeoutMs: 180_000,
};

interface Connection {
  readonly socket: Socket;
  /** Ends the connection after the calls under way. */
  finish(): void;
}

function serveConnection(
  socket: Socket,
  calls: EthereumCalls,
  identify: () => Caller,
  bounds: SocketBounds,
): Connection {
  const gone = new AbortController();
  const splitter = createJsonSplitter(bounds.callBytes);
  const waiting: Buffer[] = [];
  let runningCount = 0;
  let isFinishing = false;

  /** Each call asks again, because the file of callers may have changed. */
  function callerNow(): Caller | undefined {
    try {
      return identify();
    } catch (error) {
      if (!isFinishing)
        refuse(error instanceof SignerError ? error.message : "internal error", RPC_CODES.failed);
      return undefined;
    }
  }

  async function answer(body: Buffer): Promise<void> {
    const caller = callerNow();
    if (caller === undefined) return;
    const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(bounds.callTimeoutMs)]);
    const endMs = performance.now() + bounds.callTimeoutMs;
    const reply = await calls.serve(body, {
      caller,
      requestId: randomUUID(),
      signal,
      timeoutMs: () => endMs - performance.now(),
    });
    if (reply !== undefined && socket.writable) socket.write(`${reply}\n`);
  }

  function work(): void {
    // A caller that does not read its replies gets no more of them.
    while (runningCount < bounds.callsCount && waiting.length > 0 && !socket.writableNeedDrain) {
      runningCount++;
      const ended = () => {
        runningCount--;
        work();
      };
      void answer(waiting.shift()!).then(ended, ended);
    }
    const isFull = waiting.length > 0 || socket.writableNeedDrain;
    if (isFull || isFinishing) socket.pause();
    else socket.resume();
    if (isFinishing && runningCount === 0 && waiting.length === 0 && !socket.writableEnded)
      socket.end(() => socket.destroy());
  }

  function refuse(message: string, code: number = RPC_CODES.malformedRequest): void {
    const error = { code, message };
    socket.write(`${JSON.stringify({ jsonrpc: "2.0", id: null, error })}\n`);
    isFinishing = true;
    work();
  }

  socket.on("data", (chunk: Buffer) => {
    if (isFinishing) return;
    try {
      waiting.push(...splitter.push(chunk));
    } catch (error) {
      refuse((error as Error).message);
      return;
    }
    work();
  });
  socket.on("drain", work);
  socket.on("end", () => {
    isFinishing = true;
    work();
  });
  socket.on("error", () => socket.destroy());
  socket.once("close", () => gone.abort());
  return {
    socket,
    finish() {
      isFinishing = true;
      work();
    },
  };
}
