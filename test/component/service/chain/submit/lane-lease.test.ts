import { afterAll, beforeAll, expect, it } from "vitest";
import { enqueueOperation } from "../../../../../src/service/chain/operation.ts";
import { addGasCoin, addLane } from "../../../../../src/service/chain/submit/lane-table.ts";
import { createSubmitter, type SubmitterOptions } from "../../../../../src/service/chain/submit/submitter.ts";
import { createLocalSignals } from "../../../../../src/service/platform/coordination/local-coordination.ts";
import { topics } from "../../../../../src/service/platform/coordination/topics.ts";
import { type Database, newId } from "../../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { createManualClock } from "../../../../support/manual-clock.ts";
import { createPauseClock } from "../../../../support/pause-clock.ts";
import { silentLog } from "../../../../support/silent-log.ts";
import { FakeChain, LANE, NETWORK } from "../fake-chain.ts";

const LEASE_MS = 9_000;
let database: Database;

beforeAll(async () => {
  database = await openTestDatabase();
  await addLane(database, NETWORK, { objectId: LANE, version: "1", digest: "d1" });
  await addGasCoin(database, LANE, { objectId: "0xc014", version: "1", digest: "d1" });
}, DATABASE_TIMEOUT_MS);
afterAll(() => database?.close());

it("a lane's lease is renewed twice before it ends, however long a transaction takes", async () => {
  const subjectId = await queue();
  const clock = createManualClock();
  const chain = new FakeChain();
  chain.onSend = async (digest) => {
    clock.advance(LEASE_MS - 1);
    return chain.execute(digest);
  };
  let renewals = 0;
  const counting: Database = {
    ...database,
    query<Row>(statement: string, parameters?: readonly unknown[]): Promise<Row[]> {
      if (statement.includes("UPDATE lane SET leased_until = now() +")) renewals++;
      return database.query<Row>(statement, parameters);
    },
  };
  const signals = createLocalSignals();
  const landed = new Promise<void>((resolve) => {
    signals.subscribe(`operation:${subjectId}`, () => resolve());
  });
  const submitter = submitterOf(chain, { clock, database: counting, signals, leaseMs: LEASE_MS });
  submitter.start();
  await landed;
  await submitter.stop();
  expect(chain.landed).toEqual([subjectId]);
  expect(renewals).toBe(2);
});

it("a process that has lost its lane stores nothing, and reports it without failing", async () => {
  const chain = new FakeChain();
  const warnings: object[] = [];
  const leases: number[] = [];
  const lane = chain.lane();
  let isTaken = true;
  const submitter = submitterOf(chain, {
    log: { ...silentLog, warn: (fields: object) => void warnings.push(fields) },
    onLease: (change) => void leases.push(change),
    lanes: [
      {
        ...lane,
        async build(...block) {
          // Another process takes the lane while this one builds.
          if (isTaken) await database.query("UPDATE lane SET fence = fence + 1");
          return lane.build(...block);
        },
      },
    ],
  });
  const [driver] = submitter.drivers;
  const addCalls = () => {};
  const stolen = await driver!.sendOwn({ addCalls });
  expect([stolen, chain.sent, warnings]).toEqual([false, [], [{ lane: LANE, reason: expect.any(String) }]]);
  expect(leases).toEqual([1, -1]);
  isTaken = false;
  await database.query("UPDATE lane SET leased_until = now()");
  expect(await driver!.sendOwn({ addCalls })).toBe(true);
  expect(leases).toEqual([1, -1, 1, -1]);
});

it("a refused dry run asks the chain for no transaction, unless one of the lane's own has landed", async () => {
  const chain = new FakeChain();
  const asked: unknown[] = [];
  chain.transaction = async (...digests: unknown[]) => void asked.push(...digests);
  chain.refuse = () => ({ kind: "SizeError", message: "" });
  chain.abortOnExecution = () => undefined;
  const signals = createLocalSignals();
  const submitter = submitterOf(chain, { signals });
  const subjectId = await queue();
  const landed = new Promise<void>((resolve) => {
    signals.subscribe(topics.landed(NETWORK), resolve);
  });
  submitter.start();
  await landed;
  await submitter.stop();
  expect([chain.landed, asked]).toEqual([[subjectId], []]);
});

it("an operation that is announced while the lanes rest is sent at once, and none after the stop", async () => {
  const [signals, clock] = [createLocalSignals(), createPauseClock()];
  const chain = new FakeChain();
  const submitter = submitterOf(chain, { signals: { ...signals, isComplete: () => true }, clock });
  submitter.start();
  expect(await clock.paused()).toBe(30_000);
  const subjectId = await queue();
  const landed = new Promise<void>((resolve) => {
    signals.subscribe(topics.landed(NETWORK), resolve);
  });
  signals.notify(topics.outbox(NETWORK));
  await landed;
  await submitter.stop();
  expect(chain.landed).toEqual([subjectId]);
});

function submitterOf(chain: FakeChain, options: Partial<SubmitterOptions>) {
  return createSubmitter({
    ...{ clock: createManualClock(), database, network: NETWORK, signals: createLocalSignals() },
    ...{ lanes: [chain.lane()], reader: chain, kinds: [chain.kind()], log: silentLog },
    ...options,
  });
}

async function queue(): Promise<string> {
  const subjectId = newId();
  const operation = { id: newId(), network: NETWORK, kind: "presign", subjectId, priority: 50 } as const;
  await enqueueOperation(database, operation);
  return subjectId;
}
