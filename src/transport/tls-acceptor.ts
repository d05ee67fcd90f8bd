import type { Socket } from "node:net";
import { createServer, type TLSSocket } from "node:tls";

/**
 * Performs the TLS handshake of connections that were accepted elsewhere, and negotiates HTTP/2 or HTTP/1.1 by ALPN
 * (RFC 7301). A client without ALPN gets HTTP/1.1.
 * @throws Error when certificate and key do not match
 */
export function createTlsAcceptor(
  { certificatePem, keyPem }: TlsOptions,
  handshakeTimeoutMs: number,
  onSecure: (secured: TLSSocket, protocol: "h1" | "h2", accepted: Socket | undefined) => void,
): TlsAcceptor {
  const server = createServer({
    cert: certificatePem,
    key: keyPem,
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
  server.on("tlsClientError", (_error, socket) => socket.destroy());
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
