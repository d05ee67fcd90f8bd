/** Something that needs the reader. */
export interface Concern {
  /** `bad` stops or costs something now, `warn` does so later. */
  readonly tone: "bad" | "warn";
  readonly text: string;
  /** What mends it. */
  readonly remedy: string;
  /** The console's page about it. */
  readonly href: string;
  readonly page: string;
  /** The heading of the runbook's entry about it. Absent if there is none. */
  readonly runbook?: string;
}

/** Returns the concerns with the urgent ones first. */
export function urgentFirst(concerns: readonly Concern[]): Concern[] {
  return [
    ...concerns.filter(({ tone }) => tone === "bad"),
    ...concerns.filter(({ tone }) => tone === "warn"),
  ];
}
