import type { Connections } from "./connections.ts";

/**
 * Closes a port without breaking a running call. It asks HTTP/1.1 callers to close their connections and HTTP/2 callers
 * to open no new streams. After the delay the port stops accepting and idle connections close. Calls that exceed the
 * time-out are aborted, then cut.
 * @returns whether all calls ended before the time-out
 */
export async function drainConnections(
  connections: Connections,
  options: DrainOptions,
  { onClosing, onBodyGraceOver, onTimeout }: DrainHooks,
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
  // A new connection may already have sent a request. Closing a silent one loses nothing.
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
    // Input that has arrived is read between two checks, however busy the process is.
    if (isGraceOver) connections.cutWithoutCall(!isHeadGraceOver);
    if (isHeadGraceOver) onBodyGraceOver();
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

/** Options of a drain. */
export interface DrainOptions {
  /** How long to keep accepting connections while every reply asks its caller to disconnect. */
  readonly delayMs: number;
  /** How long running calls may then take before they are cut. */
  readonly timeoutMs: number;
}

/** Callbacks during a drain. */
export interface DrainHooks {
  /** Called after the delay: streams that do not end on their own should end now. */
  readonly onClosing: () => void;
  /** Called repeatedly once the grace for incomplete requests is over: those without their whole body should end. */
  readonly onBodyGraceOver: () => void;
  /** Called at the time-out: handlers should stop. */
  readonly onTimeout: () => void;
}

const IDLE_CHECK_INTERVAL_MS = 50;
/** The time that connections without a known protocol or a request get when the port closes. */
const UNDECIDED_GRACE_MS = 250;
/** The time that connections get to finish a partial request. */
const HEAD_GRACE_MS = 1000;
/** The time that aborted handlers get to reply. */
const ABORT_GRACE_MS = 500;

/** Closes every connection at once. */
export function cutConnections({ server, sessions, undecided }: Connections): void {
  server.closeAllConnections();
  for (const session of sessions) session.destroy();
  for (const socket of undecided) socket.destroy();
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
