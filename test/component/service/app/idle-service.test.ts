import { afterAll, beforeAll, expect, it } from "vitest";
import { type Localnet, startLocalnet } from "../../../../src/localnet/localnet.ts";
import { localnetHotWalletSecret } from "../../../../src/localnet/seed.ts";
import { createChainWork } from "../../../../src/service/app/chain-work.ts";
import { createSharedWork } from "../../../../src/service/app/shared-work.ts";
import { takeDeposits } from "../../../../src/service/app/take-deposits.ts";
import { createAuditSealer } from "../../../../src/service/audit/seal-events.ts";
import { type ChainNetwork, connectNetwork } from "../../../../src/service/chain/fullnodes/network.ts";
import { createNetworkReader } from "../../../../src/service/chain/reader.ts";
import { loadConfig } from "../../../../src/service/config/config.ts";
import { createSamplers } from "../../../../src/service/operator/history/sampling.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import type { Signals } from "../../../../src/service/platform/coordination/signals.ts";
import { topics } from "../../../../src/service/platform/coordination/topics.ts";
import { type Clock, systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import type { Loop } from "../../../../src/service/platform/lifecycle/start-loops.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { Secret } from "../../../../src/service/platform/telemetry/secret.ts";
import { createPresignQueue } from "../../../../src/service/presigns/presign-queue.ts";
import { inlineVerifier } from "../../../support/crypto/inline-verifier.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase, silentLog } from "../../../support/database/database.ts";
import { createManualClock } from "../../../support/manual-clock.ts";
import { createCheapMpc } from "../../../unit/localnet/cheap-mpc.ts";

const NAME = "localnet";
let localnet: Localnet;
let database: Database;
let network: ChainNetwork;

beforeAll(async () => {
  [localnet, database] = await Promise.all([startLocalnet({ mpc: createCheapMpc() }), openTestDatabase()]);
  network = await connectNetwork({
    clock: systemClock,
    name: NAME,
    fullnodeUrl: new Secret(localnet.url),
    ikaConfig: localnet.ikaConfig,
    treasury: localnet.treasury,
    hotWalletSecret: new Secret(localnetHotWalletSecret()),
  });
}, DATABASE_TIMEOUT_MS);
afterAll(() => Promise.all([database?.close(), localnet?.close()]));

it("an idle service that hears every signal asks its database a few times in ten seconds", async () => {
  const service = await startLoops(createLocalSignals(true));
  await service.passSeconds(10);
  const first = service.statementCount();
  await service.passSeconds(60);
  expect((service.statementCount() - first) / 6).toBeLessThan(25);
  await service.stop();
});

it("a service whose signals may be incomplete asks its database as often as work may wait", async () => {
  const service = await startLoops(createLocalSignals());
  await service.passSeconds(10);
  expect(service.statementCount()).toBeGreaterThan(150);
  await service.stop();
});

it.each([
  ["a queued operation", topics.outbox(NAME), "FROM chain_operation"],
  ["a landed transaction", topics.landed(NAME), "FROM sign_request\n"],
  ["a wanted presign", topics.presignWanted(NAME), "WITH RECURSIVE used"],
  ["a leaving dWallet", topics.leaving(NAME), "FROM treasury_consent"],
  ["a due deposit address", topics.depositDue(NAME), "FROM deposit_address\n"],
  ["a requested deposit address", topics.depositRequested(NAME), "FROM deposit_address_request"],
])("%s wakes its loop at once", async (_, topic, statement) => {
  const signals = createLocalSignals(true);
  const service = await startLoops(signals);
  await service.passSeconds(2);
  const asked = service.asks(statement);
  signals.notify(topic);
  await asked;
  await service.stop();
});

/** Starts the loops of a worker, without any work, on a clock that only the test moves. */
async function startLoops(signals: Signals) {
  const manual = createManualClock();
  const rests = countRests(manual);
  const statements = countStatements(database);
  const config = loadConfig({ BILLING_USD_PRICES: "SUI=3.50,IKA=0.02" });
  const own = config.networks[0];
  const still = { ...network, clock: rests.clock };
  const shared = { database: statements.database, signals, clock: rests.clock, log: silentLog };
  const reader = createNetworkReader(network);
  const log = { ...silentLog, debug() {} };
  const callerReads = () => ({ backOff: network.backOffs.callers });
  const { deposits, watchLoops } = await takeDeposits({
    ...shared,
    network: still,
    config: own.deposits,
    callerReads: callerReads as never,
  });
  const work = await createChainWork(
    {
      ...shared,
      config: own,
      chain: still,
      reader,
      presigns: createPresignQueue({ signals, clock: rests.clock }),
      verifier: inlineVerifier,
      deposits,
      depositSigner: () => undefined,
      log,
    },
    { afterRestore: false },
  );
  const named = [
    ...watchLoops,
    ...work,
    ...createSharedWork({ ...shared, retentionDays: 30 }),
    ...createSamplers({ ...shared, network: still, reader, config: own }),
  ];
  const loops: Loop[] = [...named.map(({ loop }) => loop), createAuditSealer({ ...shared, key: undefined })];
  // Each lane has a loop of its own in the submitter's place.
  const restingCount = loops.length - 1 + localnet.treasury.operatorCapIds.length;
  for (const loop of loops) loop.start();
  await rests.reached(restingCount);
  return {
    statementCount: statements.count,
    asks: statements.asks,
    async passSeconds(seconds: number) {
      const endMs = manual.now() + seconds * 1_000;
      while (manual.now() < endMs) {
        manual.callNext();
        await rests.reached(restingCount);
      }
    },
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

/** Counts the loops that rest: each sets one timer until its next pass. */
function countRests(manual: Clock) {
  let count = 0;
  let look: () => void = () => {};
  const change = (by: number) => {
    count += by;
    look();
  };
  const clock: Clock = {
    ...manual,
    after(durationMs, call) {
      let isSet = true;
      const end = () => {
        if (isSet) change(-1);
        isSet = false;
      };
      const cancel = manual.after(durationMs, () => {
        end();
        call();
      });
      change(1);
      return () => {
        cancel();
        end();
      };
    },
  };
  return {
    clock,
    reached: (wanted: number) =>
      new Promise<void>((resolve) => {
        look = () => {
          if (count === wanted) resolve();
        };
        look();
      }),
  };
}

/** Counts statements, and tells of those that contain a text. */
function countStatements(of: Database) {
  let count = 0;
  const listeners = new Set<(statement: string) => void>();
  const query: Database["query"] = (statement, parameters) => {
    count++;
    for (const tell of listeners) tell(statement);
    return of.query(statement, parameters);
  };
  return {
    database: {
      ...of,
      query,
      transaction: (work) => {
        count++;
        return of.transaction(work);
      },
    } as Database,
    count: () => count,
    asks: (text: string) =>
      new Promise<void>((resolve) => {
        listeners.add((statement) => statement.includes(text) && resolve());
      }),
  };
}
