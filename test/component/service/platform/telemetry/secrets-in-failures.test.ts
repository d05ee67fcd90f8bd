/** Whatever fails, the log says why, and never contains a secret from the failure's text. */

import { afterEach, describe, expect, it } from "vitest";
import { Signing } from "../../../../../gen/proto/tss/v1/signing_pb.ts";
import { createSettler } from "../../../../../src/service/chain/settler.ts";
import { createErrorInterceptor } from "../../../../../src/service/platform/errors/error-interceptor.ts";
import { createErrorMapping } from "../../../../../src/service/platform/errors/error-mapping.ts";
import { ServiceError } from "../../../../../src/service/platform/errors/service-error.ts";
import { createBackgroundLoop } from "../../../../../src/service/platform/lifecycle/background-loop.ts";
import { systemClock } from "../../../../../src/service/platform/lifecycle/clock.ts";
import { Lifecycle } from "../../../../../src/service/platform/lifecycle/lifecycle.ts";
import type { Database } from "../../../../../src/service/platform/store/database.ts";
import { createLogger } from "../../../../../src/service/platform/telemetry/logger.ts";
import { createMetrics } from "../../../../../src/service/platform/telemetry/metrics.ts";
import { observeCalls } from "../../../../../src/service/platform/telemetry/observe-calls.ts";
import { Secret } from "../../../../../src/service/platform/telemetry/secret.ts";
import { traceCalls } from "../../../../../src/service/platform/telemetry/trace-calls.ts";
import { NO_TRACER } from "../../../../../src/service/platform/telemetry/tracer.ts";
import { registerService } from "../../../../../src/transport/calls/service-registration.ts";
import { startServer, type TransportServer } from "../../../../../src/transport/start-server.ts";

const API_KEY = `tss_test_${"k9".repeat(16)}`;
const OWN_SECRET = "the hot wallet's very own secret";
const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";

/** A failure that contains secrets in every place that a failure has. */
const indiscreet = (): Error =>
  Object.assign(new Error(`refused ${API_KEY}`, { cause: new Error(`with ${OWN_SECRET}`) }), {
    detail: `x-api-key: ${API_KEY}`,
    config: { nested: { secret: new Secret(OWN_SECRET), text: OWN_SECRET } },
  });

let waiting: (() => void) | undefined;
const lines: string[] = [];
const log = createLogger({
  level: "trace",
  secrets: [new Secret(OWN_SECRET)],
  stream: {
    write(line) {
      lines.push(line);
      waiting?.();
    },
  },
});
const nextLine = () =>
  new Promise<void>((resolve) => {
    waiting = resolve;
  });

let server: TransportServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
  lines.length = 0;
});

const expectDiscretion = (text: string) => {
  expect(text).not.toContain(API_KEY);
  expect(text).not.toContain(OWN_SECRET);
};

async function serve(fail: { gate?: () => void; handler?: () => never }, query = ""): Promise<string> {
  const errors = createErrorMapping(({ level, message, ...fields }) => log[level](fields, message));
  const metrics = createMetrics();
  await server?.close();
  server = await startServer({
    host: "127.0.0.1",
    port: 0,
    errors,
    services: [registerService(Signing, { getSign: fail.handler ?? (() => ({})) })],
    interceptors: [createErrorInterceptor(errors)],
    ...(fail.gate && { gate: fail.gate }),
    aroundCall: traceCalls(NO_TRACER),
    onCallEnd: observeCalls({ logger: log, metrics }),
  });
  const reply = await fetch(`${server.url}/v1/sign/1${query}`, {
    headers: {
      "x-api-key": API_KEY,
      "x-request-id": "r-1",
      traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01`,
    },
  });
  const { body } = await metrics.render();
  metrics.close();
  return `${JSON.stringify([...reply.headers])}\n${await reply.text()}\n${body}`;
}

describe("a failure that holds secrets", () => {
  it.each<[string, Parameters<typeof serve>[0]]>([
    [
      "a handler",
      {
        handler: () => {
          throw indiscreet();
        },
      },
    ],
    [
      "a handler, as the cause of an expected failure",
      {
        handler: () => {
          throw new ServiceError("CHAIN_UNAVAILABLE", "the chain cannot be reached", {
            detail: OWN_SECRET,
            cause: indiscreet(),
          });
        },
      },
    ],
    [
      "the gate",
      {
        gate: () => {
          throw indiscreet();
        },
      },
    ],
  ])("shows none of them in log, reply or metrics if it comes from %s", async (_name, fail) => {
    const answered = await serve(fail);
    expectDiscretion(answered);
    expectDiscretion(lines.join("\n"));
    const entries = lines.map((line) => JSON.parse(line));
    expect(entries).toHaveLength(2);
    expect(entries.every(({ requestId }) => requestId === "r-1")).toBe(true);
    expect(lines.join()).toContain("[redacted]");
  });

  it.each<[string, () => unknown]>([
    [
      "a loop's pass",
      () => {
        const loop = createBackgroundLoop({
          clock: systemClock,
          name: "x",
          pass: () => Promise.reject(indiscreet()),
          intervalMs: 60_000,
          log,
        });
        loop.start();
        return () => loop.stop();
      },
    ],
    [
      "a session that cannot be settled",
      () => {
        const settler = createSettler({
          clock: systemClock,
          database: {} as Database,
          reader: { getObjects: async () => new Map([["0x1", new Uint8Array()]]) } as never,
          kinds: [
            {
              name: "sign",
              requestedBy: "sign",
              open: async () => [{ subjectId: "1", objectId: "0x1" }],
              settle: () => Promise.reject(indiscreet()),
            },
          ],
          log,
        });
        settler.start();
        return () => settler.stop();
      },
    ],
    [
      "a part that does not stop",
      () => {
        const lifecycle = new Lifecycle({ log });
        lifecycle.onStop("x", () => Promise.reject(indiscreet()));
        void lifecycle.stop();
        return () => {};
      },
    ],
  ])("shows none of them in the log if it comes from %s", async (_name, begin) => {
    const told = nextLine();
    const end = begin() as () => unknown;
    await told;
    await end();
    expect(lines.join()).toContain("[redacted]");
    expectDiscretion(lines.join());
  });
});

describe("a call", () => {
  it("is logged in one line, with its request and trace ids and without its query and headers", async () => {
    await serve({});
    expectDiscretion(lines.join());
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        level: "info",
        time: expect.any(String),
        method: "tss.v1.Signing/GetSign",
        protocol: "rest",
        code: "ok",
        durationMs: expect.any(Number),
        requestId: "r-1",
        traceId: TRACE_ID,
        msg: "call",
      },
    ]);
  });

  it("with a key in its query shows it nowhere", async () => {
    expectDiscretion(await serve({}, `?api_key=${API_KEY}`));
    expectDiscretion(await serve({}, `?${API_KEY}=1`).then(() => lines.join()));
    expect(lines.join()).toContain("VALIDATION");
  });
});
