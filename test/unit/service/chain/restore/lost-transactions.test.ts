import { Transaction } from "@mysten/sui/transactions";
import { toBase58 } from "@mysten/sui/utils";
import { describe, expect, it } from "vitest";
import type { ObjectChanges } from "../../../../../src/service/chain/outcome.ts";
import {
  findLostTransactions,
  type PastTransaction,
} from "../../../../../src/service/chain/restore/lost-transactions.ts";
import type { Queryable } from "../../../../../src/service/platform/store/database.ts";
import { objectId } from "../../../../support/database/rows.ts";

const [wallet, cap, coin] = [objectId(), objectId(), objectId()];
const ref = (id: string, version: string) => ({
  objectId: id,
  version,
  digest: toBase58(new Uint8Array(32)),
});

/** A transaction of the hot wallet that used the cap and the coin in a version and left them in the next one. */
async function sent(digest: string, version: number, dependencies: string[]): Promise<PastTransaction> {
  const transaction = new Transaction();
  transaction.setSender(wallet);
  transaction.setGasPayment([ref(coin, String(version))]);
  transaction.setGasPrice(1);
  transaction.setGasBudget(1);
  const taken = [cap, coin];
  const changes: ObjectChanges = {
    inputVersions: new Map(taken.map((id) => [id, String(version)])),
    written: new Map(taken.map((id) => [id, ref(id, String(version + 1))])),
    owners: new Map(taken.map((id) => [id, wallet])),
    deleted: [],
    dependencies,
  };
  return {
    digest,
    sender: wallet,
    gasOwner: wallet,
    signatures: [],
    time: undefined,
    bytes: await transaction.build(),
    outcome: { kind: "landed", gasUsedMist: 1n, changes, transaction: { digest, version: 1n, events: [] } },
  };
}

/** The transactions that are found if the fullnode has `kept`, and the database has `known` and the lane's version. */
function find(kept: readonly PastTransaction[], known: readonly string[], laneVersion: string) {
  const byDigest = new Map(kept.map((each) => [each.digest, each]));
  const newest = kept.reduce((a, b) => (a.digest > b.digest ? a : b), kept[0]!);
  const version = kept.length === 0 ? "9" : newest.outcome.changes.written.get(cap)!.version;
  const lastChange = kept.length === 0 ? "t9" : newest.digest;
  const db: Queryable = {
    async query<Row>(text: string, parameters: readonly unknown[]) {
      const isKnown = text.includes("chain_transaction") && known.includes(parameters[0] as string);
      const ids = text.includes("gas_coin") ? (parameters[0] as string[]) : [];
      const changed = ids.filter(() => laneVersion !== version).map((id) => ({ id }));
      return (isKnown ? [{}] : changed) as Row[];
    },
  };
  const found = findLostTransactions({
    db,
    network: {
      name: "localnet",
      senderAddress: wallet,
      gasOwnerAddress: wallet,
      treasury: { operatorCapIds: [cap] } as never,
    },
    reader: {
      gasCoins: async () => [{ ...ref(coin, version), balanceMist: 1n }],
      ownedObjects: async (ids) => new Map(ids.map((id) => [id, { ...ref(id, version), lastChange }])),
      effects: async (digest) => byDigest.get(digest)?.outcome.changes,
    },
    history: { read: async (digest) => byDigest.get(digest) ?? "unknown" },
  });
  return found.then((lost) => lost.map(({ digest }) => digest));
}

describe("finding transactions that the database does not know", () => {
  it("follows them back to a known one, on a fullnode that has pruned those of packages", async () => {
    const [t1, t2, t3] = [
      await sent("t1", 1, ["package"]),
      await sent("t2", 2, ["t1", "package"]),
      await sent("t3", 3, ["t2", "package"]),
    ];
    expect(await find([t1, t2, t3], ["t1"], "2")).toEqual(["t2", "t3"]);
  });

  it("reports that the fullnode has pruned too much, and returns no partial result", async () => {
    const t3 = await sent("t3", 3, ["t2", "package"]);
    await expect(find([t3], ["t1"], "2")).rejects.toThrow("has pruned the history before transaction t3");
    await expect(find([], ["t1"], "2")).rejects.toThrow("has pruned the transactions of object");
  });

  it("finds none if nothing was used since the copy, however old it is", async () => {
    expect(await find([], [], "9")).toEqual([]);
  });
});
