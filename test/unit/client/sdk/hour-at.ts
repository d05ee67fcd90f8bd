import { vi } from "vitest";

/** A progress callback that advances the clock by an hour when a stage begins, and a function that restores it. */
export function hourAt(stage: string): { onProgress: (begun: string) => void; restore: () => void } {
  const now = performance.now.bind(performance);
  let offsetMs = 0;
  const spy = vi.spyOn(performance, "now").mockImplementation(() => now() + offsetMs);
  return {
    onProgress(begun) {
      if (begun === stage) offsetMs = 3_600_000;
    },
    restore: () => spy.mockRestore(),
  };
}
