import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { GetBalanceResponseSchema } from "../../../../../gen/proto/tss/v1/billing_pb.ts";
import type { Idempotency } from "../../../../../src/service/platform/idempotency/idempotency.ts";
import { sweepKeys } from "../../../../../src/service/platform/idempotency/key-table.ts";
import {
  ADMIN_SCOPE,
  runOnce,
  wholeReply,
} from "../../../../../src/service/platform/idempotency/run-once.ts";
import { type Database, newId, type Queryable } from "../../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { projectWith } from "../../../../support/database/rows.ts";

let database: Database;
let key: string;
let effects: number;
beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(() => {
  key = newId();
  effects = 0;
});

const keyed = (request = 0): Idempotency => ({
  key,
  method: "tss.v1.Admin/Test",
  fingerprint: new Uint8Array(32).fill(request),
});
const call = (more: object = {}) => ({
  scope: ADMIN_SCOPE,
  network: "localnet",
  idempotency: keyed(),
  ...more,
});

/** Creates a row and replies with the number of rows. */
const balance = {
  ...wholeReply(GetBalanceResponseSchema),
  effect: async (db: Queryable) => {
    effects++;
    await db.query("INSERT INTO known_network (name, chain_id) VALUES ($1, 'x')", [newId()]);
    return create(GetBalanceResponseSchema, { balanceMicroUsd: BigInt(effects) });
  },
};

const age = (hours: number) =>
  database.query(
    `UPDATE idempotency_key SET created_at = created_at - make_interval(hours => $2),
       expires_at = expires_at - make_interval(hours => $2) WHERE key = $1`,
    [key, hours],
  );

describe("a call under a key", () => {
  it("runs once, and a repeat gets the same reply", async () => {
    const first = await runOnce(database, call(), balance);
    expect(await runOnce(database, call(), balance)).toEqual(first);
    expect(effects).toBe(1);
  });

  it("can be remembered by the row that it created", async () => {
    const subjectId = newId();
    const byRow = {
      effect: async () => ({ id: subjectId, secret: "shown once" }),
      keep: ({ id }: { id: string }) => ({ subjectId: id }),
      recall: (kept: { subjectId: string | null }) => ({ id: kept.subjectId ?? "", secret: "" }),
    };
    expect(await runOnce(database, call(), byRow)).toEqual({ id: subjectId, secret: "shown once" });
    expect(await runOnce(database, call(), byRow)).toEqual({ id: subjectId, secret: "" });
  });

  it("is refused if it differs from the key's first call", async () => {
    await runOnce(database, call(), balance);
    await expect(runOnce(database, call({ idempotency: keyed(1) }), balance)).rejects.toMatchObject({
      reason: "IDEMPOTENCY_KEY_REUSED",
    });
    expect(effects).toBe(1);
  });

  it("keeps its key separate from other scopes and networks", async () => {
    const calls = [{}, { network: "testnet" }, { scope: await projectWith(database, 0n) }].map(call);
    const replies = [];
    for (const one of calls) replies.push(await runOnce(database, one, balance));
    expect(effects).toBe(3);
    for (const [index, one] of calls.entries()) {
      expect(await runOnce(database, one, balance)).toEqual(replies[index]);
    }
  });

  it("that fails leaves neither key nor effect", async () => {
    const [before] = await database.query("SELECT count(*) FROM known_network");
    const failing = {
      ...balance,
      effect: async (db: Queryable) => {
        await balance.effect(db);
        throw new Error("half-way");
      },
    };
    await expect(runOnce(database, call(), failing)).rejects.toThrow("half-way");
    expect(await database.query("SELECT count(*) FROM known_network")).toEqual([before]);
    await runOnce(database, call(), balance);
    expect(effects).toBe(2);
  });

  it("keeps its key for a day, and then another call may use it", async () => {
    await runOnce(database, call(), balance);
    await age(23);
    await runOnce(database, call(), balance);
    expect(effects).toBe(1);
    await age(1);
    const other = call({ idempotency: keyed(1) });
    expect(await runOnce(database, other, balance)).toMatchObject({ balanceMicroUsd: 2n });
    expect(await runOnce(database, other, balance)).toMatchObject({ balanceMicroUsd: 2n });
  });
});

it("a call without a key runs each time", async () => {
  await runOnce(database, call({ idempotency: undefined }), balance);
  await runOnce(database, call({ idempotency: undefined }), balance);
  expect(effects).toBe(2);
});

it("keys are deleted after their day, and not before", async () => {
  await runOnce(database, call(), balance);
  const exists = async () =>
    (await database.query("SELECT 1 FROM idempotency_key WHERE key = $1", [key])).length === 1;
  await sweepKeys(database, 100);
  expect(await exists()).toBe(true);
  await age(24);
  expect(await sweepKeys(database, 100)).toBe(1);
  expect(await exists()).toBe(false);
});
