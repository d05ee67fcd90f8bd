/** What the client reads from one fullnode as a hint, whose failure is a missing answer. */
import { CoordinatorInnerModule, SessionsManagerModule } from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import type { ClientWithCoreApi } from "@mysten/sui/client";
import { deriveDynamicFieldID } from "@mysten/sui/utils";
import { beforeEach, expect, it } from "vitest";
import type { Action } from "../../../../src/client/sdk/action.ts";
import { createChainSessionSource, readLastChange } from "../../../../src/client/sdk/chain/chain-session.ts";
import { digestOfPreimage } from "../../../../src/protocol/chain/session-identifier.ts";

const id = (digit: string): string => `0x${digit.repeat(64)}`;
const [DWALLET, TABLE, SHARE] = [id("1"), id("2"), id("3")];
const PREIMAGE = new Uint8Array(32).fill(9);
let object: unknown;
let transaction: unknown;
let failure: Error | undefined;
let asked: unknown[];

const CALLS = {
  async getObjects({ objectIds }: { objectIds: string[] }) {
    if (failure !== undefined) throw failure;
    asked.push(...objectIds);
    return { objects: object === undefined ? [] : [object] };
  },
  async getTransaction({ digest }: { digest: string }) {
    asked.push(digest);
    return { Transaction: transaction };
  },
};
const fullnode = (change: object = {}) => ({ core: { ...CALLS, ...change } }) as unknown as ClientWithCoreApi;
const client = fullnode();
const action = (signal = new AbortController().signal) => ({ signal }) as Action;

let clients: readonly ClientWithCoreApi[];

beforeEach(() => {
  clients = [client];
  object = { previousTransaction: "digest" };
  transaction = { events: [{ eventType: "type", bcs: Uint8Array.of(1) }] };
  failure = undefined;
  asked = [];
});

it("the last change of an object is its last transaction, with the events", async () => {
  expect(await readLastChange(client, action(), DWALLET)).toEqual({
    ...{ digest: "digest", events: [{ type: "type", bcs: Uint8Array.of(1) }] },
  });
  expect(asked).toEqual([DWALLET, "digest"]);
  transaction = undefined;
  expect(await readLastChange(client, action(), DWALLET)).toEqual({ digest: "digest", events: [] });
});

it.each([
  ["the fullnode lacks the object", undefined],
  ["the fullnode answers with an error", new Error("no such object")],
  ["the fullnode has pruned the transaction", { previousTransaction: null }],
])("neither a change nor a session is known if %s", async (_, answer) => {
  object = answer;
  expect(await readLastChange(client, action(), DWALLET)).toBeUndefined();
  expect(await session()).toBeUndefined();
});

it("a failure is a missing answer, and an abort is not", async () => {
  failure = new Error("away");
  expect(await readLastChange(client, action(), DWALLET)).toBeUndefined();
  expect(await session()).toBeUndefined();
  const aborted = action(AbortSignal.abort(new Error("enough")));
  await expect(readLastChange(client, aborted, DWALLET)).rejects.toThrow("enough");
  await expect(session(aborted)).rejects.toThrow("enough");
});

it("the session of a DKG is that of its own event, in the transaction that made the share's entry", async () => {
  transaction = {
    events: [dkgEvent(id("7"), new Uint8Array(32)), { eventType: "other" }, dkgEvent(DWALLET, PREIMAGE)],
  };
  expect(await session()).toEqual(digestOfPreimage(PREIMAGE));
  const name = bcs.Address.serialize(SHARE).toBytes();
  const type = "0x2::dynamic_object_field::Wrapper<0x2::object::ID>";
  expect(asked).toEqual([deriveDynamicFieldID(TABLE, type, name), "digest"]);
  transaction = { events: [dkgEvent(id("7"), PREIMAGE)] };
  expect(await session()).toBeUndefined();
  transaction = undefined;
  expect(await session()).toBeUndefined();
});

it("the session comes from the first fullnode that has not pruned the transaction", async () => {
  transaction = { events: [dkgEvent(DWALLET, PREIMAGE)] };
  const pruned = fullnode({ getTransaction: async () => ({ Transaction: undefined }) });
  const away = fullnode({ getObjects: () => Promise.reject(new Error("away")) });
  clients = [pruned, away, client];
  expect(await session()).toEqual(digestOfPreimage(PREIMAGE));
  clients = [pruned];
  expect(await session()).toBeUndefined();
});

it("a fullnode that names a wrong session hides no right one, and the same session is named once", async () => {
  const says = (preimage: Uint8Array) =>
    fullnode({ getTransaction: async () => ({ Transaction: { events: [dkgEvent(DWALLET, preimage)] } }) });
  const wrong = new Uint8Array(32).fill(8);
  clients = [says(wrong), says(wrong), says(PREIMAGE), says(PREIMAGE)];
  expect(await sessions()).toEqual([digestOfPreimage(wrong), digestOfPreimage(PREIMAGE)]);
});

it("an event of another layout names no session", async () => {
  const { eventType } = dkgEvent(DWALLET, PREIMAGE);
  transaction = { events: [{ eventType, bcs: Uint8Array.of(1) }, dkgEvent(DWALLET, PREIMAGE)] };
  expect(await session()).toEqual(digestOfPreimage(PREIMAGE));
});

/** The first session that the fullnodes name. */
async function session(of = action()): Promise<Uint8Array | undefined> {
  return (await sessions(of))[0];
}

async function sessions(of = action()): Promise<Uint8Array[]> {
  const source = createChainSessionSource(async () => clients);
  const found: Uint8Array[] = [];
  for await (const digest of source(of, { id: DWALLET, encryptedShareTableId: TABLE }, SHARE))
    found.push(digest);
  return found;
}

function dkgEvent(dwalletId: string, preimage: Uint8Array) {
  const pkg = id("a");
  return {
    eventType: `${pkg}::sessions_manager::DWalletSessionEvent<${pkg}::coordinator_inner::DWalletDKGRequestEvent>`,
    bcs: SessionsManagerModule.DWalletSessionEvent(CoordinatorInnerModule.DWalletDKGRequestEvent)
      .serialize({
        epoch: "9",
        session_object_id: id("8"),
        session_type: { User: true },
        session_sequence_number: "7",
        session_identifier_preimage: [...preimage],
        event_data: {
          dwallet_id: dwalletId,
          centralized_public_key_share_and_proof: [],
          user_public_output: [],
          dwallet_cap_id: id("2"),
          dwallet_network_encryption_key_id: id("3"),
          curve: 2,
          user_secret_key_share: { Public: { public_user_secret_key_share: [] } },
          sign_during_dkg_request: null,
        },
      } as never)
      .toBytes(),
  };
}
