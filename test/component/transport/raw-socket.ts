import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A bare connection to a server, with everything received so far. */
export interface RawConnection {
  readonly socket: Socket;
  text(): string;
  /** Waits until the reply so far matches. */
  until(pattern: RegExp): Promise<string>;
  /** Waits until the server has closed the connection. */
  closed(): Promise<string>;
}

export async function openRaw(port: number): Promise<RawConnection> {
  const socket = connect({ port, host: "127.0.0.1" });
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
  });
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await once(socket, "connect");
  return {
    socket,
    text: () => text,
    async until(pattern) {
      while (!pattern.test(text)) await once(socket, "data");
      return text;
    },
    async closed() {
      await closed;
      return text;
    },
  };
}

/** An HTTP/1.1 request as text. */
export function rawRequest(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body = "",
): string {
  const lines = Object.entries({ host: "test", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}
