/** Processes that mark themselves as running, and what must run alone, on a real PostgreSQL. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Localnet, startLocalnet } from "../../src/localnet/localnet.ts";
import { startApp } from "../../src/service/app/app.ts";
import { openChainAccess } from "../../src/service/app/chain-access.ts";
import { type ReconcileOfflineOptions, reconcileOffline } from "../../src/service/app/reconcile-offline.ts";
import { addLane, leaseLane } from "../../src/service/chain/submit/lane-table.ts";
import { loadConfig } from "../../src/service/config/config.ts";
import { Lifecycle } from "../../src/service/platform/lifecycle/lifecycle.ts";
import { type MarkProcessOptions, markProcess } from "../../src/service/restore/mark-process.ts";
import { type ObservedDatabase, observeDatabase } from "../support/database/observe-database.ts";
import { migratedDatabase } from "../support/database/postgres.ts";
import { openTestPool } from "../support/database/test-pool.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { silentLog } from "../support/silent-log.ts";
import { createCheapMpc } from "../unit/localnet/cheap-mpc.ts";

const EXPIRED = /^the reconciliation stops: this process lost the database until its mark expired/;
const postgres = await migratedDatabase();

describe.skipIf(postgres === undefined)("the mark of a running process", () => {
  let database: ObservedDatabase;
  beforeAll(async () => {
    database = observeDatabase(await openTestPool(postgres!.url));
  });
  afterEach(() => database.query("DELETE FROM process_mark", []));
  afterAll(async () => {
    await database.close();
    await postgres?.drop();
  });

  /** Marks a process that never renews, because its clock stands still. */
  const mark = (more: Partial<MarkProcessOptions> = {}) => {
    const clock = createManualClock();
    const base = { database, kind: "worker", host: "host-a", pid: 1, reconciles: [], clock } as const;
    return markProcess({ ...base, log: silentLog, ...more });
  };
  const alone = { kind: "reconcile", pid: 2, reconciles: ["localnet"] } as const;
  const expireAll = () =>
    database.query("UPDATE process_mark SET expires_at = clock_timestamp() - interval '1 second'", []);

  describe("of a whole replica", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "tss-marks-"));
    let localnet: Localnet;
    beforeAll(async () => {
      localnet = await startLocalnet({ mpc: createCheapMpc() });
    });
    afterAll(async () => {
      await localnet.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const configure = () =>
      loadConfig({
        DATA_DIR: folder,
        PORT: "0",
        LOCALNET_URL: localnet.url,
        PROCESS_TYPE: "worker",
        DATABASE_URL: postgres!.url,
        DATABASE_POOL_SIZE: "2",
      });
    const start = async (afterRestore: boolean) => {
      const lifecycle = new Lifecycle({ log: silentLog });
      try {
        await startApp(configure(), { log: pino({ level: "silent" }), lifecycle, afterRestore });
      } catch (error) {
        await lifecycle.stop();
        throw error;
      }
      return lifecycle;
    };
    const reconcile = async (more: Partial<ReconcileOfflineOptions> = {}) => {
      const config = configure();
      const lifecycle = new Lifecycle({ log: silentLog });
      const failures: unknown[] = [];
      try {
        for await (const { failure } of reconcileOffline(config, config.networks, {
          lifecycle,
          log: silentLog,
          ...more,
        }))
          failures.push(failure);
      } finally {
        await lifecycle.stop();
      }
      return failures;
    };

    it("refuses a reconciliation and a start after a restore beside an idle worker, and ends with the worker", async () => {
      const idle = await start(false);
      // An idle worker holds no lane, and so its leases say nothing.
      await database.query("UPDATE lane SET leased_until = '-infinity'", []);
      const refusal =
        /^other processes use this database: worker \(process \d+ on \S+\)\. .* try again in \d+ s$/;
      await expect(reconcile()).rejects.toThrow(refusal);
      await expect(start(true)).rejects.toThrow(refusal);
      await idle.stop();
      expect(await reconcile()).toEqual([undefined]);
      const restored = await start(true);
      expect(await database.query("SELECT kind, reconciles FROM process_mark", [])).toEqual([
        { kind: "worker", reconciles: [] },
      ]);
      await restored.stop();
      expect(await database.query("SELECT kind FROM process_mark", [])).toEqual([]);
    });

    it("stops a reconciliation when it expires, before anything is written", async () => {
      const lifecycle = new Lifecycle({ log: silentLog });
      const { dataDirectory } = configure();
      const failures = await reconcile({
        async openAccess(network) {
          const access = await openChainAccess(network, { dataDirectory, lifecycle, log: silentLog });
          await database.query("DELETE FROM gas_coin", []);
          await database.query("DELETE FROM lane", []);
          await expireAll();
          return access;
        },
      });
      await lifecycle.stop();
      expect(failures).toEqual([expect.objectContaining({ message: expect.stringMatching(EXPIRED) })]);
      expect(await database.query("SELECT id FROM lane", [])).toEqual([]);
    });

    it("keeps a replica from starting while its network is reconciled", async () => {
      await mark(alone);
      await expect(start(false)).rejects.toThrow(
        "localnet is being reconciled: reconcile (process 2 on host-a)",
      );
    });
  });

  it("says how long a dead process keeps a reconciliation out, by the database's clock", async () => {
    await mark();
    await database.query("UPDATE process_mark SET expires_at = clock_timestamp() + interval '2 hours'", []);
    await expect(mark(alone)).rejects.toThrow(
      /worker \(process 1 on host-a\)\. Stop them and try again\. If they were killed, try again in 7[12]\d\d s/,
    );
    await expireAll();
    await mark(alone);
  });

  it("is renewed before it expires", async () => {
    let onPause: (pause: { readonly ms: number; readonly end: () => void }) => void = () => {};
    const paused = new Promise<Parameters<typeof onPause>[0]>((resolve) => {
      onPause = resolve;
    });
    const after = (ms: number, end: () => void) => {
      onPause({ ms, end });
      return () => {};
    };
    const { loop, end } = await mark({ clock: { ...createManualClock(), after } });
    loop.start();
    const pause = await paused;
    const [row] = await database.query<{ lasts: boolean }>(
      "SELECT bool_and(expires_at > clock_timestamp() + $1 * interval '1 millisecond') AS lasts FROM process_mark",
      [pause.ms],
    );
    expect(row).toEqual({ lasts: true });
    await expireAll();
    pause.end();
    await database.until(async (db) => {
      const rows = await db.query("SELECT 1 FROM process_mark WHERE expires_at > clock_timestamp()", []);
      return rows.length === 1;
    });
    await end();
  });

  it("lets one of two reconciliations that begin at once run", async () => {
    const both = await Promise.allSettled([mark(alone), mark(alone)]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  it("leaves the marks of other processes when its process ends", async () => {
    const ended = await mark();
    await mark({ kind: "api", pid: 3 });
    await ended.end();
    expect(await database.query("SELECT pid FROM process_mark", [])).toEqual([{ pid: 3 }]);
  });

  it("lets its reconciliation write only what it can roll back", async () => {
    const own = (await mark(alone)).guard(database);
    expect(await own.prisma.processMark.count()).toBe(1);
    await expect(own.prisma.processMark.deleteMany()).rejects.toThrow(/^use SQL on a guarded database/);
    await expect(own.prisma.$executeRaw`DELETE FROM process_mark`).rejects.toThrow(/^use SQL/);
    expect(await own.query("SELECT kind FROM process_mark", [])).toEqual([{ kind: "reconcile" }]);
  });

  describe("that expired", () => {
    it("lets its reconciliation write nothing more, also in a transaction that began before", async () => {
      await database.query("CREATE TABLE written (word text)", []);
      const made = await mark(alone);
      const own = made.guard(database);
      await own.query("INSERT INTO written VALUES ('statement')", []);
      await own.transaction((db) => db.query("INSERT INTO written VALUES ('transaction')", []));
      const late = own.transaction(async (db) => {
        await db.query("INSERT INTO written VALUES ('late')", []);
        await expireAll();
      });
      await expect(late).rejects.toThrow(EXPIRED);
      await expect(own.query("INSERT INTO written VALUES ('statement')", [])).rejects.toThrow(EXPIRED);
      await expect(
        own.transaction((db) => db.query("INSERT INTO written VALUES ('transaction')", [])),
      ).rejects.toThrow(EXPIRED);
      await expect(own.prisma.lane.count()).rejects.toThrow(EXPIRED);
      await expect(made.reconciled("localnet")).rejects.toThrow(EXPIRED);
      expect(made.reconciles("localnet")).toBe(true);
      expect(await database.query("SELECT word FROM written", [])).toEqual([
        { word: "statement" },
        { word: "transaction" },
      ]);
    });

    it.each([
      ["is renewed, and its process reconciles no more", ["localnet"]],
      ["is renewed if its process does not reconcile", []],
    ])("%s", async (_, reconciles) => {
      let end: () => void = () => {};
      const clock = createManualClock();
      const rested = () =>
        new Promise<void>((resolve) => {
          end = resolve;
        });
      const after: typeof clock.after = (...timer) => {
        end();
        return clock.after(...timer);
      };
      const first = rested();
      const made = await mark({ ...alone, reconciles, clock: { ...clock, after } });
      made.loop.start();
      await first;
      await expireAll();
      const second = rested();
      clock.callNext();
      await second;
      const running = "SELECT 1 FROM process_mark WHERE expires_at > clock_timestamp()";
      expect(await database.query(running, [])).toHaveLength(1);
      for (const network of reconciles) {
        await expect(made.guard(database).query("SELECT 1", [])).rejects.toThrow(EXPIRED);
        await expect(made.reconciled(network)).rejects.toThrow(EXPIRED);
        expect(made.reconciles(network)).toBe(true);
      }
      await made.end();
    });
  });

  it("keeps the lanes of a network from being leased until that network is reconciled or the mark expires", async () => {
    for (const network of ["localnet", "testnet"])
      await addLane(database, network, { objectId: `0x${network}`, version: "1", digest: "d" });
    const endLeases = () => database.query("UPDATE lane SET leased_until = '-infinity'", []);
    await endLeases();
    const leases = async () => {
      const found = [await leaseLane(database, "0xlocalnet", 1), await leaseLane(database, "0xtestnet", 1)];
      await endLeases();
      return found.map((lease) => lease !== undefined);
    };
    const { reconciles, reconciled, checkFree } = await mark({
      ...alone,
      reconciles: ["localnet", "testnet"],
    });
    expect(await leases()).toEqual([false, false]);
    expect(reconciles("localnet")).toBe(true);
    await checkFree("localnet");
    await reconciled("localnet");
    expect(await leases()).toEqual([true, false]);
    // A process that fails to open the network after that must not reconcile it again.
    expect([reconciles("localnet"), reconciles("testnet")]).toEqual([false, true]);
    await expireAll();
    expect(await leases()).toEqual([true, true]);
  });
});
