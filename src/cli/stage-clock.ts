/** Creates a clock that writes a stage's name when it begins, and its time when it ends. */
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

/** The duration of a stage. */
export interface StageTime {
  readonly name: string;
  readonly durationMs: number;
}

/** Prints one line per stage with its time, and records it. */
export interface StageClock {
  /** Ends the previous stage and begins this one. */
  begin(name: string): void;
  /** Ends the last stage. */
  end(): void;
  readonly stages: readonly StageTime[];
}
