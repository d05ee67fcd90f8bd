/** Events of the local fullnode in their BCS form, decoded here by Sui's layout of `TransactionEvents`. */
import { bcs, TypeTagSerializer } from "@mysten/sui/bcs";
import { GrpcTypes } from "@mysten/sui/grpc";
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

it("each event has its content as JSON, in every answer that shows it", async () => {
  const { client } = harness;
  const subscription = client.subscriptionService.subscribeEvents({
    readMask: { paths: ["json", "event_type"] },
  });
  await subscription.headers;
  const { digest, events: executed } = await harness.run((tx) => payPresigns(harness, tx, { count: 1 }));
  const types = executed.map(({ eventType }) => eventType.replace(/^.*?::(.*)$/, "$1").replace(/<.*/, ""));
  expect(new Set(types)).toEqual(
    new Set([
      "sessions_manager::UserSessionIdentifierRegisteredEvent",
      "sessions_manager::DWalletSessionEvent",
      "treasury::PresignPaid",
    ]),
  );
  const shown = executed.map(({ json }) => json as Record<string, unknown>);
  expect(shown[types.indexOf("treasury::PresignPaid")]).toEqual({
    treasury_id: harness.net.treasury.treasuryId,
    operator_cap_id: harness.net.treasury.operatorCapIds[0],
    presign_id: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    curve: expect.any(Number),
    signature_algorithm: expect.any(Number),
    ika: expect.stringMatching(/^\d+$/),
    sui: expect.stringMatching(/^\d+$/),
  });
  expect(shown[types.indexOf("sessions_manager::DWalletSessionEvent")]).toMatchObject({
    epoch: "1",
    session_type: { "@variant": "User" },
    session_identifier_preimage: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/),
    event_data: { presign_id: expect.any(String), curve: expect.any(Number) },
  });
  const found = await client.getTransaction({ digest, include: { events: true } });
  expect(found.Transaction!.events!.map(({ json }) => json)).toEqual(shown);
  const listed = await client.listEvents({
    filter: { sender: hotWallet.toSuiAddress() },
    order: "descending",
  });
  const own = listed.events.filter((event) => event.transactionDigest === digest).reverse();
  expect(own.map(({ json }) => json)).toEqual(shown);
  const streamed: unknown[] = [];
  for await (const { event } of subscription.responses) {
    if (event === undefined) continue;
    streamed.push(JSON.parse(GrpcTypes.Event.toJsonString(event)).json);
    if (streamed.length === shown.length) break;
  }
  expect(streamed).toEqual(shown);
});

it("dynamic fields and the objects in them have their content as JSON, if it is asked for", async () => {
  const { client, net } = harness;
  await harness.run((tx) => payPresigns(harness, tx, { count: 1 }));
  const { object: treasury } = await client.getObject({
    objectId: net.treasury.treasuryId,
    include: { json: true },
  });
  const { custody } = treasury.json as { custody: { presign_caps: { id: string } } };
  const list = async (paths: string[]) =>
    (
      await client.stateService.listDynamicFields({
        parent: custody.presign_caps.id,
        readMask: { paths },
      })
    ).response.dynamicFields.map((field) => JSON.parse(GrpcTypes.DynamicField.toJsonString(field)));
  const [field] = await list(["name", "field_object.json", "child_object.json", "child_object.object_id"]);
  const presignId = `0x${Buffer.from(field.name.value, "base64").toString("hex")}`;
  expect(field.fieldObject.json).toMatchObject({
    name: { name: presignId },
    value: field.childObject.objectId,
  });
  expect(field.childObject.json).toMatchObject({ id: field.childObject.objectId, presign_id: presignId });
  const [bare] = await list(["field_object.object_id"]);
  expect(Object.keys(bare.fieldObject)).toEqual(["objectId"]);
});

it("a transaction without events has neither", async () => {
  const { digest } = await payFunds(harness, hotWallet.toSuiAddress(), 1n);
  const { events, effects } = await read(digest);
  expect(events).toEqual({ events: [] });
  expect(effects!.eventsDigest).toBeUndefined();
});
