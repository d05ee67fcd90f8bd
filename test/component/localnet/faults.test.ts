/** Each fault has its documented effect on the unmodified client, and none once it is off again. */
import { CoordinatorInnerModule, IkaClient } from "@ika.xyz/sdk";
import { Transaction } from "@mysten/sui/transactions";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFaults } from "../../../src/localnet/faults/faults.ts";
import { contentsWhen, type Harness, hotWallet, payPresigns, presignIdsOf, startHarness } from "./harness.ts";

const { PresignSession } = CoordinatorInnerModule;
let harness: Harness;

/** The delays that the faults have asked for. None of them takes time. */
const pausesMs: number[] = [];

beforeEach(async () => {
  pausesMs.length = 0;
  const pause = async (durationMs: number) => void pausesMs.push(durationMs);
  harness = await startHarness({ epochDurationMs: 60_000, pause });
});
afterEach(() => harness.close());

/** A transfer of the hot wallet to itself, signed. */
async function signedTransfer(amount: number) {
  const tx = new Transaction();
  tx.setSender(hotWallet.toSuiAddress());
  tx.transferObjects([tx.splitCoins(tx.gas, [amount])], hotWallet.toSuiAddress());
  const bytes = await tx.build({ client: harness.client });
  const { signature } = await hotWallet.signTransaction(bytes);
  return { digest: await tx.getDigest(), transaction: bytes, signatures: [signature] };
}
const execute = (signed: Awaited<ReturnType<typeof signedTransfer>>) =>
  harness.client.core.executeTransaction({ ...signed, include: { effects: true } });

const requestPresign = () => harness.run((tx) => payPresigns(harness, tx));

describe("the fullnode's faults", () => {
  it("can drop the reply after the execution, and the same bytes then get the first outcome", async () => {
    const signed = await signedTransfer(1);
    harness.net.faults.set({ dropReply: 1 });
    await expect(execute(signed)).rejects.toThrow();
    harness.net.faults.set({ dropReply: 0 });
    expect((await harness.client.core.getTransaction({ digest: signed.digest })).Transaction?.digest).toBe(
      signed.digest,
    );
    expect((await execute(signed)).$kind).toBe("Transaction");
  });

  it("can refuse with RESOURCE_EXHAUSTED", async () => {
    harness.net.faults.set({ rateLimit: 1 });
    const refused = harness.client.core.getObject({ objectId: harness.net.treasury.treasuryId });
    await expect(refused).rejects.toMatchObject({ code: "RESOURCE_EXHAUSTED" });
  });

  it("can leave a call without an answer until the client gives up", async () => {
    harness.net.faults.set({ timeout: 1 });
    const signal = AbortSignal.timeout(50);
    const silent = harness.client.core.getObject({ objectId: harness.net.treasury.treasuryId, signal });
    await expect(silent).rejects.toThrow();
    expect(signal.aborted).toBe(true);
  });

  it("can answer from some commits ago", async () => {
    harness.net.faults.set({ staleRead: 1, staleCommits: 2 });
    harness.net.faults.set({ staleRead: 0 });
    const digests: string[] = [];
    for (const amount of [1, 2, 3]) {
      const signed = await signedTransfer(amount);
      await execute(signed);
      digests.push(signed.digest);
    }
    harness.net.faults.set({ staleRead: 1 });
    const known = (digest: string | undefined) =>
      harness.client.core.getTransaction({ digest: digest! }).then(
        () => true,
        () => false,
      );
    expect(await Promise.all(digests.map(known))).toEqual([true, false, false]);
  });

  it("can refuse a transaction as if an object had moved on, without a charge", async () => {
    const signed = await signedTransfer(1);
    harness.net.faults.set({ versionConflict: 1 });
    await expect(execute(signed)).rejects.toThrow(/not available for consumption/);
    harness.net.faults.set({ versionConflict: 0 });
    expect((await execute(signed)).$kind).toBe("Transaction");
  });

  it("can cancel a transaction for busy shared objects, which pays gas and does nothing", async () => {
    harness.net.faults.set({ congestion: 1 });
    const failed = await harness.runToFailure((tx) => payPresigns(harness, tx));
    expect(failed.status.error?.$kind).toBe("CongestedObjects");
    expect(BigInt(failed.effects.gasUsed.computationCost)).toBeGreaterThan(0n);
    expect(failed.events).toEqual([]);
  });

  it("can abort chosen calls with a chosen code", async () => {
    harness.net.faults.set({
      abortCalls: [{ function: "treasury::pay_presigns", module: "sessions_manager", code: 2 }],
    });
    const failed = await harness.runToFailure((tx) => payPresigns(harness, tx));
    expect(failed.status.error?.MoveAbort).toMatchObject({
      abortCode: "2",
      location: { module: "sessions_manager" },
    });
  });

  it("can add latency to executions alone", async () => {
    const signed = await signedTransfer(1);
    harness.net.faults.set({ executeLatencyMs: 200 });
    await harness.client.core.getObject({ objectId: harness.net.treasury.treasuryId });
    expect(pausesMs).toEqual([]);
    expect((await execute(signed)).$kind).toBe("Transaction");
    expect(pausesMs).toEqual([200]);
  });
});

describe("the network's faults", () => {
  const stateOf = async (presignId: string | undefined, wanted: string) =>
    (await contentsWhen(harness, presignId!, PresignSession, ({ state }) => state.$kind === wanted)).state
      .$kind;

  it("can reject sessions of a kind", async () => {
    harness.net.faults.set({ rejectSessions: { presign: 1 } });
    const [id] = presignIdsOf(await requestPresign());
    expect(await stateOf(id, "NetworkRejected")).toBe("NetworkRejected");
  });

  it("pauses all work, and does it after the pause", async () => {
    harness.net.faults.set({ paused: true });
    const [id] = presignIdsOf(await requestPresign());
    const { object } = await harness.client.core.getObject({ objectId: id!, include: { content: true } });
    expect(PresignSession.parse(object.content).state.$kind).toBe("Requested");
    harness.net.faults.set({ paused: false });
    expect(await stateOf(id, "Completed")).toBe("Completed");
  });
});

describe("the chain's controls", () => {
  it("can end an epoch, and a transaction that expires with it no longer lands", async () => {
    const { systemState } = await harness.client.core.getCurrentSystemState();
    const tx = new Transaction();
    tx.setSender(hotWallet.toSuiAddress());
    tx.setExpiration({ Epoch: Number(systemState.epoch) });
    tx.transferObjects([tx.splitCoins(tx.gas, [1])], hotWallet.toSuiAddress());
    const bytes = await tx.build({ client: harness.client });
    const { signature } = await hotWallet.signTransaction(bytes);
    expect(await harness.net.controls.advanceEpoch()).toBe(BigInt(systemState.epoch) + 1n);
    await expect(
      harness.client.core.executeTransaction({ transaction: bytes, signatures: [signature] }),
    ).rejects.toThrow(/expired/);
  });

  it("can raise prices above the Treasury's ceilings, and lower them again", async () => {
    await harness.net.controls.scalePrices(1_000_000);
    await expect(requestPresign()).rejects.toThrow(/MoveAbort/);
    await harness.net.controls.scalePrices(0);
    await requestPresign();
  });

  it("can make a new network encryption key, and still serves the older one", async () => {
    const ika = new IkaClient({ suiClient: harness.client, config: harness.net.ikaConfig });
    const id = await harness.net.controls.rotateNetworkKey();
    expect((await ika.getAllNetworkEncryptionKeys()).map((key) => key.id)).toEqual([
      harness.net.networkEncryptionKeyId,
      id,
    ]);
    expect((await ika.getLatestNetworkEncryptionKey()).id).toBe(id);
    const [older] = presignIdsOf(await requestPresign());
    await contentsWhen(harness, older!, PresignSession, ({ state }) => state.$kind === "Completed");
  });

  it("can drain and fill the Treasury", async () => {
    await harness.net.controls.setTreasury({ ika: 0n, sui: 0n });
    await expect(requestPresign()).rejects.toThrow(/MoveAbort/);
    await harness.net.controls.setTreasury({ ika: 10n ** 12n, sui: 10n ** 12n });
    await requestPresign();
  });
});

describe("the faults' HTTP calls", () => {
  const post = async (path: string, body: unknown) => {
    const reply = await fetch(`${harness.net.url}${path}`, { method: "POST", body: JSON.stringify(body) });
    return { status: reply.status, json: (await reply.json()) as Record<string, unknown> };
  };

  it("show and change the faults", async () => {
    expect(await post("/localnet/faults", { rateLimit: 0.5, rejectSessions: { sign: 1 } })).toMatchObject({
      status: 200,
      json: { rateLimit: 0.5, dropReply: 0 },
    });
    const shown = await (await fetch(`${harness.net.url}/localnet/faults`)).json();
    expect(shown).toEqual(harness.net.faults.settings);
    expect(await post("/localnet/advance-epoch", {})).toEqual({ status: 200, json: { epoch: "2" } });
    expect((await post("/localnet/treasury", { ika: "0", sui: "0" })).status).toBe(200);
    expect((await post("/localnet/prices", { percent: 200 })).status).toBe(200);
  });

  it.each([
    ["/localnet/faults", { rateLimit: 2 }, "rateLimit is 2; expected a number from 0 to 1"],
    ["/localnet/faults", { nonsense: 1 }, /^nonsense is 1; expected one of latencyMs/],
    ["/localnet/faults", { rejectSessions: { sing: 1 } }, /rejectSessions.sing/],
    ["/localnet/faults", { abortCalls: [{ function: "pay", code: 1 }] }, /abortCalls\[0\].function/],
    ["/localnet/faults", { latencyMs: -1 }, /latencyMs is -1/],
    ["/localnet/treasury", { ika: 5, sui: "0" }, /ika must be/],
    ["/localnet/prices", {}, /percent must be/],
  ])("name the wrong field of %s in %j", async (path, body, error) => {
    const before = harness.net.faults.settings;
    const reply = await post(path, body);
    expect(reply.status).toBe(400);
    expect(reply.json["error"]).toMatch(error);
    expect(harness.net.faults.settings).toEqual(before);
  });
});

describe("the random choice of faults", () => {
  it("is the same under one seed, and does not run for a fault that is off", () => {
    const throws = (seed: number) => {
      const faults = createFaults(new Uint8Array(32).fill(seed));
      return Array.from({ length: 50 }, (_, index) => {
        if (index % 2 === 0) faults.happens(0);
        return faults.happens(0.5);
      });
    };
    const plain = createFaults(new Uint8Array(32).fill(1));
    expect(throws(1)).toEqual(Array.from({ length: 50 }, () => plain.happens(0.5)));
    expect(throws(1)).not.toEqual(throws(2));
    expect(throws(1).filter(Boolean).length).toBeGreaterThan(10);
  });
});
