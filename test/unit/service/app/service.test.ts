import { afterEach, describe, expect, it } from "vitest";
import { openCoordination } from "../../../../src/service/app/service.ts";
import type { Coordination } from "../../../../src/service/platform/coordination/coordination.ts";
import { createLogger } from "../../../../src/service/platform/telemetry/logger.ts";
import { Secret } from "../../../../src/service/platform/telemetry/secret.ts";

const open: Coordination[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((coordination) => coordination.close()));
});

/** The messages that opening it logs. */
function linesOf(config: Parameters<typeof openCoordination>[0]): string[] {
  const lines: string[] = [];
  const log = createLogger({ level: "info", stream: { write: (line: string) => void lines.push(line) } });
  open.push(openCoordination(config, log));
  return lines;
}

describe("a replica's coordination", () => {
  const databaseUrl = new Secret("postgresql://db/tss");

  it("logs at start what Redis would share if there may be other replicas", () => {
    const [line, ...others] = linesOf({ databaseUrl, redisUrl: undefined });
    expect(others).toEqual([]);
    expect(line).toContain("REDIS_URL is not set");
    for (const what of ["rate limits", "revoked", "polling"]) expect(line).toContain(what);
  });

  it("logs nothing for a single process or with Redis", () => {
    expect(linesOf({ databaseUrl: undefined, redisUrl: undefined })).toEqual([]);
    expect(linesOf({ databaseUrl, redisUrl: new Secret("redis://127.0.0.1:1") })).toEqual([]);
  });
});
