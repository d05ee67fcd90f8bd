import type { Socket } from "node:net";

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
