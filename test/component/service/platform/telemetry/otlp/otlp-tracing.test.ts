import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { type SpanContext, SpanKind, TraceFlags } from "@opentelemetry/api";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { QueuedOperation } from "../../../../../../src/service/chain/submit/outbox.ts";
import { inOperationSpans } from "../../../../../../src/service/chain/submit/trace-operations.ts";
import { summarize } from "../../../../../../src/service/platform/store/trace-database.ts";
import { openTracing } from "../../../../../../src/service/platform/telemetry/open-tracing.ts";
import type {
  Tracing,
  TracingConfig,
} from "../../../../../../src/service/platform/telemetry/otlp/otlp-tracing.ts";
import { Secret } from "../../../../../../src/service/platform/telemetry/secret.ts";
import {
  formatTraceParent,
  inSpan,
  startRemoteSpan,
  type Tracer,
} from "../../../../../../src/service/platform/telemetry/tracer.ts";
import { programEnvironment } from "../../../../../support/environment.ts";
import { ROOT } from "../../../../../support/repository/source-files.ts";
import { type OtlpReceiver, startOtlpReceiver } from "../../../../../support/service/otlp-receiver.ts";
import { silentLog } from "../../../../../support/silent-log.ts";

// Loading OpenTelemetry is slow on a busy machine.
beforeAll(() => import("../../../../../../src/service/platform/telemetry/otlp/otlp-tracing.ts"), 60_000);

let receiver: OtlpReceiver | undefined;
let tracing: Tracing | undefined;
afterEach(async () => {
  await tracing?.close();
  await receiver?.close();
});

const warnings: object[] = [];
const log = { ...silentLog, info: () => {}, warn: (fields: object) => void warnings.push(fields) };

async function open(config: Partial<TracingConfig> = {}, statuses: number[] = []) {
  receiver = await startOtlpReceiver(statuses);
  tracing = await openTracing(
    {
      endpoint: new Secret(receiver.endpoint),
      headers: new Secret("authorization=Bearer%20abc"),
      serviceName: "tests",
      sampledShare: 1,
      followsCaller: true,
      ...config,
    },
    log,
  );
  return { receiver, tracer: tracing.tracer };
}

const remote = (isSampled = true): SpanContext => ({
  traceId: randomBytes(16).toString("hex"),
  spanId: randomBytes(8).toString("hex"),
  traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
});

const CALL = { kind: SpanKind.SERVER };

describe("a traced process", () => {
  it("records nested work as children, across waits and in parallel", async () => {
    const { receiver, tracer } = await open();
    const work = (name: string) =>
      inSpan(tracer, name, CALL, async () => {
        await new Promise((resolve) => setImmediate(resolve));
        await inSpan(tracer, `part of ${name}`, {}, async () => {});
      });
    await Promise.all([work("a"), work("b")]);
    await tracing?.close();
    for (const name of ["a", "b"]) {
      const whole = receiver.spans.find((span) => span.name === name)!;
      expect(receiver.spans.find((span) => span.name === `part of ${name}`)).toMatchObject({
        traceId: whole.traceId,
        parentSpanId: whole.spanId,
      });
    }
    expect(receiver.header("authorization")).toBe("Bearer abc");
  });

  it("starts no trace for work outside a call", async () => {
    const { tracer } = await open();
    expect(tracer.startSpan("a look at the queue").isRecording()).toBe(false);
  });

  it("follows the caller's sampling, unless it is configured not to", async () => {
    const isRecorded = (tracer: Tracer, isSampled: boolean) =>
      startRemoteSpan(tracer, "x", CALL, remote(isSampled)).isRecording();
    expect(isRecorded((await open()).tracer, false)).toBe(false);
    await tracing?.close();
    await receiver?.close();
    const own = await open({ followsCaller: false });
    expect(isRecorded(own.tracer, false)).toBe(true);
    await tracing?.close();
    await receiver?.close();
    const none = await open({ followsCaller: false, sampledShare: 0 });
    expect(isRecorded(none.tracer, true)).toBe(false);
  });

  it("records the type of a failure, never its text", async () => {
    const { receiver, tracer } = await open();
    const failure = Object.assign(new Error("duplicate key (apple)"), { code: "23505" });
    const failing = inSpan(tracer, "x", CALL, () => Promise.reject(failure));
    await expect(failing).rejects.toBe(failure);
    await tracing?.close();
    expect(receiver.spans).toMatchObject([{ status: { code: 2 }, attributes: { "error.type": "23505" } }]);
    expect(receiver.bodies.join()).not.toContain("apple");
  });

  it("continues while the receiver refuses, logs it once, and ends", async () => {
    warnings.length = 0;
    const { tracer } = await open({}, [400, 400]);
    await inSpan(tracer, "lost", CALL, async () => {});
    await tracing?.close();
    expect(warnings).toHaveLength(1);
  });

  it("ends when the receiver is gone", { timeout: 30_000 }, async () => {
    const { receiver, tracer } = await open();
    await receiver.close();
    await inSpan(tracer, "lost", CALL, async () => {});
    await tracing?.close();
  });
});

describe("a transaction for several calls", () => {
  const operation = (parent?: SpanContext): QueuedOperation => ({
    id: randomBytes(4).toString("hex"),
    kind: "sign",
    subjectId: "s",
    alone: false,
    attempts: 0,
    traceParent: parent ? formatTraceParent(parent) : null,
  });

  it("is a span in the first call's trace, and links to the traces of all calls", async () => {
    const { receiver, tracer } = await open();
    const [first, second] = [remote(), remote()];
    const operations = [operation(), operation(first), operation(second), operation(remote(false))];
    await inOperationSpans(tracer, "0xlane", operations, async (tell) => tell({ outcome: "landed" }));
    await tracing?.close();
    const parts = receiver.spans.filter(({ name }) => name === "submit sign");
    expect(parts.map(({ traceId, parentSpanId }) => [traceId, parentSpanId]).sort()).toEqual(
      [first, second].map(({ traceId, spanId }) => [traceId, spanId]).sort(),
    );
    const whole = receiver.spans.find(({ name }) => name === "transaction on the chain")!;
    const ofFirst = parts.find(({ traceId }) => traceId === first.traceId)!;
    expect(whole).toMatchObject({ traceId: first.traceId, parentSpanId: ofFirst.spanId });
    expect(whole.links.map(({ spanId }) => spanId).sort()).toEqual(parts.map(({ spanId }) => spanId).sort());
    expect(receiver.spans.map(({ attributes }) => attributes["outcome"])).toEqual(Array(3).fill("landed"));
  });

  it("is not recorded if none of the calls is", async () => {
    const { receiver, tracer } = await open();
    await inOperationSpans(tracer, "0xlane", [operation(), operation(remote(false))], async () => {});
    await tracing?.close();
    expect(receiver.spans).toEqual([]);
  });
});

describe("the summary of a statement", () => {
  it.each([
    ["SELECT id FROM project WHERE id = $1", "SELECT project"],
    ["UPDATE sign_request SET status = 'queued' WHERE id = $1 RETURNING id", "UPDATE sign_request"],
    [
      "WITH q AS (UPDATE presign SET state = 'held' RETURNING id), o AS MATERIALIZED (SELECT 1 FROM q FOR UPDATE SKIP LOCKED) INSERT INTO ledger_entry (id) SELECT id FROM o ON CONFLICT DO UPDATE SET id = 1",
      "UPDATE presign INSERT ledger_entry",
    ],
    ["DELETE FROM idempotency_key WHERE key = 'secret'", "DELETE idempotency_key"],
    ["SELECT 1", "SELECT"],
  ])("names operations and tables, without values: %s", (statement, summary) => {
    expect(summarize(statement)).toBe(summary);
  });
});

describe("a process without a receiver for traces", () => {
  /** The packages of OpenTelemetry that a process has loaded, apart from the facade that prom-client brings along. */
  const loadedBy = async (tracing: string): Promise<string[]> => {
    const program = `
      import { createRequire } from "node:module";
      await import("${ROOT}/src/service/app/app.ts");
      const { Secret } = await import("${ROOT}/src/service/platform/telemetry/secret.ts");
      const { openTracing } = await import("${ROOT}/src/service/platform/telemetry/open-tracing.ts");
      await openTracing(${tracing}, {});
      const files = Object.keys(createRequire(import.meta.url).cache);
      const names = files.map((file) => /@opentelemetry.([a-z-]+)/.exec(file)?.[1]).filter(Boolean);
      console.log(JSON.stringify([...new Set(names)]));
      process.exit();`;
    const argv = ["--import", "tsx", "--input-type=module", "--eval", program];
    const { stdout } = await promisify(execFile)(process.execPath, argv, {
      cwd: ROOT,
      env: programEnvironment,
    });
    return (JSON.parse(stdout) as string[]).filter((name) => name !== "api");
  };

  it("does not load OpenTelemetry's SDK", { timeout: 60_000 }, async () => {
    const config = `{ endpoint: new Secret("http://127.0.0.1:9"), serviceName: "x", sampledShare: 1, followsCaller: true }`;
    const [without, withOne] = await Promise.all([loadedBy("undefined"), loadedBy(config)]);
    expect(without).toEqual([]);
    expect(withOne).toContain("sdk-trace");
  });
});
