/** Events of the local fullnode in their BCS form, decoded here by Sui's layout of `TransactionEvents`. */
import { bcs, TypeTagSerializer } from "@mysten/sui/bcs";
import { normalizeStructTag, toBase58 } from "@mysten/sui/utils";
import { blake2b } from "@noble/hashes/blake2.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Harness, hotWallet, payFunds, payPresigns, startHarness } from "../harness.ts";

const TransactionEvents = bcs.vector(
  bcs.struct("Event", {
    packageId: bcs.Address,
    module: bcs.string(),
    sender: bcs.Address,
    type: bcs.StructTag,
    contents: bcs.byteVector(),
  }),
);

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

async function read(digest: string) {
  const readMask = { paths: ["events", "effects"] };
  return (await harness.client.ledgerService.getTransaction({ digest, readMask })).response.transaction!;
}

it("the BCS form has the same events, and its hash is the digest in the events and in the effects", async () => {
  const { digest } = await harness.run((tx) => payPresigns(harness, tx, { count: 2 }));
  const { events, effects } = await read(digest);
  const octets = events!.bcs!.value!;
  const decoded = TransactionEvents.parse(octets).map(({ type, ...event }) => ({
    ...event,
    eventType: normalizeStructTag(TypeTagSerializer.tagToString({ struct: type })),
  }));
  expect(decoded.length).toBeGreaterThan(2);
  expect(decoded).toEqual(
    events!.events.map(({ packageId, module, eventType, contents }) => ({
      packageId,
      module,
      sender: hotWallet.toSuiAddress(),
      eventType,
      contents: contents!.value,
    })),
  );
  const hash = toBase58(blake2b(concatBytes(utf8ToBytes("TransactionEvents::"), octets), { dkLen: 32 }));
  expect(events!.digest).toBe(hash);
  expect(effects!.eventsDigest).toBe(hash);
  expect(bcs.TransactionEffects.parse(effects!.bcs!.value!).V2!.eventsDigest).toBe(hash);
});

it("a transaction without events has neither", async () => {
  const { digest } = await payFunds(harness, hotWallet.toSuiAddress(), 1n);
  const { events, effects } = await read(digest);
  expect(events).toEqual({ events: [] });
  expect(effects!.eventsDigest).toBeUndefined();
});
