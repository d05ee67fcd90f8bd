import { expect, it } from "vitest";
import { createLogger } from "../../../../../src/service/platform/telemetry/logger.ts";
import { createTerminalLog } from "../../../../../src/service/platform/telemetry/terminal-log.ts";

function open(columns = 40) {
  let shown = "";
  const stream = createTerminalLog({
    columns,
    write(text) {
      shown += text;
    },
  });
  const log = createLogger({ level: "info", stream });
  /** What stays on the screen: each line after its last erasure. */
  const screen = () => shown.split("\n").map((line) => line.split("\r\u001b[2K").at(-1));
  return { log, stream, screen };
}

it("a start in a terminal is one line of progress, which ends when the service is ready", () => {
  const { log, stream, screen } = open();
  log.info({ part: "database", durationMs: 12 }, "started");
  expect(screen()).toEqual(["starting: database started"]);
  log.info({ migration: `a-long-name-${"x".repeat(80)}` }, "applied a migration");
  expect(screen()).toHaveLength(1);
  expect(screen()[0]).toHaveLength(39);
  stream.ready();
  expect(screen()).toEqual([""]);
});

it("a warning and an error stay on the screen, with the messages of the causes and no stack", () => {
  const { log, screen } = open();
  const cause = new Error("fetch failed", { cause: new Error("connect ECONNREFUSED") });
  log.warn({ cause }, "a source failed");
  log.error({ loop: "deposits" }, "a pass failed");
  const [warning, error] = screen();
  expect(warning).toMatch(/^warn: a source failed {2}cause: fetch failed: connect ECONNREFUSED$/);
  expect(error).toBe("error: a pass failed  loop=deposits");
});

it("a message after the start has its time, and control characters of callers are not shown", () => {
  const { log, stream, screen } = open();
  stream.ready();
  log.info({ name: "a\u001b[31mb" }, "created");
  expect(screen()[0]).toMatch(/^\d\d:\d\d:\d\d {2}created {2}name=a\ufffd\[31mb$/);
});
