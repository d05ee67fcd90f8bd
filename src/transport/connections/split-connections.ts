import type { Server } from "node:http";
import type { Socket } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import type { Limits } from "../limits.ts";
import type { ConnectionCounter } from "./connection-counter.ts";
import { endDiscarding } from "./release-request.ts";

/** Detects the protocol of each connection of the listener and passes it to that protocol's server. */
export function splitConnections(options: SplitOptions): void {
  const { server, tls, limits, counter, undecided, acceptHttp1, acceptHttp2, onHandshakeFailed } = options;
  const accept = (socket: Socket, protocol: "h1" | "h2", accepted: Socket = socket) => {
    undecided.delete(accepted);
    if (protocol === "h2") acceptHttp2(socket);
    else acceptHttp1(socket);
  };
  const secure = tls && createTlsAcceptor(tls, limits.firstByteTimeoutMs, accept, onHandshakeFailed);
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
  readonly limits: Limits;
  /** Connections that it does not admit are closed at once. */
  readonly counter: ConnectionCounter;
  /** Collects connections whose protocol is not yet known. */
  readonly undecided: Set<Socket>;
  readonly onHandshakeFailed?: HandshakeObserver | undefined;
  readonly acceptHttp1: (socket: Socket) => void;
  readonly acceptHttp2: (socket: Socket) => void;
}

/**
 * Hears of a TLS handshake that failed: the peer's address, empty if the peer has gone, and Node's code of the error,
 * such as `ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE`.
 */
export type HandshakeObserver = (address: string, code: string) => void;

/** Replies with the reason, in the form that most peers can display, and closes. */
function refuse(socket: Socket, why: string, { lingerTimeoutMs }: Limits): void {
  endDiscarding(
    socket,
    `HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: ${why.length}\r\n\r\n${why}`,
    lingerTimeoutMs,
  );
}

/**
 * Reads the first bytes of a connection, puts them back, and calls back once: with the protocol, or with `undefined`
 * when the peer left or sent too little in time. In the latter case it destroys the socket.
 */
export function sniffProtocol(
  socket: Socket,
  timeoutMs: number,
  onDecided: (protocol: "h1" | "h2" | "tls" | undefined) => void,
): void {
  let head = Buffer.alloc(0);
  const decide = (protocol: "h1" | "h2" | "tls" | undefined) => {
    clearTimeout(timer);
    socket.off("readable", onReadable);
    socket.off("end", giveUp);
    socket.off("error", giveUp);
    socket.off("close", giveUp);
    onDecided(protocol);
  };
  const giveUp = () => {
    decide(undefined);
    // Errors of a socket without an owner need no report.
    socket.on("error", () => {});
    socket.destroy();
  };
  const onReadable = () => {
    for (let chunk = socket.read(); chunk instanceof Buffer; chunk = socket.read()) {
      head = Buffer.concat([head, chunk]);
    }
    if (head.length === 0) return;
    if (head[0] === TLS_HANDSHAKE) {
      socket.unshift(head);
      decide("tls");
      return;
    }
    const known = Math.min(head.length, PREFACE.length);
    const isPreface = head.subarray(0, known).equals(PREFACE.subarray(0, known));
    if (isPreface && known < PREFACE.length) return;
    socket.unshift(head);
    decide(isPreface ? "h2" : "h1");
  };
  const timer = setTimeout(giveUp, timeoutMs);
  socket.on("readable", onReadable);
  socket.on("end", giveUp);
  socket.on("error", giveUp);
  socket.on("close", giveUp);
}

/** The first bytes of an HTTP/2 connection with prior knowledge (RFC 9113, 3.4). */
const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
/** The first byte of a TLS connection: a record of type handshake (RFC 8446, 5.1). No HTTP method begins with it. */
const TLS_HANDSHAKE = 0x16;

/**
 * Performs the TLS handshake of connections that were accepted elsewhere, and negotiates HTTP/2 or HTTP/1.1 by ALPN
 * (RFC 7301). A client without ALPN gets HTTP/1.1.
 * @throws Error when certificate and key do not match
 */
export function createTlsAcceptor(
  { certificatePem, keyPem, clientCaPem }: TlsOptions,
  handshakeTimeoutMs: number,
  onSecure: (secured: TLSSocket, protocol: "h1" | "h2", accepted: Socket | undefined) => void,
  onFailed?: HandshakeObserver,
): TlsAcceptor {
  const server = createServer({
    cert: certificatePem,
    key: keyPem,
    ...(clientCaPem !== undefined && { ca: clientCaPem, requestCert: true, rejectUnauthorized: true }),
    ALPNProtocols: ["h2", "http/1.1"],
    handshakeTimeout: handshakeTimeoutMs,
    minVersion: "TLSv1.2",
  });
  // Node does not expose the underlying connection of a secured one.
  const handshaking = new Map<string, Socket>();
  server.on("secureConnection", (secured) => {
    const accepted = handshaking.get(peerOf(secured));
    handshaking.delete(peerOf(secured));
    onSecure(secured, secured.alpnProtocol === "h2" ? "h2" : "h1", accepted);
  });
  // A failed handshake affects only its client.
  server.on("tlsClientError", (error: NodeJS.ErrnoException, socket) => {
    onFailed?.(socket.remoteAddress ?? "", error.code ?? "unknown");
    socket.destroy();
  });
  return {
    accept(socket) {
      const peer = peerOf(socket);
      handshaking.set(peer, socket);
      socket.once("close", () => {
        if (handshaking.get(peer) === socket) handshaking.delete(peer);
      });
      server.emit("connection", socket);
    },
  };
}

/** The server's certificate and key. */
export interface TlsOptions {
  /** The certificate and its chain, in PEM. */
  readonly certificatePem: string;
  /** The certificate's private key, in PEM. */
  readonly keyPem: string;
  /** If set, a client must present a certificate that one of these authorities has signed, in PEM. */
  readonly clientCaPem?: string | undefined;
}

/** Upgrades plain connections to TLS. */
export interface TlsAcceptor {
  /**
   * Calls back once with the secured connection, the negotiated protocol, and the underlying connection. Does not call
   * back when the handshake fails.
   */
  accept(socket: Socket): void;
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress}|${remotePort}`;
}
