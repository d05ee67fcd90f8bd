import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A proxy between the command and the real fullnode, which changes or loses one reply. */
export async function startLyingFullnode(url: string, lie: Lie): Promise<LyingFullnode> {
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bytesOf(request);
    const call = request.url?.split("/").at(-1) ?? "";
    if (call === lie.lost && !lie.arrives) {
      request.socket.destroy();
      return;
    }
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(
        ([name]) => !["host", "connection", "content-length"].includes(name),
      ),
    ) as Record<string, string>;
    const { method = "POST" } = request;
    const reply = await fetch(new URL(request.url ?? "/", url), {
      method,
      headers,
      ...(method === "POST" && { body }),
    });
    let bytes = Buffer.from(await reply.arrayBuffer());
    if (call === lie.lost) {
      request.socket.destroy();
      return;
    }
    if (call === lie.changes?.call) bytes = changed(bytes, lie.changes.message);
    const type = reply.headers.get("content-type") ?? "application/octet-stream";
    response.writeHead(reply.status, { "content-type": type }).end(bytes);
  }
}

/** The fault of the fullnode. */
export interface Lie {
  /** Changes the message of the replies to a call. */
  readonly changes?: { readonly call: string; readonly message: (message: Uint8Array) => Uint8Array };
  /** The call that gets no reply. */
  readonly lost?: string;
  /** Whether the lost call reaches the real fullnode. */
  readonly arrives?: boolean;
}

export interface LyingFullnode {
  readonly url: string;
  close(): void;
}

async function bytesOf(request: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/** Changes the first frame of a gRPC-web body: a flags byte, the length in four bytes, and the message. */
function changed(
  bytes: Buffer<ArrayBuffer>,
  change: (message: Uint8Array) => Uint8Array,
): Buffer<ArrayBuffer> {
  const end = HEAD_BYTES + bytes.readUInt32BE(1);
  const message = change(bytes.subarray(HEAD_BYTES, end));
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES));
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message, bytes.subarray(end)]);
}

const HEAD_BYTES = 5;
