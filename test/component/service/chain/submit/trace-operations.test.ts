import { afterAll, beforeAll, expect, it } from "vitest";
import type { SessionKind } from "../../../../../src/service/chain/session.ts";
import type { QueuedOperation } from "../../../../../src/service/chain/submit/outbox.ts";
import {
  inOperationSpans,
  readSessionTraces,
  traceLane,
} from "../../../../../src/service/chain/submit/trace-operations.ts";
import { type Database, newId } from "../../../../../src/service/platform/store/database.ts";
import { NO_TRACER, type Tracer } from "../../../../../src/service/platform/telemetry/tracer.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { FakeChain, LANE } from "../fake-chain.ts";

const [TRACE, SPAN] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

it("an open session is in the trace of the call that requested it, if that was traced", async () => {
  const parent = `00-${TRACE}-${SPAN}-01`;
  const [traced, untraced, malformed] = [
    await operation("presign", parent),
    await operation("presign", null),
    await operation("presign", "no trace"),
  ];
  // Another operation of the same row, which requested no session.
  await operation("sign", parent, untraced);
  const open = [traced, untraced, malformed].map((subjectId) => ({
    kind: { requestedBy: "presign" } as SessionKind,
    session: { subjectId, objectId: "0x1" },
  }));
  const traces = await readSessionTraces(database, open);
  expect([...traces.keys()]).toEqual([traced]);
  expect(traces.get(traced)).toMatchObject({ traceId: TRACE, spanId: SPAN });
});

it("a transaction has a span for each operation of a traced call, and one of its own", async () => {
  const { tracer, spans } = tracerOf();
  const operations = [queued(null), queued(`00-${TRACE}-${SPAN}-01`), queued("malformed")];
  const done = await inOperationSpans(tracer, LANE, operations, async (tell) => {
    tell({ outcome: "landed" });
    return "done";
  });
  expect(done).toBe("done");
  expect(spans.map(({ name, attributes }) => [name, attributes["outcome"]])).toEqual([
    ["submit sign", "landed"],
    ["transaction on the chain", "landed"],
  ]);
  expect(spans.every(({ isEnded, status }) => isEnded && status === undefined)).toBe(true);
});

it("the spans of a transaction that fails have its kind of failure, and the failure goes on to the caller", async () => {
  const { tracer, spans } = tracerOf();
  const failure = Object.assign(new Error("secret"), { code: "UNAVAILABLE" });
  const operations = [queued(`00-${TRACE}-${SPAN}-01`)];
  await expect(
    inOperationSpans(tracer, LANE, operations, async () => {
      throw failure;
    }),
  ).rejects.toBe(failure);
  expect(spans.map(({ status, isEnded }) => [status, isEnded])).toEqual(Array(2).fill(["UNAVAILABLE", true]));
});

it("a transaction of no traced call has no spans", async () => {
  const { tracer, spans } = tracerOf();
  expect(await inOperationSpans(tracer, LANE, [queued(null)], async () => "done")).toBe("done");
  expect(spans).toEqual([]);
});

it("each call of a traced lane has a span", async () => {
  const { tracer, spans } = tracerOf();
  const chain = new FakeChain();
  const lane = traceLane(chain.lane(), tracer);
  const stored = await lane.build({} as never, { addCalls() {} }, "dry-run");
  await lane.send({ ...stored, network: "localnet" } as never);
  expect(spans.map(({ name }) => name)).toEqual(["build transaction", "execute transaction"]);
  expect([chain.built, chain.sent.length]).toEqual([1, 1]);
});

it("a lane without tracing is the lane itself", () => {
  const lane = new FakeChain().lane();
  expect(traceLane(lane, NO_TRACER)).toBe(lane);
});

async function operation(kind: string, traceParent: string | null, subjectId = newId()): Promise<string> {
  await database.query(
    `INSERT INTO chain_operation (id, network, kind, subject_id, priority, trace_parent)
     VALUES ($1, 'localnet', $2, $3, 50, $4)`,
    [newId(), kind, subjectId, traceParent],
  );
  return subjectId;
}

function queued(traceParent: string | null): QueuedOperation {
  return { ...{ id: newId(), subjectId: newId(), attempts: 0, alone: false }, kind: "sign", traceParent };
}

/** A tracer that notes its spans. */
function tracerOf() {
  const spans: { name: string; attributes: Record<string, unknown>; status?: string; isEnded: boolean }[] =
    [];
  const tracer = {
    startSpan(name: string) {
      const noted: (typeof spans)[number] = { name, attributes: {}, isEnded: false };
      spans.push(noted);
      const span = {
        isRecording: () => true,
        spanContext: () => ({ traceId: TRACE, spanId: SPAN, traceFlags: 1 }),
        setAttribute: () => span,
        setAttributes: (attributes: object) => Object.assign(noted.attributes, attributes),
        setStatus: ({ message }: { message: string }) => Object.assign(noted, { status: message }),
        end: () => Object.assign(noted, { isEnded: true }),
      };
      return span;
    },
  };
  return { tracer: tracer as unknown as Tracer, spans };
}
