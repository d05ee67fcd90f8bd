import { Transaction } from "@mysten/sui/transactions";
import { beforeAll, describe, expect, it } from "vitest";
import type { ObjectChanges } from "../../../../../src/service/chain/outcome.ts";
import {
  findSpentInput,
  userOf,
  writerOf,
} from "../../../../../src/service/chain/submit/send-transaction.ts";

const id = (byte: string): string => `0x${byte.repeat(32)}`;
const DIGEST = "11111111111111111111111111111111";
const [COIN, GAS, OTHER] = [id("01"), id("02"), id("03")];

/** A chain on which each transaction, by its digest, has used and written versions of objects. */
function chain(
  newest: Readonly<Record<string, string>>,
  transactions: Readonly<Record<string, readonly [objectId: string, used: number, wrote: number][]>>,
) {
  const asked: string[] = [];
  return {
    asked,
    async ownedObjects([objectId]: readonly string[]) {
      const lastChange = newest[objectId!];
      return new Map(
        lastChange === undefined
          ? []
          : [[objectId!, { objectId: objectId!, version: "0", digest: DIGEST, lastChange }]],
      );
    },
    async effects(digest: string): Promise<ObjectChanges | undefined> {
      asked.push(digest);
      const changes = transactions[digest];
      if (changes === undefined) return undefined;
      return {
        inputVersions: new Map(changes.map(([objectId, used]) => [objectId, String(used)])),
        written: new Map(
          changes.map(([objectId, , wrote]) => [
            objectId,
            { objectId, version: String(wrote), digest: DIGEST },
          ]),
        ),
        owners: new Map(),
        deleted: [],
        dependencies: Object.keys(transactions),
      };
    },
  };
}

describe("the user of an object's version", () => {
  const steps = chain({ [COIN]: "c" }, { a: [[COIN, 1, 4]], b: [[COIN, 4, 9]], c: [[COIN, 9, 12]] });

  it.each([
    ["1", "a"],
    ["4", "b"],
    ["9", "c"],
    ["12", undefined],
    ["5", undefined],
    ["0", undefined],
  ])("of version %s is %s", async (version, digest) => {
    expect(await userOf(steps, COIN, version)).toBe(digest);
  });

  it("is unknown if the fullnode lacks the object, a transaction, or the object's part in it", async () => {
    expect(await userOf(steps, OTHER, "1")).toBeUndefined();
    expect(await userOf(chain({ [COIN]: "x" }, {}), COIN, "1")).toBeUndefined();
    expect(await userOf(chain({ [COIN]: "a" }, { a: [[OTHER, 1, 2]] }), COIN, "1")).toBeUndefined();
    expect(await userOf(chain({ [COIN]: "c" }, { c: [[COIN, 9, 12]] }), COIN, "1")).toBeUndefined();
  });

  it("compares versions as numbers, and asks no further back than it must", async () => {
    const long = chain({ [COIN]: "b" }, { a: [[COIN, 9, 10]], b: [[COIN, 10, 11]] });
    expect(await userOf(long, COIN, "9")).toBe("a");
    long.asked.length = 0;
    expect(await userOf(long, COIN, "11")).toBeUndefined();
    expect(long.asked).toEqual(["b"]);
  });

  it("is sought through 64 later transactions, and no more", async () => {
    const of = (count: number) =>
      chain(
        { [COIN]: `t${count}` },
        Object.fromEntries(
          Array.from({ length: count }, (_, index) => [`t${index + 1}`, [[COIN, index + 1, index + 2]]]),
        ),
      );
    expect(await userOf(of(64), COIN, "1")).toBe("t1");
    expect(await userOf(of(65), COIN, "1")).toBeUndefined();
  });

  it("is the transaction among several that wrote exactly that version of that object", async () => {
    const several = chain({}, { a: [[OTHER, 1, 5]], b: [[COIN, 1, 4]], c: [[COIN, 4, 5]] });
    expect(await writerOf(several, ["gone", "a", "b", "c"], COIN, "5")).toBe("c");
    expect(await writerOf(several, ["a", "b"], COIN, "5")).toBeUndefined();
  });
});

describe("a stored transaction", () => {
  let bytes: Uint8Array;
  beforeAll(async () => {
    const transaction = new Transaction();
    transaction.setSender(id("aa"));
    const coin = transaction.objectRef({ objectId: COIN, version: "7", digest: DIGEST });
    transaction.transferObjects([coin], id("bb"));
    transaction.setGasPayment([{ objectId: GAS, version: "3", digest: DIGEST }]);
    transaction.setGasPrice(1_000);
    transaction.setGasBudget(1_000_000);
    bytes = await transaction.build();
  });
  const spent = (transactions: Parameters<typeof chain>[1], newest: Record<string, string>) =>
    findSpentInput(chain(newest, transactions), { digest: "own", bytes });

  it("has a spent input if another transaction used the exact version of a coin or of its gas", async () => {
    expect(await spent({ x: [[COIN, 7, 8]] }, { [COIN]: "x" })).toEqual({ objectId: COIN, byDigest: "x" });
    expect(await spent({ x: [[GAS, 3, 8]] }, { [GAS]: "x" })).toEqual({ objectId: GAS, byDigest: "x" });
  });

  it("has none if it used them itself, or if another version was used", async () => {
    expect(await spent({ own: [[COIN, 7, 8]] }, { [COIN]: "own" })).toBeUndefined();
    expect(await spent({ x: [[COIN, 8, 9]] }, { [COIN]: "x" })).toBeUndefined();
    expect(await spent({}, {})).toBeUndefined();
  });
});
