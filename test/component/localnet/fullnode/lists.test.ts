/** Lists of transactions, events and checkpoints, read by the Sui SDK's own client. */
import { GrpcTypes, GrpcWebFetchTransport, SuiGrpcClient } from "@mysten/sui/grpc";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createUser,
  type Executed,
  type Harness,
  hotWallet,
  payPresigns,
  registerKey,
  startHarness,
} from "../harness.ts";

let harness: Harness;
let registered: Executed;
let presigned: Executed;
beforeAll(async () => {
  harness = await startHarness();
  registered = await registerKey(harness, createUser());
  presigned = await harness.run((tx) => payPresigns(harness, tx, { count: 3 }));
});
afterAll(() => harness.close());

const sender = hotWallet.toSuiAddress();
const dwalletPackage = () => harness.config.packages.ikaDwallet2pcMpcPackage;

describe("listTransactions", () => {
  it("pages through a sender's transactions in both directions", async () => {
    const filter = { sender };
    const page = await harness.client.listTransactions({ filter, limit: 1, include: { effects: true } });
    expect(page.transactions.map((item) => item.Transaction?.digest)).toEqual([registered.digest]);
    expect(page.hasNextPage).toBe(true);
    const rest = await harness.client.listTransactions({ filter, limit: 9, after: page.endCursor! });
    expect(rest.transactions.map((item) => item.Transaction?.digest)).toEqual([presigned.digest]);
    expect(rest.hasNextPage).toBe(false);
    const newest = await harness.client.listTransactions({ filter, limit: 1, order: "descending" });
    expect(newest.transactions.map((item) => item.Transaction?.digest)).toEqual([presigned.digest]);
    const older = await harness.client.listTransactions({ filter, before: newest.endCursor! });
    expect(older.transactions.map((item) => item.Transaction?.digest)).toEqual([registered.digest]);
  });

  it("finds the calls of a module, and no others", async () => {
    const filter = { function: `${harness.net.treasury.packageId}::treasury` };
    const { transactions } = await harness.client.listTransactions({ filter });
    expect(transactions.map((item) => item.Transaction?.digest)).toEqual([presigned.digest]);
  });
});

describe("listEvents", () => {
  it("gives each event with its place, its content and its type", async () => {
    const filter = { eventType: `${dwalletPackage()}::sessions_manager` };
    const { events } = await harness.client.listEvents({ filter, limit: 3 });
    const { response } = await harness.client.ledgerService.getTransaction({
      digest: presigned.digest,
      readMask: { paths: ["checkpoint", "events"] },
    });
    const { checkpoint, events: own } = response.transaction!;
    const requests = own!.events.flatMap((event, index) =>
      event.eventType!.includes("::sessions_manager::") ? [{ event, index }] : [],
    );
    expect(events.slice(0, 3).map(({ eventIndex }) => eventIndex)).toEqual(
      requests.slice(0, 3).map(({ index }) => index),
    );
    for (const [order, { event }] of requests.slice(0, 3).entries()) {
      expect(events[order]).toMatchObject({
        transactionDigest: presigned.digest,
        checkpoint: String(checkpoint),
        eventType: event.eventType,
        bcs: event.contents!.value,
        sender,
      });
    }
  });
});

const readAll = async <T extends object>(call: { responses: AsyncIterable<T> }): Promise<T[]> => {
  const all: T[] = [];
  for await (const message of call.responses) all.push(message);
  return all;
};

describe("the generated client", () => {
  it.each(["binary", "text"] as const)(
    "reads a list of checkpoints to its normal end (%s)",
    async (format) => {
      const transport = new GrpcWebFetchTransport({ baseUrl: harness.net.url, format });
      const client = new SuiGrpcClient({ network: "localnet", transport });
      const call = client.ledgerService.listCheckpoints({
        options: { limit: 3, ordering: GrpcTypes.Ordering.DESCENDING },
        readMask: { paths: ["sequence_number", "transactions.transaction_index"] },
      });
      const messages = await readAll(call);
      expect((await call.status).code).toBe("OK");
      const newest = messages[0]!.checkpoint!.sequenceNumber!;
      expect(messages.map(({ checkpoint }) => checkpoint?.sequenceNumber)).toEqual([
        newest,
        newest - 1n,
        newest - 2n,
      ]);
      expect(messages[0]!.checkpoint!.transactions).toMatchObject([{ transactionIndex: 0n }]);
      expect(messages.map(({ end }) => end?.reason)).toEqual([
        undefined,
        undefined,
        GrpcTypes.QueryEndReason.ITEM_LIMIT,
      ]);
    },
  );

  it("is refused an invalid filter, mask or cursor", async () => {
    const { ledgerService } = harness.client;
    const literal = (predicate: GrpcTypes.TransactionLiteral["predicate"]) => ({
      filter: { terms: [{ literals: [{ negated: false, predicate }] }] },
    });
    const refused: Parameters<typeof ledgerService.listTransactions>[0][] = [
      { filter: { terms: [] } },
      { filter: { terms: [{ literals: [] }] } },
      literal({ oneofKind: undefined }),
      literal({ oneofKind: "sender", sender: { address: "no address" } }),
      literal({ oneofKind: "moveCall", moveCall: { function: "0x2::a::b::c" } }),
      { filter: { terms: Array.from({ length: 11 }, () => literal(SENDER).filter.terms[0]!) } },
      { readMask: { paths: ["nowhere"] } },
      { options: { after: Uint8Array.of(1) } },
    ];
    for (const request of refused)
      await expect(readAll(ledgerService.listTransactions(request))).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
  });

  it("combines literals with and, terms with or, and can negate them", async () => {
    const digests = async (terms: GrpcTypes.TransactionTerm[]) => {
      const messages = await readAll(harness.client.ledgerService.listTransactions({ filter: { terms } }));
      return messages.flatMap(({ transaction }) => (transaction ? [transaction.digest] : []));
    };
    const is = (predicate: GrpcTypes.TransactionLiteral["predicate"], negated = false) => ({
      negated,
      predicate,
    });
    const treasury = is({ oneofKind: "moveCall", moveCall: { function: harness.net.treasury.packageId } });
    expect(await digests([{ literals: [is(SENDER), { ...treasury, negated: true }] }])).toEqual([
      registered.digest,
    ]);
    expect(await digests([{ literals: [treasury] }, { literals: [is(SENDER)] }])).toEqual([
      registered.digest,
      presigned.digest,
    ]);
    const objectId = harness.config.objects.ikaDWalletCoordinator.objectID;
    const touched = is({ oneofKind: "affectedObject", affectedObject: { objectId } });
    expect(await digests([{ literals: [touched, is(SENDER)] }])).toHaveLength(2);
    const address = is({ oneofKind: "affectedAddress", affectedAddress: { address: sender } });
    expect(await digests([{ literals: [address, is(SENDER)] }])).toHaveLength(2);
  });
});

const SENDER = { oneofKind: "sender", sender: { address: sender } } as const;

describe("subscriptions", () => {
  it("send the transactions and the events that match, and the position where none does", async () => {
    const closing = new AbortController();
    const { subscriptionService } = harness.client;
    const eventType = `${dwalletPackage()}::sessions_manager`;
    const filter = {
      terms: [
        { literals: [{ negated: false, predicate: { oneofKind: "eventType", eventType: { eventType } } }] },
      ],
    } as const;
    const options = { abort: closing.signal };
    const wide = { paths: ["transaction_digest", "event_index", "checkpoint"] };
    const transactions = subscriptionService.subscribeTransactions(
      { readMask: { paths: ["digest"] } },
      options,
    );
    const events = subscriptionService.subscribeEvents({ readMask: wide, filter: filter as never }, options);
    for (const call of [transactions, events])
      for (const part of [call.headers, call.status, call.trailers]) part.catch(() => {});
    await Promise.all([transactions.headers, events.headers]);
    const { digest } = await registerKey(harness, createUser());
    const sent = transactions.responses[Symbol.asyncIterator]();
    const emitted = events.responses[Symbol.asyncIterator]();
    const first = (await sent.next()).value as GrpcTypes.SubscribeTransactionsResponse;
    expect(first.transaction).toMatchObject({ digest });
    const position = (await emitted.next()).value as GrpcTypes.SubscribeEventsResponse;
    expect(position.event).toBeUndefined();
    expect(position.watermark!.checkpoint).toBe(first.watermark!.checkpoint! + 1n);
    const paid = await harness.run((tx) => payPresigns(harness, tx));
    const found = (await emitted.next()).value as GrpcTypes.SubscribeEventsResponse;
    expect(found.event).toMatchObject({ transactionDigest: paid.digest });
    expect(found.watermark!.checkpoint).toBe(found.event!.checkpoint! - 1n);
    closing.abort();
  });
});
