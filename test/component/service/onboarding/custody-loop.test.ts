/** The background loop that compares dWallets with the Treasury, over a fullnode whose answers the test controls. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { custodyPlaces, TreasuryObject } from "../../../../src/protocol/chain/treasury-custody.ts";
import type { OwnedObject } from "../../../../src/service/chain/reader.ts";
import { createCustodyLoop } from "../../../../src/service/onboarding/custody/custody-loop.ts";
import { markDWalletLeft } from "../../../../src/service/onboarding/custody/custody-state.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import type { Clock } from "../../../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { dwalletOf, objectId, projectWith } from "../../../support/database/rows.ts";
import { silentLog } from "../../../support/silent-log.ts";

const TREASURY_ID = objectId();
const TREASURY = treasuryContent();
/** The number of dWallets that one pass compares. */
const PAGE_COUNT = 24;

describe("the custody check", () => {
  let database: Database;
  let projectId: string;
  beforeAll(async () => {
    database = await openTestDatabase();
    projectId = await projectWith(database, 0n);
  }, DATABASE_TIMEOUT_MS);
  afterAll(() => database?.close());

  const chain = new Map<string, OwnedObject>();
  const write = (id: string, version: bigint) =>
    chain.set(id, { objectId: id, version: String(version), digest: "digest", lastChange: undefined });
  const entryOf = (dwalletId: string) => custodyPlaces(TREASURY, dwalletId).dwalletEntryId;
  /** A dWallet that the Treasury has held since a version. */
  const held = async (version: bigint) => {
    const { rowId, objectId: id } = await dwalletOf(database, projectId);
    write(id, version);
    write(entryOf(id), version);
    return { rowId, id };
  };
  const takeOut = (id: string, version: bigint) => {
    chain.delete(entryOf(id));
    write(TREASURY_ID, version);
  };
  const stateOf = async (rowId: string) => {
    const [row] = await database.query<{ state: string; events: string[] }>(
      `SELECT state, ARRAY(SELECT action FROM audit_event WHERE subject = $1 ORDER BY id) AS events
       FROM dwallet WHERE id = $1::uuid`,
      [rowId],
    );
    return row;
  };
  /** Runs passes one after another. Each reads the chain once. */
  const passes = async (count: number) => {
    const steps = createSteps();
    let largest = 0;
    const loop = createCustodyLoop({
      database,
      network: "localnet",
      treasuryId: TREASURY_ID,
      reader: {
        getObjects: async (ids) => new Map(ids.includes(TREASURY_ID) ? [[TREASURY_ID, TREASURY]] : []),
        async ownedObjects(ids) {
          largest = Math.max(largest, ids.length);
          return new Map(ids.flatMap((id) => [...chain].filter(([key]) => key === id)));
        },
      },
      signals: { ...createLocalSignals(), isComplete: () => true },
      clock: steps.clock,
      log: silentLog,
    });
    loop.start();
    for (let pass = 1; pass < count; pass++) await steps.next();
    await steps.paused();
    await loop.stop();
    return largest;
  };

  it("records once that a capability has left", async () => {
    write(TREASURY_ID, 10n);
    const [gone, stays] = [await held(5n), await held(5n)];
    takeOut(gone.id, 11n);
    await passes(3);
    expect(await stateOf(gone.rowId)).toEqual({ state: "Left", events: ["dwallet.left"] });
    expect(await stateOf(stays.rowId)).toEqual({ state: "Active", events: [] });
  });

  it("decides nothing about a dWallet that the fullnode does not know yet", async () => {
    const { rowId } = await dwalletOf(database, projectId);
    await passes(1);
    expect(await stateOf(rowId)).toEqual({ state: "Active", events: [] });
  });

  it("records that a capability came back, and that it left again", async () => {
    const { rowId, id } = await held(20n);
    takeOut(id, 21n);
    await passes(1);
    write(TREASURY_ID, 22n);
    write(entryOf(id), 22n);
    await passes(1);
    expect(await stateOf(rowId)).toEqual({ state: "Active", events: ["dwallet.left", "dwallet.return"] });
    takeOut(id, 23n);
    await passes(1);
    expect(await stateOf(rowId)).toMatchObject({ state: "Left" });
  });

  it.each([
    ["an exit that the service sent", { version: 31n }],
    ["an exit past the service that a refused signature told of", {}],
  ])("does not mistake a fullnode that is behind %s for a capability's return", async (_, leaving) => {
    const { rowId, id } = await held(30n);
    await markDWalletLeft(database, rowId, leaving);
    takeOut(id, 31n);
    await passes(1);
    write(TREASURY_ID, 30n);
    write(entryOf(id), 30n);
    await passes(2);
    expect(await stateOf(rowId)).toEqual({ state: "Left", events: ["dwallet.left"] });
    write(TREASURY_ID, 32n);
    write(entryOf(id), 32n);
    await passes(1);
    expect(await stateOf(rowId)).toMatchObject({ state: "Active" });
  });

  it("reaches every dWallet page by page, and requests at most 50 objects at a time", async () => {
    const all = await Promise.all(Array.from({ length: 2 * PAGE_COUNT + 1 }, () => held(40n)));
    for (const { id } of all) takeOut(id, 41n);
    expect(await passes(3)).toBeLessThanOrEqual(50);
    const states = await Promise.all(all.map(({ rowId }) => stateOf(rowId)));
    expect(new Set(states.map((row) => row?.state))).toEqual(new Set(["Left"]));
    const oldest = all.toSorted((one, other) => (one.rowId < other.rowId ? -1 : 1))[0]!;
    write(TREASURY_ID, 42n);
    write(entryOf(oldest.id), 42n);
    await passes(2);
    expect(await stateOf(oldest.rowId)).toMatchObject({ state: "Left" });
    await passes(3);
    expect(await stateOf(oldest.rowId)).toMatchObject({ state: "Active" });
  });
});

/** A clock that stands still. A pause lasts until the test ends it. */
function createSteps() {
  let end: (() => void) | undefined;
  let tell = () => {};
  const clock: Clock = {
    now: () => 0,
    wallMs: () => 0,
    after(_, call) {
      end = call;
      tell();
      return () => {};
    },
  };
  const paused = () =>
    new Promise<void>((resolve) => {
      if (end !== undefined) resolve();
      tell = resolve;
    });
  return {
    clock,
    paused,
    /** Waits for the end of a pass, and starts the next one. */
    async next() {
      await paused();
      const call = end;
      end = undefined;
      call?.();
    },
  };
}

function treasuryContent(): Uint8Array {
  const table = () => ({ id: objectId(), size: 0 });
  return TreasuryObject.serialize({
    id: TREASURY_ID,
    version: 1,
    paused: false,
    ika: 0,
    sui: 0,
    operators: [],
    ceilings: table(),
    roles: { admin_cap_id: objectId(), pauser: objectId(), recovery: objectId(), offer: null },
    custody: {
      dwallet_caps: table(),
      presign_caps: table(),
      dwallets: table(),
      nonces: table(),
      announced: [],
      successor: null,
    },
  }).toBytes();
}
