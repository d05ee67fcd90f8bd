import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { FuzzCase } from "./fuzz-case.ts";
import { CERTIFICATE_PEM } from "./fuzz-target.ts";

/** The outcome of a case. */
export interface FuzzOutcome {
  readonly case: FuzzCase;
  /** Whether the server closed the connection, or the client closed it as the case asks. */
  readonly hasEnded: boolean;
  /** Everything that the server sent, byte for byte. */
  readonly reply: string;
}

/** Far longer than every limit of the server. A case that lasts longer hangs. */
const WATCHDOG_MS = 20_000;
/** A client that may stay leaves after this time. It is long enough for everything that ends on its own. */
const STAY_MS = 1_500;
/** No reply of the target is larger, so the check sees every reply in full. */
const KEPT_CHARS = 64 * 1024;

/** Runs one conversation with a server. */
export function runCase(fuzzCase: FuzzCase, port: number, isTls: boolean): Promise<FuzzOutcome> {
  return new Promise((resolve) => {
    const socket = openSocket(fuzzCase, port, isTls);
    let reply = "";
    let hasEnded = true;
    const timer = setTimeout(
      () => {
        hasEnded = fuzzCase.mayStay;
        socket.destroy();
      },
      fuzzCase.mayStay ? STAY_MS : WATCHDOG_MS,
    );
    socket.on("data", (chunk) => {
      if (reply.length < KEPT_CHARS) reply += chunk.toString("latin1");
    });
    // A cut connection is one possible end.
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      resolve({ case: fuzzCase, hasEnded, reply });
    });
    socket.once(isTls && fuzzCase.alpn !== undefined ? "secureConnect" : "connect", () => {
      socket.setNoDelay(true);
      writeAll(socket, fuzzCase);
    });
  });
}

function openSocket({ alpn }: FuzzCase, port: number, isTls: boolean): Socket {
  const address = { host: "127.0.0.1", port };
  if (!isTls || alpn === undefined) return connect(address);
  return connectTls({ ...address, servername: "localhost", ca: CERTIFICATE_PEM, ALPNProtocols: [alpn] });
}

/** Writes one piece in each turn of the event loop, so that the server reads them one by one. */
function writeAll(socket: Socket, { writes, ending }: FuzzCase): void {
  const [...rest] = writes;
  const next = () => {
    const piece = rest.shift();
    if (socket.destroyed) return;
    if (piece !== undefined) {
      socket.write(piece);
      setImmediate(next);
    } else if (ending === "finish") socket.end();
    else if (ending === "close") socket.destroy();
    else if (ending === "reset") resetOf(socket);
  };
  next();
}

function resetOf(socket: Socket): void {
  // TLS has no reset, and Node offers none for its sockets.
  if ("encrypted" in socket) socket.destroy();
  else socket.resetAndDestroy();
}
