import type { Socket } from "node:net";
import { createServer, type TLSSocket } from "node:tls";

/** What a server proves its name with. */
export interface TlsOptions {
  /** The certificate and its chain, in PEM. */
  readonly certificatePem: string;
  /** The certificate's private key, in PEM. */
  readonly keyPem: string;
}

/** Makes TLS connections of plain ones. */
export interface TlsAcceptor {
  /** Calls back once: with the secured connection and the protocol that was agreed, or not at all when it fails. */
  accept(socket: Socket): void;
}

/**
 * Does the TLS handshake of connections that were accepted elsewhere, and agrees on HTTP/2 or HTTP/1.1 by ALPN
 * (RFC 7301). A client that names no protocol gets HTTP/1.1.
 * @throws Error when certificate and key do not belong together
 */
export function createTlsAcceptor(
  { certificatePem, keyPem }: TlsOptions,
  handshakeTimeoutMs: number,
  onSecure: (socket: TLSSocket, protocol: "h1" | "h2") => void,
): TlsAcceptor {
  const server = createServer({
    cert: certificatePem,
    key: keyPem,
    ALPNProtocols: ["h2", "http/1.1"],
    handshakeTimeout: handshakeTimeoutMs,
    minVersion: "TLSv1.2",
  });
  server.on("secureConnection", (socket) => onSecure(socket, socket.alpnProtocol === "h2" ? "h2" : "h1"));
  // A handshake that fails concerns nobody but its client.
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  return { accept: (socket) => server.emit("connection", socket) };
}
