import { readFileSync } from "node:fs";
import path from "node:path";
import type { RoomMutant } from "./make-mutants.ts";

/** What became of a mutant. A mutant that no test passes survives as well. */
export interface Fate {
  readonly key: string;
  readonly status: "killed" | "survived" | "not-covered";
  /** The test that failed, and how. */
  readonly by?: string;
}

/** The killed share of a sample, and between which shares that of the whole room lies, at 95 %. */
export interface Score {
  readonly killed: number;
  readonly total: number;
  readonly share: number;
  readonly from: number;
  readonly to: number;
}

/** Returns the score, with Wilson's interval. If all mutants of a room were run, the interval is still printed. */
export function scoreOf(fates: readonly Fate[]): Score {
  const total = fates.length;
  const killed = fates.filter(({ status }) => status === "killed").length;
  const share = total === 0 ? 1 : killed / total;
  const z2 = 1.96 ** 2;
  const middle = (share + z2 / (2 * total)) / (1 + z2 / total);
  const half = (1.96 / (1 + z2 / total)) * Math.sqrt((share * (1 - share)) / total + z2 / (4 * total ** 2));
  return { killed, total, share, from: Math.max(0, middle - half), to: Math.min(1, middle + half) };
}

/** Returns the score as a line. */
export function scoreLine(room: string, fates: readonly Fate[], explained: number): string {
  const { killed, total, share, from, to } = scoreOf(fates);
  const percent = (value: number): string => `${(100 * value).toFixed(0)} %`;
  const notCovered = fates.filter(({ status }) => status === "not-covered").length;
  const late = fates.filter(wasLate).length;
  return (
    `${room}: ${killed} of ${total} killed, ${percent(share)} (${percent(from)} to ${percent(to)} at 95 %); ` +
    `${notCovered} not covered, ${explained} explained, ${late} killed by a time limit`
  );
}

/**
 * Returns whether a mutant was killed by a time limit alone. Most such mutants stop what a test waits for, but a busy
 * machine kills some that a test would let pass.
 */
export function wasLate({ status, by = "" }: Fate): boolean {
  return status === "killed" && /: never ending$|timed out in \d+ ?ms/.test(by);
}

/** Returns a survivor as lines: where, and what became what. */
export function survivorLines(mutant: RoomMutant, fate: Fate): string {
  const short = (text: string): string => text.replaceAll(/\s+/g, " ").trim().slice(0, 140);
  const note = fate.status === "not-covered" ? " (no test passes it)" : "";
  return `${mutant.file}:${mutant.line} ${mutant.mutator}${note}\n  - ${short(mutant.original)}\n  + ${short(mutant.replacement)}`;
}

/** Returns a report in the form of mutation-testing-elements, which shows it in a browser. */
export function reportOf(
  root: string,
  mutants: readonly RoomMutant[],
  fates: ReadonlyMap<string, Fate>,
): object {
  const files = [...new Set(mutants.map(({ file }) => file))];
  return {
    schemaVersion: "2",
    thresholds: { high: 85, low: 70 },
    files: Object.fromEntries(
      files.map((file) => [
        file,
        {
          language: "typescript",
          source: readFileSync(path.join(root, file), "utf8"),
          mutants: mutants.flatMap((mutant) => {
            if (mutant.file !== file) return [];
            const fate = fates.get(mutant.key);
            if (fate === undefined && mutant.explanation === undefined) return [];
            return [
              {
                id: mutant.key,
                mutatorName: mutant.mutator,
                location: mutant.range,
                replacement: mutant.replacement,
                status: fate === undefined ? "Ignored" : STATUS[fate.status],
                statusReason: mutant.explanation ?? fate?.by ?? "",
              },
            ];
          }),
        },
      ]),
    ),
  };
}

const STATUS = { killed: "Killed", survived: "Survived", "not-covered": "NoCoverage" } as const;
