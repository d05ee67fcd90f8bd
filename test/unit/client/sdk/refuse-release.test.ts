/** An owner who refuses a release, or signs an authorization without the service; and what an exit's traces show. */
import { Code } from "@connectrpc/connect";
import { bcs } from "@mysten/sui/bcs";
import { beforeEach, describe, expect, it } from "vitest";
import type { ClientContext } from "../../../../src/client/sdk/context.ts";
import { createCustodyActions } from "../../../../src/client/sdk/custody/custody-actions.ts";
import { fromAuthorization } from "../../../../src/client/sdk/custody/treasury-authorization.ts";
import { custodyPlaces } from "../../../../src/protocol/chain/treasury-custody.ts";
import { custodyEntries, treasuryContent } from "../../../support/chain/treasury-bytes.ts";
import {
  createFakeService,
  DWALLET_ID,
  type FakeService,
  SEED,
  serviceError,
  TREASURY_ID,
} from "./fake-service.ts";

const RECIPIENT = `0x${"9".repeat(64)}`;
const OTHER = `0x${"e".repeat(64)}`;
const ENTRY = custodyPlaces(treasuryContent(TREASURY_ID), DWALLET_ID).dwalletEntryId;
const args = (more: object = {}) => ({
  ...{ seed: Uint8Array.from(SEED), dwalletId: DWALLET_ID, recipient: RECIPIENT },
  ...more,
});

let fake: FakeService;
let isRefused: boolean;
/** The answer of the service to a refusal. */
let refuse: () => void;
let requests: object[];
let context: ClientContext;

beforeEach(() => {
  fake = createFakeService();
  isRefused = false;
  requests = [];
  refuse = () => {
    isRefused = true;
  };
  const { raw } = fake.context;
  const refuseRelease = async (request: object) => {
    requests.push(request);
    refuse();
    return {};
  };
  context = {
    ...fake.context,
    raw: { ...raw, onboarding: { ...raw.onboarding, refuseRelease } },
    async chainReader(...[action, kind]: Parameters<ClientContext["chainReader"]>) {
      const reader = await fake.context.chainReader(action, kind);
      return {
        async getObjects(ids: readonly string[], signal?: AbortSignal) {
          const owner = fake.script.custodyOwner;
          const found = new Map(await reader.getObjects(ids, signal));
          if (isRefused && owner !== undefined && found.has(ENTRY)) {
            const custody = { dwalletId: DWALLET_ID, owner, curveNumber: 2, isRefused };
            found.set(ENTRY, custodyEntries(TREASURY_ID, custody).get(ENTRY)!);
          }
          return found;
        },
      };
    },
  } as unknown as ClientContext;
});
const actions = () => createCustodyActions(context);

describe("refusing a release", () => {
  it("sends the owner's authorization once, until the chain shows it", async () => {
    const stages: string[] = [];
    const onProgress = (stage: string) => void stages.push(stage);
    expect(await actions().refuseRelease(args(), { onProgress })).toEqual({ dwalletId: DWALLET_ID });
    expect(stages).toEqual(["custody", "keys", "request", "verify", "done"]);
    expect(requests).toMatchObject([
      { dwalletId: DWALLET_ID, treasuryId: TREASURY_ID, nonce: 0n, expiresEpoch: 7n },
    ]);
    expect(requests[0]).not.toHaveProperty("recipient");
    // A repeat finds it done.
    expect(await actions().refuseRelease(args())).toEqual({ dwalletId: DWALLET_ID });
    expect(requests).toHaveLength(1);
  });

  it("succeeds if the chain shows it, even if the service claims that it refused", async () => {
    refuse = () => {
      isRefused = true;
      throw serviceError(Code.FailedPrecondition, "CHAIN_REJECTED");
    };
    expect(await actions().refuseRelease(args())).toEqual({ dwalletId: DWALLET_ID });
  });

  it("ends with the service's reason if the chain does not show it", async () => {
    refuse = () => {
      throw serviceError(Code.FailedPrecondition, "WRONG_STATE");
    };
    await expect(actions().refuseRelease(args())).rejects.toMatchObject({
      ...{ reason: "WRONG_STATE", metadata: { dwalletId: DWALLET_ID, stage: "request" } },
    });
  });

  it("is too late for a dWallet that has left, before or meanwhile", async () => {
    const left = { reason: "DWALLET_LEFT", metadata: { dwalletId: DWALLET_ID, treasuryId: TREASURY_ID } };
    const owner = fake.script.custodyOwner;
    fake.script.custodyOwner = undefined;
    await expect(actions().refuseRelease(args())).rejects.toMatchObject(left);
    expect(requests).toEqual([]);
    fake.script.custodyOwner = owner;
    refuse = () => {
      fake.script.custodyOwner = undefined;
    };
    await expect(actions().refuseRelease(args())).rejects.toMatchObject(left);
  });
});

describe("an authorization that the client only signs", () => {
  it("is that of its action, and nothing is sent", async () => {
    const leave = await actions().signLeave(args({ validForEpochs: 0 }));
    expect(fromAuthorization(leave)).toMatchObject({
      ...{ action: "leave", recipient: RECIPIENT, treasuryId: TREASURY_ID, dwalletId: DWALLET_ID },
      ...{ nonce: 0n, expiresEpoch: 0n },
    });
    const refusal = await actions().signRefusal(args({ validForEpochs: 1_000 }));
    expect(fromAuthorization(refusal)).toMatchObject({ action: "refuse", expiresEpoch: 1_000n });
    expect(refusal).not.toHaveProperty("recipient");
    expect([requests, fake.counts()["leaveDWallet"]]).toEqual([[], undefined]);
  });

  it("is not signed for a dWallet of another owner, or one that has left", async () => {
    fake.script.custodyOwner = OTHER;
    const notOwner = { reason: "NOT_OWNER", metadata: { dwalletId: DWALLET_ID, treasuryId: TREASURY_ID } };
    await expect(actions().signRefusal(args())).rejects.toMatchObject(notOwner);
    fake.script.custodyOwner = undefined;
    await expect(actions().signRefusal(args())).rejects.toMatchObject({ reason: "DWALLET_LEFT" });
  });

  it.each([-1, 1_001, 1.5, Number.NaN])(
    "is valid for 0 to 1000 epochs, and not for %s",
    async (validForEpochs) => {
      await expect(actions().signRefusal(args({ validForEpochs }))).rejects.toMatchObject({
        ...{ reason: "VALIDATION", metadata: { field: "validForEpochs" } },
      });
    },
  );

  it.each([`0x${"0".repeat(64)}`, "0x9", ""])("leaves to no address like %s", async (recipient) => {
    for (const act of [actions().leave, actions().signLeave])
      await expect(act(args({ recipient }))).rejects.toMatchObject({
        ...{ reason: "VALIDATION", metadata: { field: "recipient" } },
      });
  });
});

describe("a dWallet that has left before", () => {
  const exitOf = (treasury: string, dwallet: string, cap: string, recipient: string) => ({
    type: `${OTHER}::custody::DWalletLeft`,
    bcs: Uint8Array.from(
      [treasury, dwallet, cap, OTHER, recipient].flatMap((id) => [...bcs.Address.serialize(id).toBytes()]),
    ),
  });
  const leaveAgain = () => actions().leave(args());
  beforeEach(() => {
    fake.script.custodyOwner = undefined;
  });

  it("has left if the recipient has the capability, with the transaction if a fullnode still knows it", async () => {
    fake.script.capHolder = () => RECIPIENT;
    const first = await leaveAgain();
    expect(first).toMatchObject({ dwalletId: DWALLET_ID, recipient: RECIPIENT, transactionDigest: null });
    const exit = exitOf(TREASURY_ID, DWALLET_ID, first.dwalletCapId, RECIPIENT);
    context = { ...context, lastChange: async () => ({ digest: "digest", events: [exit] }) };
    expect(await leaveAgain()).toEqual({ ...first, transactionDigest: "digest" });
    // Another transaction wrote the object last.
    context = { ...context, lastChange: async () => ({ digest: "later", events: [] }) };
    expect(await leaveAgain()).toEqual(first);
    context = { ...context, lastChange: async () => ({ digest: "digest", events: [exit] }) };
    // The recipient may have transferred it since.
    fake.script.capHolder = () => OTHER;
    expect(await leaveAgain()).toEqual({ ...first, transactionDigest: "digest" });
    for (const other of [
      exitOf(OTHER, DWALLET_ID, first.dwalletCapId, RECIPIENT),
      exitOf(TREASURY_ID, OTHER, first.dwalletCapId, RECIPIENT),
      exitOf(TREASURY_ID, DWALLET_ID, OTHER, RECIPIENT),
      exitOf(TREASURY_ID, DWALLET_ID, first.dwalletCapId, OTHER),
    ]) {
      context = { ...context, lastChange: async () => ({ digest: "digest", events: [other] }) };
      await expect(leaveAgain()).rejects.toMatchObject({
        reason: "DWALLET_LEFT",
        metadata: { owner: OTHER },
      });
    }
  });
});
