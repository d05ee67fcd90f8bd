/** Proofs that several replicas see, with and without the Redis between them. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openProofNonces, PROOF_LIFE_MS } from "../../../../../src/service/access/dpop/proof-nonces.ts";
import { createSeenProofs } from "../../../../../src/service/access/dpop/seen-proofs.ts";
import { createProofCheck } from "../../../../../src/service/access/dpop/verify-proof.ts";
import {
  createLocalCoordination,
  createMemoryMarks,
} from "../../../../../src/service/platform/coordination/local-coordination.ts";
import { createRedisCoordination } from "../../../../../src/service/platform/coordination/redis-coordination.ts";
import type { Database } from "../../../../../src/service/platform/store/database.ts";
import { signedToken, thumbprintOf, tokenKey } from "../../../../support/crypto/signed-token.ts";
import { DATABASE_TIMEOUT_MS, openRaceDatabase } from "../../../../support/database/database.ts";
import { testRedis } from "../../../../support/database/redis.ts";
import { startRedisProxy } from "../../../../support/database/redis-proxy.ts";
import { silentLog } from "../../../../support/silent-log.ts";

const redisUrl = await testRedis();
const database = await openRaceDatabase();
const closers: (() => Promise<unknown>)[] = [];
beforeAll(() => {}, DATABASE_TIMEOUT_MS);
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});
afterAll(() => database?.close());

const newName = () => crypto.randomUUID();
const rowsOf = async ({ query }: Database) =>
  Number((await query<{ count: string }>("SELECT count(*)::text AS count FROM seen_proof"))[0]?.count);

describe.skipIf(redisUrl === undefined || database === undefined)("a proof that two replicas see", () => {
  async function replicas() {
    const proxy = await startRedisProxy(redisUrl!);
    closers.push(() => proxy.kill());
    const prefix = `tss-test-${newName()}:`;
    const made = await Promise.all(
      [proxy.url, redisUrl!].map(async (url) => {
        const coordination = createRedisCoordination({
          ...{ url, log: silentLog, prefix },
          // A busy machine is no outage.
          countTimeoutMs: 5_000,
        });
        closers.push(() => coordination.close());
        await coordination.ready();
        const clock = { nowMs: 0 };
        const seen = createSeenProofs({ db: database!, coordination, now: () => clock.nowMs });
        return { seen, clock };
      }),
    );
    return { proxy, one: made[0]!, other: made[1]! };
  }

  it("counts once, and costs the database nothing while Redis answers", async () => {
    const { one, other } = await replicas();
    const before = await rowsOf(database!);
    for (let index = 0; index < 20; index++) {
      const name = newName();
      const results = await Promise.all([one, other, one, other].map(({ seen }) => seen.isFirst(name)));
      expect(results.filter(Boolean)).toHaveLength(1);
    }
    expect(await rowsOf(database!)).toBe(before);
  });

  it("counts once while neither has Redis", async () => {
    const alone = [1, 2].map(() => {
      const coordination = createLocalCoordination();
      return createSeenProofs({ db: database!, coordination });
    });
    const name = newName();
    const results = await Promise.all([...alone, ...alone].map((seen) => seen.isFirst(name)));
    expect(results.filter(Boolean)).toHaveLength(1);
  });

  it("counts once on a replica that loses Redis, and not again when Redis is back", async () => {
    const { proxy, one } = await replicas();
    const during = newName();
    await proxy.kill();
    expect(await one.seen.isFirst(during)).toBe(true);
    expect(await one.seen.isFirst(during)).toBe(false);
    await proxy.revive();
    // Redis does not know the proof, and the database does.
    one.clock.nowMs = PROOF_LIFE_MS - 1;
    expect(await one.seen.isFirst(during)).toBe(false);
  });

  it("is removed from the database when it has expired", async () => {
    const seen = createSeenProofs({ db: database!, coordination: createLocalCoordination() });
    await database!.query("DELETE FROM seen_proof");
    for (let index = 0; index < 8; index++) await seen.isFirst(newName());
    await database!.query("UPDATE seen_proof SET expires_at = now() - interval '1 second'");
    await seen.isFirst(newName());
    expect(await rowsOf(database!)).toBe(5);
    await seen.isFirst(newName());
    expect(await rowsOf(database!)).toBe(2);
  });

  it("is refused on another replica, with a nonce that either made", async () => {
    const { one, other } = await replicas();
    const checks = await Promise.all(
      [one, other].map(async ({ seen }) => {
        const nonces = await openProofNonces(database!);
        return { nonces, check: createProofCheck({ nonces, seenProofs: seen }) };
      }),
    );
    const [first, second] = [checks[0]!, checks[1]!];
    const device = tokenKey("ES256");
    const nowMs = Date.now();
    const url = "http://replica/tss.v1.Signing/ReserveSign";
    const claims = { jti: newName(), iat: 0, htm: "POST", htu: url, nonce: first.nonces.current(nowMs) };
    const proof = signedToken({ typ: "dpop+jwt", alg: "ES256", jwk: device.jwk }, claims, device.privateKey);
    const call = { proof, method: "POST", url, token: undefined, thumbprint: thumbprintOf(device), nowMs };
    expect(await first.check(call)).toMatchObject({ thumbprint: thumbprintOf(device) });
    await expect(second.check(call)).rejects.toMatchObject({
      reason: "PROOF_INVALID",
      metadata: { fault: "replayed" },
    });
  });
});

describe("marks in memory", () => {
  it("last for their time, and are unknown beyond their number until all have ended", async () => {
    let nowMs = 0;
    const marks = createMemoryMarks(1_000, () => nowMs, 2);
    expect([await marks.add("a"), await marks.add("a"), await marks.add("b")]).toEqual([true, false, true]);
    nowMs = 400;
    expect([await marks.add("c"), await marks.add("a")]).toEqual([undefined, false]);
    nowMs = 1_399;
    // There is room again, but "c" may have been noted elsewhere.
    expect(await marks.add("c")).toBeUndefined();
    nowMs = 1_400;
    expect([await marks.add("c"), await marks.add("a")]).toEqual([true, true]);
  });
});
