import type { Connections } from "./connections.ts";

/** How a server stops. */
export interface DrainOptions {
  /** How long to go on accepting while every reply asks its caller to leave. */
  readonly delayMs: number;
  /** How long calls may take after that before they are cut. */
  readonly timeoutMs: number;
}

/** What else happens while a server stops. */
export interface DrainHooks {
  /** The delay is over: streams that end only when told to should end now. */
  readonly onClosing: () => void;
  /** The time-out is over: tells handlers to stop. */
  readonly onTimeout: () => void;
}

const IDLE_CHECK_INTERVAL_MS = 50;
/** Connections that have not told their protocol, or begun a request, when the port closes get this long to do so. */
const UNDECIDED_GRACE_MS = 250;
/** Those that go on with the head of a request get this long to end it. */
const HEAD_GRACE_MS = 1000;
/** Handlers that were told to stop get this long to answer so. */
const ABORT_GRACE_MS = 500;

/**
 * Closes a port so that no call under way is broken: HTTP/1.1 callers are asked to close their connections, HTTP/2
 * callers to open no new streams; after the delay the port stops accepting and idle connections close. Calls that
 * outlast the time-out are aborted, then cut.
 * @returns whether all calls ended by themselves
 */
export async function drainConnections(
  connections: Connections,
  options: DrainOptions,
  { onClosing, onTimeout }: DrainHooks,
): Promise<boolean> {
  const { server, undecided } = connections;
  let isGraceOver = false;
  let isHeadGraceOver = false;
  connections.refuseKeepAlive();
  connections.closeSessions(false);
  if (options.delayMs > 0) await wait(options.delayMs);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  onClosing();
  connections.closeSessions(true);
  // Who has just connected may have sent a request already; who says nothing has nothing to lose.
  const silentTimer = setTimeout(() => {
    isGraceOver = true;
    for (const socket of undecided) socket.destroy();
  }, UNDECIDED_GRACE_MS);
  const headTimer = setTimeout(() => {
    isHeadGraceOver = true;
  }, HEAD_GRACE_MS);
  // Connections whose last reply began before the drain become idle later.
  const idleCheck = setInterval(() => {
    server.closeIdleConnections();
    // What has arrived by now is read between two checks, however busy the process is.
    if (isGraceOver) connections.cutWithoutCall(!isHeadGraceOver);
  }, IDLE_CHECK_INTERVAL_MS);
  let isClean = true;
  let cutTimer: NodeJS.Timeout | undefined;
  const abortTimer = setTimeout(() => {
    isClean = false;
    onTimeout();
    cutTimer = setTimeout(() => cutConnections(connections), ABORT_GRACE_MS);
  }, options.timeoutMs);
  await closed;
  clearInterval(idleCheck);
  clearTimeout(silentTimer);
  clearTimeout(headTimer);
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

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
