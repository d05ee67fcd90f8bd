import { expect, it } from "vitest";
import { inspectCoins } from "../../../../../src/service/billing/sweeps/inspect-coins.ts";
import type { ObjectChanges } from "../../../../../src/service/chain/outcome.ts";

const id = (byte: string): string => `0x${byte.repeat(32)}`;
const [A, B] = [id("0a"), id("0b")];
const OWNER = id("0c");
const ref = (objectId: string, version: string) => ({ objectId, version, digest: `digest-${version}` });
const coin = (objectId: string, version = "1") => ({ ...ref(objectId, version), depositDigest: "deposit" });

/** A chain with the newest versions of coins, on which one transaction has used both in their first version. */
function chain(
  newest: Readonly<Record<string, string>>,
  { change, knowsDeposit = true }: { change?: Partial<ObjectChanges>; knowsDeposit?: boolean } = {},
) {
  const asked: string[] = [];
  return {
    asked,
    async ownedObjects(ids: readonly string[]) {
      asked.push("objects");
      return new Map(
        ids.flatMap((objectId) => {
          const version = newest[objectId];
          return version === undefined
            ? []
            : [[objectId, { ...ref(objectId, version), lastChange: "sweep" }] as const];
        }),
      );
    },
    async effects(digest: string) {
      asked.push(digest);
      if (change === undefined) return undefined;
      const inputVersions = new Map([A, B].map((objectId) => [objectId, "1"]));
      return {
        inputVersions,
        written: new Map(),
        owners: new Map(),
        deleted: [],
        dependencies: [],
        ...change,
      };
    },
    transaction: async () => (knowsDeposit ? ({} as never) : undefined),
    addressBalance: async () => 0n,
  };
}

it("a coin is there in its version, and gone if the fullnode knows its deposit alone", async () => {
  expect(await inspectCoins(chain({ [A]: "1" }), [coin(A), coin(B)])).toEqual(
    new Map([
      [A, { kind: "there" }],
      [B, { kind: "gone" }],
    ]),
  );
});

it("a coin is unknown if the fullnode lacks its deposit or its later history", async () => {
  expect(await inspectCoins(chain({}, { knowsDeposit: false }), [coin(A)])).toEqual(
    new Map([[A, { kind: "unknown" }]]),
  );
  expect(await inspectCoins(chain({ [A]: "2" }), [coin(A)])).toEqual(new Map([[A, { kind: "unknown" }]]));
});

it("a used coin names its transaction, its new version and its new owner, if it has any", async () => {
  const written = new Map([[A, ref(A, "2")]]);
  const used = chain({ [A]: "2", [B]: "2" }, { change: { written, owners: new Map([[A, OWNER]]) } });
  expect(await inspectCoins(used, [coin(A)])).toEqual(
    new Map([[A, { kind: "used", byDigest: "sweep", ref: ref(A, "2"), owner: OWNER }]]),
  );
});

it("the coins of one transaction read it once, and no coins read nothing", async () => {
  const written = new Map([A, B].map((objectId) => [objectId, ref(objectId, "2")]));
  const both = chain({ [A]: "2", [B]: "2" }, { change: { written } });
  const fates = await inspectCoins(both, [coin(A), coin(B)]);
  expect([...fates.values()].map(({ kind }) => kind)).toEqual(["used", "used"]);
  expect(both.asked).toEqual(["objects", "sweep"]);
  const none = chain({});
  expect(await inspectCoins(none, [])).toEqual(new Map());
  expect(none.asked).toEqual([]);
});
