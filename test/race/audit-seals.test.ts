/** Concurrent sealers and writers with overlapping transactions, on a real PostgreSQL. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeAuditEvent } from "../../src/service/audit/audit-event.ts";
import { decodeLine } from "../../src/service/audit/export-line.ts";
import { sealEvents } from "../../src/service/audit/seal-events.ts";
import { createLedgerGauges } from "../../src/service/operator/metrics/shared-figures.ts";
import type { Database, Queryable } from "../../src/service/platform/store/database.ts";
import { createMetrics } from "../../src/service/platform/telemetry/metrics.ts";
import { exported, sealAll, verified, writeEvents } from "../support/database/audit-trail.ts";
import { openRaceDatabase } from "../support/database/database.ts";
import { migratedDatabase, testDatabase } from "../support/database/postgres.ts";
import { openTestPool } from "../support/database/test-pool.ts";
import { environment } from "../support/environment.ts";
import { silentLog } from "../support/silent-log.ts";

const test = await migratedDatabase();
const RACING = {
  count: 9,
  because: "four long transactions, four short ones and a sealer run at the same time on each replica",
};
const pools: Database[] = [];
const closing: (() => Promise<void>)[] = [];
beforeAll(async () => {
  if (test === undefined) return;
  for (let pool = 0; pool < 2; pool++) pools.push(await openTestPool(test.url, { connections: RACING }));
});
afterAll(async () => {
  for (const close of closing) await close();
  for (const pool of pools) await pool.close();
  await test?.drop();
});

const write = (db: Queryable, subject: string) =>
  writeAuditEvent(db, { actor: "system" }, { action: "race", subject });

/** The sealed events in their order. */
const sealedSubjects = async (db: Queryable) =>
  (await db.query<{ subject: string; sequence: bigint }>(
    `SELECT e.subject, l.sequence FROM audit_leaf l JOIN audit_event e ON e.id = l.audit_event_id
     ORDER BY l.sequence`,
    [],
  )) as { subject: string; sequence: bigint }[];

describe.skipIf(test === undefined)("the sealer", () => {
  it("seals every event once and without a gap while others write and seal", async () => {
    const WRITERS = 8;
    const EACH = 40;
    let open = WRITERS;
    const writing = Array.from({ length: WRITERS }, async (_, writer) => {
      const pool = pools[writer % 2]!;
      for (let n = 0; n < EACH; n++) {
        // Each event's transaction contains another one that begins later and commits first.
        await pool
          .transaction(async (db) => {
            await write(db, `${writer}.${n}.outer`);
            await write(pools[(writer + 1) % 2]!, `${writer}.${n}.inner`);
            if (n % 7 === 0) throw new Error("rolled back");
          })
          .catch((error: Error) => expect(error.message).toBe("rolled back"));
      }
      open--;
    });
    const sealing = pools.map(async (database) => {
      while (open > 0) await sealEvents(database, undefined);
    });
    await Promise.all([...writing, ...sealing]);
    await sealAll(pools[0]!);

    const sealed = await sealedSubjects(pools[0]!);
    const committed = Array.from({ length: WRITERS }, (_, writer) =>
      Array.from({ length: EACH }, (_, n) => [
        `${writer}.${n}.inner`,
        ...(n % 7 === 0 ? [] : [`${writer}.${n}.outer`]),
      ]),
    ).flat(2);
    expect(sealed.map(({ subject }) => subject).sort()).toEqual(committed.sort());
    expect(sealed.map(({ sequence }) => sequence)).toEqual(sealed.map((_, index) => BigInt(index + 1)));
    // The events of each writer are in the order in which it committed them.
    for (let writer = 0; writer < WRITERS; writer++) {
      const own = sealed.flatMap(({ subject }) =>
        subject.startsWith(`${writer}.`) ? [Number(subject.split(".")[1])] : [],
      );
      expect(own).toEqual(own.toSorted((a, b) => a - b));
    }
    expect((await verified(await exported(pools[0]!))).faults).toEqual([]);
  }, 120_000);

  it("seals the events of a long transaction after its commit, after the events that it sealed before", async () => {
    const [one, other] = pools as [Database, Database];
    const before = (await sealedSubjects(one)).length;
    await one.transaction(async (db) => {
      await write(db, "long");
      await write(other, "short");
      expect(await sealEvents(other, undefined)).toBe(1);
    });
    await write(other, "later");
    await sealAll(other);
    expect((await sealedSubjects(one)).slice(before).map(({ subject }) => subject)).toEqual([
      "short",
      "long",
      "later",
    ]);
  });

  it("leaves no partial seal when it is killed between any two of its statements", async () => {
    const [one, other] = pools as [Database, Database];
    await write(one, "survivor");
    const before = (await sealedSubjects(one)).length;
    let statementCount = 0;
    for (let dieAt = 1; ; dieAt++) {
      statementCount = 0;
      // The server ends the session, as it does when a process dies.
      const mortal: Database = {
        ...other,
        transaction: (work) =>
          other.transaction((db) =>
            work({
              async query(...call) {
                if (++statementCount === dieAt) {
                  const [self] = await db.query<{ pid: number }>("SELECT pg_backend_pid() AS pid", []);
                  await one.query("SELECT pg_terminate_backend($1, 5000)", [self?.pid]);
                }
                return db.query(...call);
              },
            }),
          ),
      };
      const sealed = await sealEvents(mortal, undefined).catch(() => "died");
      if (sealed !== "died") {
        expect(sealed).toBe(1);
        break;
      }
      expect(await sealedSubjects(one)).toHaveLength(before);
    }
    expect(statementCount).toBeGreaterThan(5);
    expect(await sealEvents(one, undefined)).toBe(0);
    expect(await sealedSubjects(one)).toHaveLength(before + 1);
    expect((await verified(await exported(one))).faults).toEqual([]);
  });

  it("seals while a long verification of the ledger runs", async () => {
    const [one, other] = pools as [Database, Database];
    await write(one, "meanwhile");
    let sealedCount: number | undefined;
    const slow: Database = {
      ...one,
      transaction: (work) =>
        one.transaction(async (db) => {
          const result = await work(db);
          // The verification's transaction, with all its locks, is still open.
          sealedCount = await sealEvents(other, undefined);
          return result;
        }),
    };
    const metrics = createMetrics();
    await createLedgerGauges({ database: slow, metrics, log: silentLog })();
    metrics.close();
    expect(sealedCount).toBe(1);
  });

  it("continues in a restored copy that has unsealed events", async () => {
    const [one] = pools as [Database, Database];
    await write(one, "unsealed at the copy");
    const copy = await testDatabase();
    const run = promisify(execFile);
    const dump = await run("pg_dump", ["--dbname", test!.url], { maxBuffer: 1 << 28 });
    const psql = run("psql", ["--dbname", copy!.url, "--quiet", "--set", "ON_ERROR_STOP=1"]);
    psql.child.stdin?.end(dump.stdout);
    await psql;
    const restored = await openTestPool(copy!.url);
    closing.push(async () => {
      await restored.close();
      await copy!.drop();
    });
    await write(restored, "written to the copy");
    expect(await sealAll(restored)).toEqual([2]);
    const sealed = await sealedSubjects(restored);
    expect(sealed.slice(-2).map(({ subject }) => subject)).toEqual([
      "unsealed at the copy",
      "written to the copy",
    ]);
    expect((await verified(await exported(restored))).faults).toEqual([]);
  }, 120_000);
});

describe.skipIf(test === undefined)("an export of many entries", () => {
  const COUNT = environment.isReference ? 100_000 : 20_000;
  const [FLIPPED, DELETED, SWAPPED] = [COUNT / 3, COUNT / 2, (COUNT * 7) / 9].map((place) =>
    BigInt(Math.trunc(place)),
  ) as [bigint, bigint, bigint];
  let lines: Buffer[];
  beforeAll(async () => {
    const database = await openRaceDatabase();
    if (database === undefined) return;
    closing.push(() => database.close());
    await writeEvents(database, COUNT);
    await sealAll(database);
    lines = await exported(database);
  }, 240_000);

  const lineOf = (sequence: bigint) =>
    lines.findIndex((bytes) => {
      const line = decodeLine(bytes);
      return line?.kind === "entry" && line.entry.sequence === sequence;
    });

  it("verifies", async () => {
    expect(await verified(lines)).toMatchObject({ faults: [], entryCount: BigInt(COUNT) });
  }, 120_000);

  it("reports three faults for one flipped bit, one deleted and one reordered entry", async () => {
    const flip = lineOf(FLIPPED);
    const flipped = Buffer.from(lines[flip]!);
    flipped[100]! ^= 0x04;
    const swap = lineOf(SWAPPED);
    const changed = lines
      .with(flip, flipped)
      .with(swap, lines[swap + 1]!)
      .with(swap + 1, lines[swap]!)
      .toSpliced(lineOf(DELETED), 1);
    const { faults } = await verified(changed);
    expect(faults.map(({ kind, sequence }) => [kind, sequence])).toEqual([
      ["changed", FLIPPED],
      ["missing", DELETED],
      ["reordered", SWAPPED + 1n],
    ]);
  }, 120_000);
});
