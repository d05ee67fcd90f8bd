/** The load that key look-ups put on the database, whichever keys callers try. */
import { describe, expect, it } from "vitest";
import { createKeyLookup, type KeyStanding } from "../../../../../src/service/access/keys/key-lookup.ts";
import { silentLog } from "../../../../support/silent-log.ts";

interface TestKey extends KeyStanding {
  readonly id: string;
}

const GOOD = { isRevoked: false, isExpired: false, leftMs: null, expiresAt: null } as const;

/** A key lookup for which only keys that begin with `good` exist; queries wait until they are released. */
function lookupOf(standing: Partial<KeyStanding> = {}) {
  let nowMs = 1_000;
  let notedCount = 0;
  const queries: { readonly hashes: readonly string[]; release(): void }[] = [];
  const names = new Map<string, string>();
  const askers: (() => void)[] = [];
  const lookup = createKeyLookup<TestKey>({
    kind: "api-key",
    isForm: () => true,
    log: silentLog,
    now: () => nowMs,
    noteUse: async () => {
      notedCount++;
    },
    async read(hashes) {
      await new Promise<void>((release) => {
        queries.push({ hashes, release });
        for (const asked of askers.splice(0)) asked();
      });
      const found = hashes.flatMap((hash): [string, TestKey][] => {
        const id = names.get(hash);
        return id === undefined ? [] : [[hash, { ...GOOD, ...standing, id }]];
      });
      return new Map(found);
    },
  });
  const query = async (index: number) => {
    while (queries.length <= index)
      await new Promise<void>((resolve) => {
        askers.push(resolve);
      });
    return queries[index]!;
  };
  return {
    lookup,
    queries,
    query,
    /** Looks up the key alone and answers its query. */
    async ask(plaintext: string) {
      const at = queries.length;
      const finding = lookup.find(plaintext);
      (await query(at)).release();
      return finding;
    },
    async make(plaintext: string) {
      const { createHash } = await import("node:crypto");
      names.set(createHash("sha256").update(plaintext).digest("hex"), plaintext);
    },
    pass(ms: number) {
      nowMs += ms;
    },
    notedCount: () => notedCount,
  };
}

describe("looking up keys", () => {
  it("runs one database query at a time, regardless of the number of unknown keys", async () => {
    const { lookup, queries, query } = lookupOf();
    const tried = Array.from({ length: 500 }, (_, index) =>
      lookup.find(`wrong-${index}`, `address-${index % 50}`),
    );
    (await query(0)).release();
    expect(queries).toHaveLength(1);
    (await query(1)).release();
    (await query(2)).release();
    expect(new Set(await Promise.all(tried))).toEqual(new Set([undefined]));
    expect(queries.map(({ hashes }) => hashes.length)).toEqual([1, 256, 243]);
  });

  it("refuses unknown keys beyond the limit of waiting look-ups, per address and in total", async () => {
    const { lookup, query } = lookupOf();
    const first = lookup.find("wrong", "elsewhere");
    await query(0);
    const tries = (count: number, from: string) =>
      Array.from({ length: count }, (_, index) => lookup.find(`wrong-${from}-${index}`, from));
    const one = await Promise.allSettled(tries(65, "one").slice(64));
    expect(one).toMatchObject([{ status: "rejected", reason: { reason: "RATE_LIMITED" } }]);
    for (let index = 0; index < 15; index++) void Promise.all(tries(64, `other-${index}`));
    await expect(lookup.find("wrong-too", "last")).rejects.toMatchObject({ reason: "RATE_LIMITED" });
    (await query(0)).release();
    expect(await first).toBeUndefined();
  });

  it("counts only the look-ups that wait, so that an address may look up others after them", async () => {
    const { lookup, query } = lookupOf();
    for (let batch = 0, at = 0; batch < 3; batch++) {
      const tried = Array.from({ length: 40 }, (_, index) => lookup.find(`wrong-${batch}-${index}`, "here"));
      const settled = Promise.all(tried).then((found) => ({ found }));
      for (;;) {
        const next = await Promise.race([settled, query(at)]);
        if ("found" in next) {
          expect(new Set(next.found)).toEqual(new Set([undefined]));
          break;
        }
        at++;
        next.release();
      }
    }
  });

  it("reads a previously valid key alone and before unknown keys when its cache entry expires", async () => {
    const { lookup, queries, query, ask, make, pass } = lookupOf();
    await make("good");
    expect(await ask("good")).toMatchObject({ id: "good" });
    pass(5_000);
    const at = queries.length;
    for (let index = 0; index < 64; index++) void lookup.find(`wrong-${index}`, "here");
    const finding = lookup.find("good", "here");
    const own = (await Promise.all([query(at), query(at + 1)])).find(({ hashes }) => hashes.length === 1);
    for (const { release } of queries) release();
    expect(own).toBeDefined();
    expect(await finding).toMatchObject({ id: "good" });
  });

  it("reads a previously valid key once for all calls of one turn", async () => {
    const { lookup, queries, query, ask, make, pass } = lookupOf();
    await make("good");
    await ask("good");
    pass(5_000);
    const calls = Array.from({ length: 64 }, () => lookup.find("good"));
    const { hashes, release } = await query(1);
    expect(hashes).toHaveLength(1);
    // It may have missed a change, so a later call does not use its result.
    const later = lookup.find("good");
    release();
    expect(new Set((await Promise.all(calls)).map((key) => key?.id))).toEqual(new Set(["good"]));
    (await query(2)).release();
    expect(await later).toMatchObject({ id: "good" });
    expect(queries).toHaveLength(3);
  });

  it("records the use of a key twice a minute at most", async () => {
    const { ask, make, pass, notedCount } = lookupOf();
    await make("good");
    await ask("good");
    for (let count = 0; count < 5; count++) {
      pass(5_000);
      await ask("good");
    }
    expect(notedCount()).toBe(1);
    pass(5_000);
    await ask("good");
    expect(notedCount()).toBe(2);
  });

  it("looks up a valid key only once within some seconds", async () => {
    const { lookup, queries, ask, make, pass } = lookupOf();
    await make("good");
    await ask("good");
    pass(4_999);
    expect(await lookup.find("good")).toMatchObject({ id: "good" });
    expect(queries).toHaveLength(1);
    pass(1);
    expect(await ask("good")).toMatchObject({ id: "good" });
    expect(queries).toHaveLength(2);
  });

  it("looks up a wrong, revoked or expired key only once within some seconds", async () => {
    for (const standing of [undefined, { isRevoked: true }, { isExpired: true }]) {
      const { lookup, queries, ask, make, pass } = lookupOf(standing);
      if (standing) await make("wrong");
      const found = await ask("wrong");
      expect(found?.id).toBe(standing && "wrong");
      for (let again = 0; again < 3; again++) expect(await lookup.find("wrong")).toEqual(found);
      expect(lookup.recall("wrong")).toBeUndefined();
      expect(queries).toHaveLength(1);
      pass(5_000);
      await ask("wrong");
      expect(queries).toHaveLength(2);
    }
  });

  it("caches a key no longer than its remaining lifetime in the database", async () => {
    const { lookup, ask, make, pass } = lookupOf({ leftMs: 300 });
    await make("good");
    await ask("good");
    pass(299);
    expect(lookup.recall("good")).toBeDefined();
    pass(1);
    expect(lookup.recall("good")).toBeUndefined();
  });

  it("continues after a failed query", async () => {
    let fails = true;
    const lookup = createKeyLookup<TestKey>({
      kind: "api-key",
      isForm: () => true,
      log: silentLog,
      noteUse: async () => {},
      read: async () => {
        if (fails) throw new Error("the database is away");
        return new Map();
      },
    });
    await expect(lookup.find("wrong")).rejects.toThrow("away");
    fails = false;
    expect(await lookup.find("wrong")).toBeUndefined();
  });
});
