/** The server's functions for statements, besides their own connections. */
export interface StatementServer {
  /** Sets the time of the database's functions. */
  setTime(ms: number): Promise<void>;
  /** Returns the ones of these sessions that wait for another session's lock. */
  blockedPids(pids: readonly number[]): Promise<ReadonlySet<number>>;
}

/** The statements of all sessions. The database executes one at a time. */
export interface Statements {
  /** Executes a statement at this time; undefined if it does not read the time. {@link settle} delivers the result. */
  run<T>(pid: number, atMs: number | undefined, go: () => Promise<T>): Promise<T>;
  /** True if a statement is running, or its result is not yet delivered. */
  readonly isBusy: boolean;
  /** The number of statements that wait for a lock. */
  readonly blockedCount: number;
  /** Waits until each statement has ended or waits for a lock. Then delivers the results in order. */
  settle(): Promise<void>;
  /** Waits until a statement has ended. */
  untilOneEnds(): Promise<void>;
}

interface Statement {
  readonly pid: number;
  isBlocked: boolean;
  /** Set when the statement has ended. */
  handOver: (() => void) | undefined;
}

/** The time after which a statement is checked for a lock. It affects only the time of the check. */
const ASK_AFTER_MS = 10;

/**
 * A statement that waits for a lock continues automatically when another session releases the lock. After each
 * statement the scheduler therefore checks which ones wait, and delivers no result before every statement is known to
 * have ended or to wait. Only the server decides who gets a contested lock, and who loses a deadlock.
 */
export function createStatements(server: StatementServer): Statements {
  const statements = new Set<Statement>();
  let toldMs: number | undefined;
  let onEnd: () => void = () => {};
  const blocked = () => [...statements].filter(({ isBlocked, handOver }) => isBlocked && !handOver);
  const running = () => [...statements].filter(({ isBlocked, handOver }) => !isBlocked && !handOver);

  return {
    run: (pid, atMs, go) =>
      new Promise((resolve, reject) => {
        const statement: Statement = { pid, isBlocked: false, handOver: undefined };
        statements.add(statement);
        const end = (handOver: () => void) => {
          statement.handOver = handOver;
          onEnd();
        };
        tell(atMs)
          .then(go)
          .then(
            (value) => end(() => resolve(value)),
            (error) => end(() => reject(error)),
          );
      }),
    get isBusy() {
      return [...statements].some(({ isBlocked, handOver }) => !isBlocked || handOver);
    },
    get blockedCount() {
      return blocked().length;
    },
    async settle() {
      for (let askedCount = 0; ; ) {
        if (countEnded() > askedCount) {
          askedCount = countEnded();
          await ask(blocked());
        } else if (running().length === 0) break;
        else if (!(await untilOneEnds(ASK_AFTER_MS))) await ask(running());
      }
      for (const statement of statements) {
        if (statement.handOver === undefined) continue;
        statements.delete(statement);
        statement.handOver();
      }
    },
    async untilOneEnds() {
      await untilOneEnds();
    },
  };

  async function tell(atMs: number | undefined): Promise<void> {
    if (atMs === undefined || toldMs === atMs) return;
    await server.setTime(atMs);
    toldMs = atMs;
  }

  async function ask(some: readonly Statement[]): Promise<void> {
    if (some.length === 0) return;
    const pids = await server.blockedPids(some.map(({ pid }) => pid));
    for (const statement of some) statement.isBlocked = pids.has(statement.pid);
  }

  /** Returns false at the time limit. */
  async function untilOneEnds(timeoutMs?: number): Promise<boolean> {
    const before = countEnded();
    if (before > 0 && timeoutMs === undefined) return true;
    return new Promise((resolve) => {
      const timer = timeoutMs === undefined ? undefined : setTimeout(() => finish(false), timeoutMs);
      onEnd = () => finish(true);
      function finish(hasEnded: boolean): void {
        clearTimeout(timer);
        onEnd = () => {};
        resolve(hasEnded);
      }
    });
  }

  function countEnded(): number {
    return [...statements].filter(({ handOver }) => handOver !== undefined).length;
  }
}
