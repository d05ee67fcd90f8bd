import type { PlainRoute } from "../../../transport/http/plain-routes.ts";
import type { Metrics } from "../../platform/telemetry/metrics.ts";
import { type Finding, type HealthCheck, runChecks } from "./checks/health-check.ts";

/** The readiness of a replica, with the checks that decide it. */
export interface Readiness {
  readonly status: "ready" | "degraded" | "unavailable";
  readonly checks: readonly (
    | { readonly name: string; readonly isVital: boolean; readonly status: "ok" }
    | {
        readonly name: string;
        readonly isVital: boolean;
        readonly status: "failing";
        readonly reason: string;
      }
  )[];
}

/** Options of {@link checkReadiness}. */
interface ReadinessOptions {
  /** A check that takes longer fails. Default 2 s. */
  readonly timeoutMs?: number;
  /** How long an answer is reused. Default 1 s. */
  readonly freshMs?: number;
  /** A monotonic time in milliseconds. Default: the clock of the process. */
  readonly now?: () => number;
}

/**
 * Returns a function that runs the checks with a `readiness` concurrently. It reuses the last answer while that is
 * fresh.
 */
export function checkReadiness(
  checks: readonly HealthCheck[],
  { timeoutMs = 2_000, freshMs = 1_000, now = () => performance.now() }: ReadinessOptions = {},
): () => Promise<Readiness> {
  let last: { readonly atMs: number; readonly answer: Promise<Readiness> } | undefined;
  return () => {
    if (last === undefined || now() - last.atMs >= freshMs) {
      last = { atMs: now(), answer: decide(checks, timeoutMs) };
    }
    return last.answer;
  };
}

async function decide(checks: readonly HealthCheck[], timeoutMs: number): Promise<Readiness> {
  const deciding = checks.flatMap((check) =>
    check.readiness === undefined ? [] : [{ ...check, ...check.readiness }],
  );
  const findings = await runChecks(deciding, timeoutMs);
  const failing = deciding.filter((_, index) => isFailing(findings[index]!));
  const broken = new Set(failing.map(({ name }) => name));
  const isUnavailable = failing.some(({ isVital }) => isVital);
  return {
    status: isUnavailable ? "unavailable" : failing.length > 0 ? "degraded" : "ready",
    checks: deciding.map((check) => {
      const { name, isVital, needs } = check;
      const reason =
        needs !== undefined && broken.has(needs)
          ? `not checked, because of the check ${needs}`
          : check.reason;
      return failing.includes(check)
        ? { name, isVital, status: "failing", reason }
        : { name, isVital, status: "ok" };
    }),
  };
}

/** An impossible check counts as failing. */
function isFailing({ status }: Finding): boolean {
  return status === "fail" || status === "skip";
}

/**
 * `GET /v1/ready`: 200 while this replica should get calls, 503 while it is draining or a vital check fails. If only
 * other checks fail, the status is `degraded`, with 200.
 */
export function readyRoute(readiness: () => Promise<Readiness>): PlainRoute {
  return {
    path: "/v1/ready",
    async handle({ isDraining }) {
      const answer = isDraining ? DRAINING : await readiness();
      const isReady = answer.status === "ready" || answer.status === "degraded";
      return {
        status: isReady ? 200 : 503,
        headers: { "content-type": "application/json", "cache-control": "no-store" },
        body: JSON.stringify({
          status: answer.status,
          checks: answer.checks.map(({ isVital: _isVital, ...check }) => check),
        }),
      };
    },
  };
}

const DRAINING = { status: "draining", checks: [] as Readiness["checks"] } as const;

/** Registers `service_ready`, the result of `GET /v1/ready` apart from draining. */
export function readyGauge(metrics: Pick<Metrics, "gauge">, readiness: () => Promise<Readiness>): void {
  metrics.gauge(
    "ready",
    "1 while this replica can serve calls, even if optional dependencies are down.",
    [],
    async (gauge) => gauge.set(Number((await readiness()).status !== "unavailable")),
  );
}
