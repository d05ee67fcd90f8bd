import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { ConnectionCounter } from "./count-connections.ts";
import type { Limits } from "./limits.ts";
import { endDiscarding } from "./release-request.ts";
import { sniffProtocol } from "./sniff-protocol.ts";
import { createTlsAcceptor, type TlsOptions } from "./tls-acceptor.ts";

/** Detects the protocol of each connection of the listener and passes it to that protocol's server. */
export function splitConnections(options: SplitOptions): void {
  const { server, tls, limits, counter, undecided, acceptHttp1, acceptHttp2 } = options;
  const accept = (socket: Socket, protocol: "h1" | "h2", accepted: Socket = socket) => {
    undecided.delete(accepted);
    if (protocol === "h2") acceptHttp2(socket);
    else acceptHttp1(socket);
  };
  const secure = tls && createTlsAcceptor(tls, limits.firstByteTimeoutMs, accept);
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    if (!counter.admit(socket)) {
      socket.destroy();
      return;
    }
    undecided.add(socket);
    socket.once("close", () => undecided.delete(socket));
    sniffProtocol(socket, limits.firstByteTimeoutMs, (protocol) => {
      if (protocol === undefined) return;
      // The listener creates half-open sockets, on which HTTP/2 sessions and TLS would outlive their peer.
      if (protocol !== "h1") socket.allowHalfOpen = false;
      if (protocol === "tls") {
        if (secure === undefined) refuse(socket, "this port does not speak TLS", limits);
        else secure.accept(socket);
      } else if (secure === undefined) accept(socket, protocol);
      else refuse(socket, "this port speaks TLS only", limits);
    });
  });
}

/** The servers behind one port. */
export interface SplitOptions {
  /** The listener, which is also the HTTP/1.1 server. */
  readonly server: Server;
  /** If set, every connection must use TLS. */
  readonly tls: TlsOptions | undefined;
  readonly limits: Pick<Limits, "firstByteTimeoutMs" | "lingerTimeoutMs">;
  /** Connections that it does not admit are closed at once. */
  readonly counter: ConnectionCounter;
  /** Collects connections whose protocol is not yet known. */
  readonly undecided: Set<Socket>;
  readonly acceptHttp1: (socket: Socket) => void;
  readonly acceptHttp2: (socket: Socket) => void;
}

/** Replies with the reason, in the form that most peers can display, and closes. */
function refuse(socket: Socket, why: string, { lingerTimeoutMs }: Pick<Limits, "lingerTimeoutMs">): void {
  endDiscarding(
    socket,
    `HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: ${why.length}\r\n\r\n${why}`,
    lingerTimeoutMs,
  );
}
