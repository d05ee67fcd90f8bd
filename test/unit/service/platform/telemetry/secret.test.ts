import { format, inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { createLogger } from "../../../../../src/service/platform/telemetry/logger.ts";
import { Secret } from "../../../../../src/service/platform/telemetry/secret.ts";

const VALUE = "correct horse";

describe("a secret", () => {
  it.each<[string, (secret: Secret) => string]>([
    ["String()", (secret) => String(secret)],
    ["a template", (secret) => `${secret}`],
    ["joining", (secret) => ["a", secret].join("")],
    ["JSON", (secret) => JSON.stringify({ secret })],
    ["inspect", (secret) => inspect({ secret }, { depth: 9, showHidden: true })],
    ["console formats", (secret) => format("%s %j %o", secret, secret, secret)],
    ["an error's cause", (secret) => inspect(new Error("x", { cause: secret }))],
  ])("does not show in %s", (_name, print) => {
    const text = print(new Secret(VALUE));
    expect(text).toContain("[redacted]");
    expect(text).not.toContain(VALUE);
  });

  it("is revealed on request", () => {
    expect(new Secret(VALUE).reveal()).toBe(VALUE);
  });
});

describe("the logger", () => {
  function logged(write: (logger: ReturnType<typeof createLogger>) => void) {
    const lines: string[] = [];
    write(createLogger({ level: "info", stream: { write: (line) => lines.push(line) } }));
    return lines;
  }

  it("writes no secret, by type or by name, at any depth of a request", () => {
    const [line] = logged((logger) =>
      logger.info({
        a: new Secret(VALUE),
        authorization: VALUE,
        headers: { authorization: VALUE, "x-api-key": VALUE },
        request: { headers: { authorization: VALUE } },
        config: { seed: VALUE },
      }),
    );
    expect(line).toContain("[redacted]");
    expect(line).not.toContain(VALUE);
  });

  it("writes one JSON object a line with level name, ISO time and the whole cause of an error", () => {
    const [line = ""] = logged((logger) =>
      logger.error({ cause: new Error("outer", { cause: new Error("inner") }) }, "failed"),
    );
    const entry = JSON.parse(line);
    expect(entry).toMatchObject({
      level: "error",
      msg: "failed",
      cause: { message: expect.stringContaining("outer") },
    });
    expect(line).toContain("inner");
    expect(new Date(entry.time).toISOString()).toBe(entry.time);
  });

  it("is silent below its level", () => {
    expect(logged((logger) => logger.debug("quiet"))).toEqual([]);
  });
});
