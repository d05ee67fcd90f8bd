import { afterAll, beforeAll, expect, it } from "vitest";
import { enqueueOperation } from "../../../../../src/service/chain/operation.ts";
import { addGasCoin, addLane } from "../../../../../src/service/chain/submit/lane-table.ts";
import { createSubmitter } from "../../../../../src/service/chain/submit/submitter.ts";
import { createLocalSignals } from "../../../../../src/service/platform/coordination/local-coordination.ts";
import { type Database, newId } from "../../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase, silentLog } from "../../../../support/database/database.ts";
import { createManualClock } from "../../../../support/manual-clock.ts";
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
  const subjectId = newId();
  await enqueueOperation(database, {
    id: newId(),
    network: NETWORK,
    kind: "presign",
    subjectId,
    priority: 50,
  });
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
  const submitter = createSubmitter({
    clock,
    database: counting,
    network: NETWORK,
    signals,
    log: silentLog,
    lanes: [chain.lane()],
    reader: chain,
    kinds: [chain.kind()],
    leaseMs: LEASE_MS,
  });
  submitter.start();
  await landed;
  await submitter.stop();
  expect(chain.landed).toEqual([subjectId]);
  expect(renewals).toBe(2);
});
