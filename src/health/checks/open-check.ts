import type { HealthCheck } from "./health-check.ts";
import type { HealthNetwork } from "./health-subject.ts";

/**
 * Returns the check whether a running replica has opened a network. The doctor, which opens networks itself, has no
 * such check.
 */
export function openCheck({ isOpen }: HealthNetwork): HealthCheck[] {
  if (isOpen === undefined) return [];
  return [
    {
      name: "open",
      advice: "check the replica's log",
      readiness: {
        isVital: false,
        reason:
          "this replica has not opened the network yet and refuses its calls: check its log, which has the cause of each attempt",
      },
      async look() {
        if (!isOpen()) throw new Error("not open");
        return { status: "ok", found: "open" };
      },
    },
  ];
}
