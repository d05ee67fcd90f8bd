import type { PlainRoute } from "../transport/plain-routes.ts";

/** Something that a replica needs. */
export interface ReadinessCheck {
  readonly name: string;
  /** Whether a replica without it can serve nobody. What all replicas lack together is better not vital. */
  readonly isVital: boolean;
  /** Said to anyone when it is not there: what is amiss and what to do. Never with what came back from there. */
  readonly reason: string;
  /** Rejects when it is not there. */
  check(): Promise<unknown>;
}

/** What became of the checks. */
export interface Readiness {
  readonly status: "ready" | "degraded" | "unavailable";
  readonly checks: readonly (
    | { readonly name: string; readonly status: "ok" }
    | { readonly name: string; readonly status: "failing"; readonly reason: string }
  )[];
}

export interface ReadinessOptions {
  /** A check that takes longer fails. Default 2 s. */
  readonly timeoutMs?: number;
  /** For so long an answer stands, however often it is asked for. Default 1 s. */
  readonly freshMs?: number;
  /** Milliseconds that only grow. Default: the clock of the process. */
  readonly now?: () => number;
}

/** A function that runs the checks, all at once, and not again while its last answer is fresh. */
export function checkReadiness(
  checks: readonly ReadinessCheck[],
  { timeoutMs = 2_000, freshMs = 1_000, now = () => performance.now() }: ReadinessOptions = {},
): () => Promise<Readiness> {
  let last: { readonly atMs: number; readonly answer: Promise<Readiness> } | undefined;
  return () => {
    if (last === undefined || now() - last.atMs >= freshMs) {
      last = { atMs: now(), answer: runChecks(checks, timeoutMs) };
    }
    return last.answer;
  };
}

async function runChecks(checks: readonly ReadinessCheck[], timeoutMs: number): Promise<Readiness> {
  const results = await Promise.all(
    checks.map(async (one) => ({ ...one, isOk: await passes(one, timeoutMs) })),
  );
  const failing = results.filter(({ isOk }) => !isOk);
  const isUnavailable = failing.some(({ isVital }) => isVital);
  return {
    status: isUnavailable ? "unavailable" : failing.length > 0 ? "degraded" : "ready",
    checks: results.map(({ name, isOk, reason }) =>
      isOk ? { name, status: "ok" } : { name, status: "failing", reason },
    ),
  };
}

async function passes({ check }: ReadinessCheck, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  const checked = Promise.resolve()
    .then(check)
    .then(
      () => true,
      () => false,
    );
  try {
    return await Promise.race([checked, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * `GET /v1/ready`: 200 while this replica should be sent calls, 503 while it is draining or lacks something vital. What
 * it lacks beside that is reported as `degraded`, with 200.
 */
export function readyRoute(readiness: () => Promise<Readiness>): PlainRoute {
  return {
    path: "/v1/ready",
    async handle({ isDraining }) {
      const answer = isDraining ? { status: "draining", checks: [] } : await readiness();
      const isReady = answer.status === "ready" || answer.status === "degraded";
      return {
        status: isReady ? 200 : 503,
        headers: { "content-type": "application/json", "cache-control": "no-store" },
        body: JSON.stringify(answer),
      };
    },
  };
}
