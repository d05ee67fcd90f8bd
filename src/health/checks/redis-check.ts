import type { HealthCheck } from "./health-check.ts";
import type { HealthSubject } from "./health-subject.ts";

/** Returns the check of Redis, through which replicas share wake-ups and rate limits. */
export function redisCheck({ config, askRedis }: Pick<HealthSubject, "config" | "askRedis">): HealthCheck {
  const isConfigured = config.redisUrl !== undefined;
  return {
    name: "redis",
    advice:
      "check that Redis runs and that REDIS_URL names it; until then each replica has its own limits and wake-ups",
    readiness: isConfigured
      ? {
          isVital: false,
          reason:
            "Redis at REDIS_URL does not answer: until it does, this replica counts limits on its own and wake-ups are late",
        }
      : undefined,
    look: async () =>
      isConfigured
        ? await askRedis()
        : { status: "info", found: "none; each replica has its own limits and wake-ups" },
  };
}
