import type { ServerHttp2Session } from "node:http2";
import type { Connections } from "./connections.ts";

/** How a server stops. */
export interface DrainOptions {
  /** How long to go on accepting while every reply asks its caller to leave. */
  readonly delayMs: number;
  /** How long calls may take after that before they are cut. */
  readonly timeoutMs: number;
}

/** The largest stream id: a GOAWAY with it refuses no stream that is under way. */
const NO_STREAM_REFUSED = 2 ** 31 - 1;
const IDLE_CHECK_INTERVAL_MS = 50;
/** A peer that does not answer a ping for this long is not waited for. */
const PING_TIMEOUT_MS = 1000;
/** Handlers that were told to stop get this long to answer so. */
const ABORT_GRACE_MS = 500;

/**
 * Closes a port so that no call under way is broken: HTTP/1.1 callers are asked to close their connections,
 * HTTP/2 callers get a GOAWAY that refuses nothing, then the port stops accepting and idle connections close, and
 * HTTP/2 callers get the final GOAWAY. Calls that outlast the time-out are aborted, then cut.
 * @param abortCalls tells handlers to stop
 * @returns whether all calls ended by themselves
 */
export async function drainConnections(
  connections: Connections,
  options: DrainOptions,
  abortCalls: () => void,
): Promise<boolean> {
  const { server, sessions, undecided } = connections;
  connections.refuseKeepAlive();
  for (const session of sessions) announceEnd(session);
  if (options.delayMs > 0) await wait(options.delayMs);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const socket of undecided) socket.destroy();
  // Connections whose last reply began before the drain become idle later.
  const idleCheck = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_INTERVAL_MS);
  let isClean = true;
  let cutTimer: NodeJS.Timeout | undefined;
  const abortTimer = setTimeout(() => {
    isClean = false;
    abortCalls();
    cutTimer = setTimeout(() => cutConnections(connections), ABORT_GRACE_MS);
  }, options.timeoutMs);
  for (const session of sessions) closeSession(session);
  await closed;
  clearInterval(idleCheck);
  clearTimeout(abortTimer);
  clearTimeout(cutTimer);
  return isClean;
}

/** Closes every connection at once. */
export function cutConnections({ server, sessions, undecided }: Connections): void {
  server.closeAllConnections();
  for (const session of sessions) session.destroy();
  for (const socket of undecided) socket.destroy();
}

function announceEnd(session: ServerHttp2Session): void {
  if (!session.destroyed && !session.closed) session.goaway(0, NO_STREAM_REFUSED);
}

/**
 * Closes a session for new streams. The peer has seen the announcement once its answer to a ping is here, so the
 * streams that it opened before are known by then.
 */
function closeSession(session: ServerHttp2Session): void {
  if (session.destroyed) return;
  const close = () => {
    clearTimeout(timer);
    if (!session.destroyed) session.close();
  };
  const timer = setTimeout(close, PING_TIMEOUT_MS);
  if (!session.ping(close)) close();
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
