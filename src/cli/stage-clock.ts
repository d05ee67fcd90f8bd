/** A clock that writes to `write`: the name when a stage begins, its time when it ends. */
export function createStageClock(write: (text: string) => void): StageClock {
  const stages: StageTime[] = [];
  let current: { name: string; start: number } | undefined;
  const end = (): void => {
    if (current === undefined) return;
    const durationMs = Math.round(performance.now() - current.start);
    stages.push({ name: current.name, durationMs });
    write(`${`${durationMs} ms`.padStart(10)}\n`);
    current = undefined;
  };
  return {
    begin(name) {
      end();
      current = { name, start: performance.now() };
      write(`  ${name.padEnd(24)}`);
    },
    end,
    stages,
  };
}

/** How long a stage took. */
export interface StageTime {
  readonly name: string;
  readonly durationMs: number;
}

/** Shows stages with their times as they happen, one line each, and remembers them. */
export interface StageClock {
  /** Ends the stage before and begins this one. */
  begin(name: string): void;
  /** Ends the last stage. */
  end(): void;
  readonly stages: readonly StageTime[];
}
