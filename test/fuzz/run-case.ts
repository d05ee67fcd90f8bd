import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { FuzzCase } from "./fuzz-case.ts";
import { CERTIFICATE_PEM } from "./fuzz-target.ts";

/** What became of a case. */
export interface FuzzOutcome {
  readonly case: FuzzCase;
  /** Whether the server closed the connection, or the client did as the case wants it. */
  readonly hasEnded: boolean;
  /** What the server sent, byte for byte. */
  readonly reply: string;
}

/** Far longer than all bounds of the server: what lasts longer hangs. */
const WATCHDOG_MS = 20_000;
/** Who may stay, leaves after this; long enough for all that has an end of its own. */
const STAY_MS = 1_500;
/** No reply of the target is larger, so none is lost for the check. */
const KEPT_CHARS = 64 * 1024;

/** Has one conversation with a server. */
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
    // Being cut off is one of the ends.
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

/** One piece at a turn of the event loop, so that the server reads them one by one. */
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
  // TLS has no reset of its own, and Node none for its sockets.
  if ("encrypted" in socket) socket.destroy();
  else socket.resetAndDestroy();
}
