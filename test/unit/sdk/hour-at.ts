import { vi } from "vitest";

/** A progress callback that lets an hour pass when a stage begins, and a way back. */
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
