/** What statements need of the server beside their own connections. */
export interface StatementServer {
  /** From now on the database's functions tell this time. */
  setTime(ms: number): Promise<void>;
  /** Of these sessions, those that wait for a lock of another one. */
  blockedPids(pids: readonly number[]): Promise<ReadonlySet<number>>;
}

/** Statements of all sessions, of which the database carries out one at a time. */
export interface Statements {
  /** Carries it out at this time; undefined: it does not ask. The result is handed over by {@link settle}. */
  run<T>(pid: number, atMs: number | undefined, go: () => Promise<T>): Promise<T>;
  /** Whether one is being carried out, or has ended and was not handed over. */
  readonly isBusy: boolean;
  /** How many wait for a lock. */
  readonly blockedCount: number;
  /** Waits until each has ended or waits for a lock, then hands over those that have ended, in their order. */
  settle(): Promise<void>;
  /** Waits until one has ended. */
  untilOneEnds(): Promise<void>;
}

interface Statement {
  readonly pid: number;
  isBlocked: boolean;
  /** Known once it has ended. */
  handOver: (() => void) | undefined;
}

/** So long a statement may take before it is asked whether it waits for a lock. Decides nothing but when to ask. */
const ASK_AFTER_MS = 10;

/**
 * A statement that waits for a lock goes on by itself when another session gives the lock up. So after each statement
 * those that wait are asked for, and no result is handed over before all are known to have ended or to wait. The server
 * alone decides who gets a lock that several wait for, and who loses where they wait for each other.
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

  /** False when none has after the time. */
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
