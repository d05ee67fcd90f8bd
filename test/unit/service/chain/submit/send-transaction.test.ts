import { Transaction } from "@mysten/sui/transactions";
import { toBase58 } from "@mysten/sui/utils";
import { expect, it } from "vitest";
import type { ChainNetwork } from "../../../../../src/service/chain/fullnodes/network.ts";
import type { NetworkReader } from "../../../../../src/service/chain/reader.ts";
import { sendTransaction } from "../../../../../src/service/chain/submit/send-transaction.ts";
import { systemClock } from "../../../../../src/service/platform/lifecycle/clock.ts";
import { objectId } from "../../../../support/database/rows.ts";

const gasUsed = { computationCost: "5", storageCost: "3", storageRebate: "1" };
const effects = { gasUsed, changedObjects: [], dependencies: [], lamportVersion: "9" };
const abort = { $kind: "MoveAbort", message: "abort 4", MoveAbort: { abortCode: "4" } };
const LANDED = { Transaction: { digest: "d", status: { success: true }, effects, events: [] } };
const ABORTED = { FailedTransaction: { digest: "d", status: { success: false, error: abort }, effects } };

/** Sends a transaction that this fullnode executes with `reply`, and of which the reader then knows `known`. */
async function send(reply: unknown, known: unknown) {
  const tx = new Transaction();
  const coin = { objectId: objectId(), version: "4", digest: toBase58(new Uint8Array(32)) };
  tx.setSender(objectId());
  tx.setGasPayment([coin]);
  tx.setGasPrice(1_000);
  tx.setGasBudget(1_000);
  tx.setExpiration({ Epoch: 8 });
  const network = {
    ...{ clock: systemClock, times: { executeMs: 60_000 } },
    backOff: { run: <T>(call: () => Promise<T>) => call() },
    client: { core: { executeTransaction: async () => reply } },
  };
  const asked: string[] = [];
  const reader: Partial<NetworkReader> = {
    epoch: async () => ({ epoch: 7n, gasPriceMist: 1_000n }) as never,
    ownedObjects: async () => new Map(),
    async transaction(digest) {
      asked.push(digest);
      return known as never;
    },
  };
  const stored = { digest: "d", sender: objectId(), bytes: await tx.build(), signatures: [] };
  const sent = sendTransaction(network as unknown as ChainNetwork, reader as NetworkReader, stored as never);
  const result = await sent.catch((error: unknown) => String(error));
  return { result, asked };
}

it("a transaction that landed needs no other answer", async () => {
  const { result, asked } = await send(LANDED, undefined);
  expect(result).toMatchObject({
    kind: "landed",
    gasUsedMist: 7n,
    transaction: { digest: "d", version: 9n },
  });
  expect(asked).toEqual([]);
});

it("an abort counts only once the fullnode that is read has seen it, too", async () => {
  const unseen = await send(ABORTED, undefined);
  expect(unseen.result).toContain("has no outcome yet");
  const seen = { kind: "aborted" };
  // It is read once, and nothing else is.
  expect(await send(ABORTED, seen)).toEqual({ result: seen, asked: ["d"] });
});
