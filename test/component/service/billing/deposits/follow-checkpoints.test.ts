/** The follower of checkpoints, over a stream that the test controls. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { leaseFollower } from "../../../../../src/service/billing/deposits/checkpoint-follower.ts";
import {
  createCheckpointFollower,
  hastenScans,
} from "../../../../../src/service/billing/deposits/follow-checkpoints.ts";
import {
  type CheckpointGains,
  type CheckpointReader,
  CheckpointsNotServedError,
} from "../../../../../src/service/chain/checkpoint-reader.ts";
import { createLocalSignals } from "../../../../../src/service/platform/coordination/local-coordination.ts";
import { topics } from "../../../../../src/service/platform/coordination/topics.ts";
import type { Database } from "../../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { recordQuietAddress } from "../../../../support/database/deposit-rows.ts";
import { quietAddresses } from "../../../../support/database/deposit-watch.ts";
import { objectId, projectWith } from "../../../../support/database/rows.ts";
import { createPauseClock } from "../../../../support/pause-clock.ts";
import { silentLog } from "../../../../support/silent-log.ts";

let database: Database;
let projectId: string;
/** Addresses whose next scan is a day away. */
let address: string;
let other: string;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  for (const table of ["checkpoint_follower", "deposit_address"])
    await database.query(`DELETE FROM ${table}`);
  projectId = await projectWith(database, 0n);
  address = await recordQuietAddress(database, projectId);
  other = await recordQuietAddress(database, projectId);
});

describe("the follower", () => {
  it("begins at the newest checkpoint, and makes each address due that the stream announces", async () => {
    const { chain, pass, announced, infos, stop } = follower();
    await pass();
    expect(await position()).toMatchObject({ next: 101n, isFollowing: true });
    expect([announced, infos]).toEqual([[], ["follows checkpoints; quiet addresses are scanned slowly"]]);
    await chain.say(101n, address, objectId());
    await pass();
    expect(await position()).toMatchObject({ next: 102n, isFollowing: true });
    expect([await isDue(address), await isDue(other)]).toEqual([true, false]);
    expect(announced).toEqual([topics.depositDue("localnet")]);
    // An address that nobody deposits to wakes no scan.
    await chain.say(102n, objectId());
    await pass();
    expect(await position()).toMatchObject({ next: 103n });
    expect([announced.length, infos.length]).toEqual([1, 1]);
    await stop();
  });

  it("reads the checkpoints before the stream one by one, and follows once it has read them all", async () => {
    await continueAt(41n);
    const { chain, pass, announced, stop } = follower();
    chain.gains.set(95n, [address]);
    await pass();
    expect(chain.read).toEqual(range(41n, 91n));
    expect(await position()).toMatchObject({ next: 91n, isFollowing: false });
    chain.read.length = 0;
    await pass();
    expect(chain.read).toEqual(range(91n, 101n));
    expect(await position()).toMatchObject({ next: 101n, isFollowing: false });
    expect(announced).toEqual([topics.depositDue("localnet")]);
    expect([await isDue(address), await isDue(other)]).toEqual([true, false]);
    await chain.say(101n);
    await pass();
    expect(await position()).toMatchObject({ next: 102n, isFollowing: true });
    await stop();
  });

  it("reads no checkpoint that the stream brought, however many came since the last look", async () => {
    const { chain, pass, stop } = follower();
    await pass();
    for (const sequence of range(101n, 105n)) await chain.say(sequence);
    await pass();
    expect(await position()).toMatchObject({ next: 105n, isFollowing: true });
    expect(chain.read).toEqual([]);
    await stop();
  });

  it("retries a checkpoint that the fullnode lacks five times, and then skips it and scans every address", async () => {
    await continueAt(100n);
    const { chain, pass, announced, warnings, stop } = follower();
    chain.absent.add(100n);
    await pass();
    await chain.say(101n, address);
    for (let tries = 2; tries <= 5; tries++) await pass();
    expect(await position()).toMatchObject({ next: 100n, isFollowing: false });
    // A payment that the stream announced does not wait for the gap.
    expect([await isDue(address), await isDue(other)]).toEqual([true, false]);
    expect(chain.read).toEqual(Array(5).fill(100n));
    expect(warnings).toEqual([]);
    await pass();
    expect(await position()).toMatchObject({ next: 102n, isFollowing: true });
    expect(await isDue(other)).toBe(true);
    expect(announced).toHaveLength(2);
    expect(warnings).toEqual(["skips checkpoints and scans every deposit address"]);
    await stop();
  });

  it("counts the tries of one checkpoint alone", async () => {
    await continueAt(49n);
    const { chain, pass, warnings, stop } = follower();
    chain.absent.add(51n);
    for (let tries = 1; tries <= 4; tries++) await pass();
    chain.absent.clear();
    await pass();
    expect(await position()).toMatchObject({ next: 99n });
    chain.absent.add(99n);
    for (let tries = 1; tries <= 5; tries++) await pass();
    expect(warnings).toEqual([]);
    await stop();
  });

  it("scans every address often again after a minute without progress, and warns once", async () => {
    const { chain, clock, pass, announced, warnings, stop } = follower();
    await pass();
    expect((await position())?.isFollowing).toBe(true);
    chain.isSilent = true;
    for (let passes = 0; passes < 30 && (await position())?.isFollowing; passes++) {
      expect(await isDue(address)).toBe(false);
      await pass();
    }
    expect(clock.now()).toBeGreaterThan(60_000);
    expect(await position()).toMatchObject({ next: 101n, isFollowing: false });
    expect([await isDue(address), await isDue(other)]).toEqual([true, true]);
    expect(announced).toEqual([topics.depositDue("localnet")]);
    await quietAddresses(database);
    await pass();
    expect(await isDue(address)).toBe(false);
    expect(warnings).toEqual(["cannot follow checkpoints; scans every deposit address instead"]);
    chain.isSilent = false;
    await chain.say(101n);
    await pass();
    expect(await position()).toMatchObject({ next: 102n, isFollowing: true });
    await stop();
  });

  it("does so at once on a fullnode without such a stream", async () => {
    await continueAt(101n);
    await database.query("UPDATE checkpoint_follower SET is_following = true");
    const { chain, pass, warnings, stop } = follower();
    chain.isServed = false;
    for (let passes = 0; passes < 3; passes++) await pass();
    expect((await position())?.isFollowing).toBe(false);
    expect(await isDue(address)).toBe(true);
    await pass();
    expect(warnings).toEqual(["cannot follow checkpoints; scans every deposit address instead"]);
    await stop();
  });

  it("of a silent chain records within half a minute that nothing is new, and not at each look", async () => {
    const { pass, clock, stop } = follower();
    await pass();
    const longAgo = () => database.query("UPDATE checkpoint_follower SET caught_up_at = '2020-01-01'");
    const isOld = async () =>
      (await database.query("SELECT 1 FROM checkpoint_follower WHERE caught_up_at < '2021-01-01'")).length >
      0;
    await longAgo();
    while (clock.now() < 10_000) await pass();
    expect(await isOld()).toBe(true);
    while (clock.now() < 30_000) await pass();
    expect(await isOld()).toBe(false);
    await stop();
  });

  it("does not read the chain while another process follows, and releases its lease when it stops", async () => {
    const [first, second] = [follower(), follower()];
    await first.pass();
    await second.pass();
    expect([first.chain.subscribed, second.chain.subscribed]).toEqual([1, 0]);
    // It looks for the lease every ten seconds.
    await first.stop();
    while (second.clock.now() < 9_000) await second.pass();
    expect(second.chain.subscribed).toBe(0);
    await second.pass();
    expect(second.chain.subscribed).toBe(1);
    await second.stop();
  });

  it("closes its stream once another process has taken over, and changes nothing more", async () => {
    const { chain, pass, stop } = follower();
    await pass();
    await database.query("UPDATE checkpoint_follower SET fence = fence + 1");
    const before = await position();
    await chain.say(101n, address);
    await pass();
    await pass();
    expect([await position(), await isDue(address), chain.isOpen]).toEqual([before, false, false]);
    await stop();
    expect(await leaseFollower(database, "localnet", undefined)).toBeUndefined();
  });
});

it("all scans are brought forward, and no statement locks more than 5,000 addresses", async () => {
  await database.query(
    `INSERT INTO deposit_address (address, project_id, network, reference, due_at)
     SELECT 'many-' || n, $1, 'localnet', 'many-' || n, now() + interval '1 day' FROM generate_series(1, 5001) n`,
    [projectId],
  );
  await database.query("CREATE TEMPORARY TABLE locked (count bigint)");
  await database.query(
    `CREATE FUNCTION pg_temp.count_locked() RETURNS trigger LANGUAGE plpgsql AS
     'BEGIN INSERT INTO locked SELECT count(*) FROM changed; RETURN NULL; END'`,
  );
  await database.query(
    `CREATE TRIGGER count_locked AFTER UPDATE ON deposit_address REFERENCING NEW TABLE AS changed
     FOR EACH STATEMENT EXECUTE FUNCTION pg_temp.count_locked()`,
  );
  await hastenScans(database, { network: "localnet", pollMs: 1 });
  await database.query("DROP TRIGGER count_locked ON deposit_address");
  const counts = await database.query<{ count: bigint }>("SELECT count FROM locked WHERE count > 0");
  expect(counts.map(({ count }) => count)).toEqual([5_000n, 3n]);
  const late = "SELECT 1 FROM deposit_address WHERE due_at > now() + interval '1 hour'";
  expect(await database.query(late)).toEqual([]);
});

/** A follower over a chain of the test, which runs one pass at a time. */
function follower() {
  const clock = createPauseClock();
  const chain = fakeChain();
  const [announced, infos, warnings]: [string[], string[], string[]] = [[], [], []];
  const loop = createCheckpointFollower(
    { database, network: "localnet" },
    {
      ...{ reader: chain.reader, pollMs: 10, clock },
      signals: { ...createLocalSignals(), notify: (topic) => void announced.push(topic) },
      log: {
        ...silentLog,
        info: (_, message) => void infos.push(message),
        warn: (_, message) => void warnings.push(message),
        error() {},
      },
    },
  );
  let isStarted = false;
  return {
    ...{ clock, chain, announced, infos, warnings },
    async pass() {
      if (isStarted) clock.elapse();
      else loop.start();
      isStarted = true;
      await clock.paused();
    },
    stop: () => loop.stop(),
  };
}

/** A chain of 101 checkpoints, with a stream of what the test says. */
function fakeChain() {
  let send: (gains: CheckpointGains | undefined) => void = () => {};
  let latest = 100n;
  const state = {
    subscribed: 0,
    isOpen: false,
    isServed: true,
    /** A silent chain does not even answer. */
    isSilent: false,
    read: [] as bigint[],
    gains: new Map<bigint, string[]>(),
    absent: new Set<bigint>(),
  };
  const reader: CheckpointReader = {
    async *subscribe(signal, onOpen) {
      if (!state.isServed) throw new CheckpointsNotServedError(new Error("unimplemented"));
      state.subscribed++;
      state.isOpen = true;
      signal.addEventListener("abort", () => send(undefined));
      onOpen();
      while (!signal.aborted) {
        const gains = await new Promise<CheckpointGains | undefined>((resolve) => {
          send = resolve;
        });
        if (gains !== undefined) yield gains;
      }
      state.isOpen = false;
    },
    async read(sequence) {
      state.read.push(sequence);
      if (state.absent.has(sequence)) return undefined;
      return { sequence, addresses: state.gains.get(sequence) ?? [] };
    },
    async latest() {
      if (state.isSilent) throw new Error("the fullnode is away");
      return latest;
    },
  };
  return Object.assign(state, {
    reader,
    /** Adds a checkpoint, which the stream sends. */
    async say(sequence: bigint, ...addresses: string[]) {
      latest = sequence;
      send({ sequence, addresses });
      await new Promise((resolve) => setImmediate(resolve));
    },
  });
}

function range(from: bigint, to: bigint): bigint[] {
  return Array.from({ length: Number(to - from) }, (_, index) => from + BigInt(index));
}

/** Records the position of an earlier follower, which has not caught up. */
async function continueAt(next: bigint): Promise<void> {
  await database.query(
    "INSERT INTO checkpoint_follower (network, next_checkpoint, leased_until) VALUES ('localnet', $1, now())",
    [next],
  );
}

async function position() {
  const [row] = await database.query<{ next: bigint | null; isFollowing: boolean }>(
    `SELECT next_checkpoint AS next, is_following AS "isFollowing" FROM checkpoint_follower WHERE network = 'localnet'`,
  );
  return row;
}

/** Returns whether an address is scanned within a minute. */
async function isDue(of: string): Promise<boolean> {
  const rows = await database.query(
    "SELECT 1 FROM deposit_address WHERE address = $1 AND due_at < now() + interval '1 minute'",
    [of],
  );
  return rows.length > 0;
}
