/** Checkpoints of the local fullnode, read by the Sui SDK's own client. */
import { type GrpcTypes, GrpcWebFetchTransport, SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { normalizeStructTag } from "@mysten/sui/utils";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Harness, startHarness } from "../harness.ts";

let harness: Harness;
beforeEach(async () => {
  harness = await startHarness();
});
afterEach(() => harness.close());

const MASK = { paths: ["sequence_number", "transactions.balance_changes", "transactions.digest"] };
const SUI = normalizeStructTag("0x2::sui::SUI");

/** Sends an amount of SUI to a new address. */
async function pay(amount: bigint): Promise<{ address: string; digest: string }> {
  const address = Ed25519Keypair.generate().toSuiAddress();
  const { digest } = await harness.run((tx) =>
    tx.transferObjects([tx.splitCoins(tx.gas, [amount])[0]!], address),
  );
  return { address, digest };
}

async function subscribe(readMask: { paths: string[] } | undefined, format: "binary" | "text" = "binary") {
  const transport = new GrpcWebFetchTransport({ baseUrl: harness.net.url, format });
  const client = new SuiGrpcClient({ network: "localnet", transport });
  const closing = new AbortController();
  const call = client.subscriptionService.subscribeCheckpoints(readMask ? { readMask } : {}, {
    abort: closing.signal,
  });
  // An error of the call arrives through its messages.
  for (const part of [call.headers, call.status, call.trailers]) part.catch(() => {});
  await call.headers;
  const messages = call.responses[Symbol.asyncIterator]();
  const next = async (): Promise<GrpcTypes.SubscribeCheckpointsResponse> => (await messages.next()).value;
  return { next, close: () => closing.abort() };
}

const checkpointAt = async (sequenceNumber: bigint, readMask: { paths: string[] } = MASK) =>
  (
    await harness.client.ledgerService.getCheckpoint({
      checkpointId: { oneofKind: "sequenceNumber", sequenceNumber },
      readMask,
    })
  ).response.checkpoint!;
const serviceInfo = async () => (await harness.client.ledgerService.getServiceInfo({})).response;

describe("the subscription to checkpoints", () => {
  it.each(["binary", "text"] as const)(
    "sends each new one in order with its balance changes, as GetCheckpoint shows it (%s)",
    async (format) => {
      const stream = await subscribe(MASK, format);
      const { checkpointHeight } = await serviceInfo();
      const paid = [await pay(1_000n), await pay(2_000n), await pay(3_000n)];
      for (const [index, { address, digest }] of paid.entries()) {
        const { cursor, checkpoint } = await stream.next();
        expect(cursor).toBe(checkpointHeight! + BigInt(index) + 1n);
        expect(checkpoint).toEqual(await checkpointAt(cursor!));
        expect(checkpoint).toMatchObject({ sequenceNumber: cursor, transactions: [{ digest }] });
        expect(checkpoint!.digest).toBeUndefined();
        const { balanceChanges } = checkpoint!.transactions[0]!;
        expect(balanceChanges).toContainEqual({
          address,
          coinType: SUI,
          amount: String((index + 1) * 1_000),
        });
      }
      stream.close();
      await expect(stream.next()).rejects.toMatchObject({ code: "CANCELLED" });
    },
  );

  it("sends only the cursor without a read mask", async () => {
    const stream = await subscribe(undefined);
    await pay(1n);
    const { cursor, checkpoint } = await stream.next();
    expect(cursor).toBe((await serviceInfo()).checkpointHeight);
    expect(checkpoint).toEqual({ transactions: [] });
    stream.close();
  });

  it("ends with an error when the connection breaks, and when the node closes", async () => {
    const cut = await subscribe(MASK);
    harness.net.faults.set({ cutSubscription: 1 });
    await pay(1n);
    await expect(cut.next()).rejects.toMatchObject({ code: "INTERNAL" });
    const closed = await subscribe(MASK);
    await harness.net.close();
    await expect(closed.next()).rejects.toMatchObject({ code: "INTERNAL" });
  });

  it("is refused by a node without subscriptions", async () => {
    harness.net.faults.set({ noSubscriptions: true });
    const refused = await subscribe(MASK);
    await expect(refused.next()).rejects.toMatchObject({ code: "UNIMPLEMENTED" });
  });
});

describe("GetCheckpoint", () => {
  it("does not find a pruned checkpoint, or one that does not exist yet", async () => {
    for (let payments = 0; payments < 3; payments++) await pay(1n);
    expect(await serviceInfo()).toMatchObject({ lowestAvailableCheckpoint: 0n });
    harness.net.faults.set({ keptCheckpoints: 2 });
    const { checkpointHeight: latest, lowestAvailableCheckpoint: lowest } = await serviceInfo();
    expect(lowest).toBe(latest! - 1n);
    expect((await checkpointAt(lowest!)).sequenceNumber).toBe(lowest);
    for (const missing of [lowest! - 1n, latest! + 1n])
      await expect(checkpointAt(missing)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
