import { afterAll, beforeAll, expect, it } from "vitest";
import { type Localnet, startLocalnet } from "../../../../src/localnet/localnet.ts";
import { localnetHotWalletSecret } from "../../../../src/localnet/seed.ts";
import { takeDeposits } from "../../../../src/service/app/take-deposits.ts";
import { createChainWork, createSharedWork } from "../../../../src/service/app/work.ts";
import { createAuditSealer } from "../../../../src/service/audit/seal-events.ts";
import { type ChainNetwork, connectNetwork } from "../../../../src/service/chain/fullnodes/network.ts";
import { createNetworkReader } from "../../../../src/service/chain/reader.ts";
import { loadConfig } from "../../../../src/service/config/config.ts";
import { createParameterBuilder } from "../../../../src/service/onboarding/build-parameters.ts";
import type { ParameterStore } from "../../../../src/service/onboarding/parameter-store.ts";
import { createSamplers } from "../../../../src/service/operator/history/sampling.ts";
import { createObservation } from "../../../../src/service/operator/metrics/observation.ts";
import { createSharedFigures } from "../../../../src/service/operator/metrics/shared-figures.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import type { Signals } from "../../../../src/service/platform/coordination/signals.ts";
import { topics } from "../../../../src/service/platform/coordination/topics.ts";
import { createKeySweep } from "../../../../src/service/platform/idempotency/key-table.ts";
import { type Clock, systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import type { Loop } from "../../../../src/service/platform/lifecycle/start-loops.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { createMetrics } from "../../../../src/service/platform/telemetry/metrics.ts";
import { Secret } from "../../../../src/service/platform/telemetry/secret.ts";
import { createPresignQueue } from "../../../../src/service/presigns/presign-queue.ts";
import { markProcess } from "../../../../src/service/restore/mark-process.ts";
import { inlineVerifier } from "../../../support/crypto/inline-verifier.ts";
import { DATABASE_TIMEOUT_MS, openEmbeddedDatabase } from "../../../support/database/database.ts";
import { dwalletOf, projectWith, readyPresigns } from "../../../support/database/rows.ts";
import { createManualClock } from "../../../support/manual-clock.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { createCheapMpc } from "../../../unit/localnet/cheap-mpc.ts";

const NAME = "localnet";
const CONFIG = loadConfig({ BILLING_USD_PRICES: "SUI=3.50,IKA=0.02" });
let localnet: Localnet;
let database: Database;
let network: ChainNetwork;

beforeAll(async () => {
  [localnet, database] = await Promise.all([
    startLocalnet({ mpc: createCheapMpc() }),
    openEmbeddedDatabase(),
  ]);
  network = await connectNetwork({
    clock: systemClock,
    name: NAME,
    fullnodeUrl: new Secret(localnet.url),
    ikaConfig: localnet.ikaConfig,
    treasury: localnet.treasury,
    hotWalletSecret: new Secret(localnetHotWalletSecret()),
  });
  const { bucket } = await dwalletOf(database, await projectWith(database, 0n));
  for (const signatureAlgorithm of [0, 1])
    await readyPresigns(database, { ...bucket, signatureAlgorithm }, CONFIG.networks[0].presignLowWaterCount);
}, DATABASE_TIMEOUT_MS);
afterAll(() => Promise.all([database?.close(), localnet?.close()]));

it("an idle service that hears every signal seldom looks at its database and its chain", async () => {
  const service = await startLoops(createLocalSignals(true));
  // Five minutes without a scrape, and then the rest that the loops have begun.
  await service.passSeconds(420);
  const { passes, statements, reads } = await service.perMinute(5);
  expect(passes).toBeLessThan(82);
  expect(statements).toBeLessThan(101);
  expect(reads).toBeLessThan(45);
  await service.stop();
});

it("an idle service reads its figures as often as before while something scrapes them", async () => {
  const service = await startLoops(createLocalSignals(true));
  await service.passSeconds(420);
  const unseen = await service.perMinute(2);
  const seen = await service.perMinute(2, service.scrape);
  expect(seen.statements - unseen.statements).toBeGreaterThan(20);
  expect(seen.reads - unseen.reads).toBeGreaterThanOrEqual(3);
  await service.stop();
});

it("a service whose signals may be incomplete asks its database as often as work may wait", async () => {
  const service = await startLoops(createLocalSignals());
  await service.passSeconds(10);
  expect(service.counts().statements).toBeGreaterThan(120);
  await service.stop();
});

it.each([
  ["a queued operation", topics.outbox(NAME), "FROM chain_operation"],
  ["a landed transaction", topics.landed(NAME), "FROM sign_request\n"],
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

it("a wanted presign wakes its loop within half a second, since one pass serves all that are wanted", async () => {
  const signals = createLocalSignals(true);
  const service = await startLoops(signals);
  await service.passSeconds(2);
  const asked = service.asks("WITH RECURSIVE used");
  signals.notify(topics.presignWanted(NAME));
  await service.passSeconds(0.5);
  await asked;
  await service.stop();
});

it("a checkpoint wakes the follower of a silent chain at once", async () => {
  const service = await startLoops(createLocalSignals(true));
  await service.passSeconds(30);
  const moved = service.asks("UPDATE checkpoint_follower SET next_checkpoint");
  await localnet.controls.setTreasury({ ika: 10n ** 18n, sui: 10n ** 18n });
  await moved;
  await service.stop();
});

it("a worker that cannot pay for the presigns it lacks looks for funds every ten seconds", async () => {
  await localnet.controls.setTreasury({ ika: 0n, sui: 0n });
  await database.query("DELETE FROM presign");
  const service = await startLoops(createLocalSignals(true));
  await service.passSeconds(30);
  const { reads } = await service.perMinute(2);
  expect(reads).toBeGreaterThan(45);
  await service.stop();
});

/** Starts the loops of a worker, without any work, on a clock that only the test moves. */
async function startLoops(signals: Signals) {
  const manual = createManualClock();
  const rests = countRests(manual);
  const statements = countStatements(database);
  const own = CONFIG.networks[0];
  let readCount = 0;
  const backOff: ChainNetwork["backOff"] = {
    ...network.backOff,
    run(call, signal) {
      readCount++;
      return network.backOff.run(call, signal);
    },
  };
  const backOffs = { ...network.backOffs, background: backOff };
  const times = { ...network.times, readMs: DEADLINE_MS };
  const still = { ...network, clock: rests.clock, backOff, backOffs, times };
  const metrics = createMetrics();
  const shared = { database: statements.database, signals, clock: rests.clock, log: silentLog };
  const reader = createNetworkReader(still);
  const log = { ...silentLog, debug() {} };
  const callerReads = () => ({ backOff: network.backOffs.callers });
  const { deposits, watchLoops, pricedCoins } = await takeDeposits({
    usersMaxCount: 10,
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
    { reconcileOn: undefined },
  );
  const named = [
    ...watchLoops,
    ...work,
    ...createSharedWork({ ...shared, retentionDays: 30 }),
    ...createObservation({ ...shared, metrics, network: still, reader, pricedCoins, config: own }),
    ...createSharedFigures({ ...shared, metrics }),
    // Samples of the pool follow the database's clock, which stands almost still here.
    ...createSamplers({ ...shared, network: still, reader, config: own }).filter(
      ({ name }) => name !== "presign samples",
    ),
  ];
  const mark = await markProcess({
    ...shared,
    ...{ kind: "all", host: "host", pid: 1, reconciles: [] },
  });
  const builder = createParameterBuilder({ ...shared, reader, store: BUILT, curves: [0] });
  const others = [createAuditSealer({ ...shared, key: undefined }), createKeySweep(shared), builder];
  const loops: Loop[] = [...named.map(({ loop }) => loop), ...others];
  // Each lane has a loop of its own in the submitter's place, and the mark has one.
  const restingCount = loops.length + localnet.treasury.operatorCapIds.length;
  for (const loop of [...loops, mark.loop]) loop.start();
  await rests.reached(restingCount);
  let passCount = 0;
  const counts = () => ({ passes: passCount, statements: statements.count(), reads: readCount });
  const passSeconds = async (seconds: number) => {
    const endMs = manual.now() + seconds * 1_000;
    while (manual.now() < endMs) {
      manual.callNext();
      passCount++;
      await rests.reached(restingCount);
    }
  };
  return {
    counts,
    asks: statements.asks,
    scrape: () => metrics.render(),
    passSeconds,
    /** Passes these minutes, and returns what an average one has. Calls `often` once in five seconds. */
    async perMinute(minutes: number, often: () => unknown = () => {}) {
      const before = counts();
      for (let count = 0; count < 12 * minutes; count++) {
        await often();
        await passSeconds(5);
      }
      const after = counts();
      return {
        passes: (after.passes - before.passes) / minutes,
        statements: (after.statements - before.statements) / minutes,
        reads: (after.reads - before.reads) / minutes,
      };
    },
    async stop() {
      await Promise.all([...loops.map((loop) => loop.stop()), mark.end()]);
      metrics.close();
    },
  };
}

/** Protocol parameters that are all built. */
const BUILT: ParameterStore = {
  find: async () => [{ curve: 0, sha256: "", sizeBytes: 0 }],
  put: () => Promise.reject(new Error("builds nothing")),
  size: async () => undefined,
  async *read() {},
};

/** The time limit of a read, which no loop has as its rest. */
const DEADLINE_MS = 9_999;

/** Counts the loops that rest: each sets one timer until its next pass. The time limits of reads run in real time. */
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
      if (durationMs === DEADLINE_MS) return systemClock.after(durationMs, call);
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
      transaction: (work) =>
        of.transaction((db) =>
          work({
            ...db,
            query(statement, parameters) {
              count++;
              return db.query(statement, parameters);
            },
          }),
        ),
    } as Database,
    count: () => count,
    asks: (text: string) =>
      new Promise<void>((resolve) => {
        listeners.add((statement) => statement.includes(text) && resolve());
      }),
  };
}
