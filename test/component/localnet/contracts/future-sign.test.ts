import { CoordinatorInnerModule, coordinatorTransactions as calls } from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import { Transaction } from "@mysten/sui/transactions";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { paying } from "../coordinator-calls.ts";
import {
  abortOf,
  activeDwallet,
  contentsWhen,
  type Executed,
  type Harness,
  hotWallet,
  presignIdsOf,
  signIdOf,
  startHarness,
} from "../harness.ts";
import { requestOf } from "../sdk-steps.ts";

const { DWallet, FutureSignRequestEvent, PartialUserSignature, PresignSession, SignSession } =
  CoordinatorInnerModule;

let harness: Harness;
let pay: Awaited<ReturnType<typeof paying>>;
beforeAll(async () => {
  harness = await startHarness();
  pay = await paying(harness);
});
afterAll(() => harness.close());

const MESSAGE = new TextEncoder().encode("a message");
const HALF = new Uint8Array(66);

/** A dWallet with a public share, whose cap belongs to the hot wallet. */
async function ownDwallet(curve: number): Promise<{ dwalletId: string; capId: string }> {
  const executed = await harness.run(
    pay((tx, { coordinator, identifier, ika, sui }) => {
      const [cap] = calls.requestDWalletDKGWithPublicUserSecretKeyShare(
        harness.config,
        coordinator,
        harness.net.networkEncryptionKeyId,
        curve,
        new Uint8Array(10),
        new Uint8Array(34),
        new Uint8Array(10),
        identifier,
        null,
        ika,
        sui,
        tx,
      ) as unknown as never[];
      return cap;
    }),
  );
  const { dwallet_id } = requestOf(executed as never, CoordinatorInnerModule.DWalletDKGRequestEvent);
  const isActive = (value: typeof DWallet.$inferType) => value.state.$kind === "Active";
  const dwallet = await contentsWhen(harness, dwallet_id, DWallet, isActive);
  return { dwalletId: dwallet_id, capId: dwallet.dwallet_cap_id };
}

async function readyPresign(curve: number): Promise<{ id: string; capId: string }> {
  const executed = await harness.run(
    pay((tx, { coordinator, identifier, ika, sui }) =>
      calls.requestGlobalPresign(
        harness.config,
        coordinator,
        harness.net.networkEncryptionKeyId,
        curve,
        0,
        identifier,
        ika,
        sui,
        tx,
      ),
    ),
  );
  const [id] = presignIdsOf(executed) as [string];
  const isReady = (value: typeof PresignSession.$inferType) => value.state.$kind === "Completed";
  const { cap_id } = await contentsWhen(harness, id, PresignSession, isReady);
  return { id, capId: cap_id };
}

interface HalfOptions {
  readonly hash?: number;
  readonly half?: Uint8Array;
}

const futureSign = (dwalletId: string, presignCapId: string, { hash = 0, half = HALF }: HalfOptions = {}) =>
  pay((tx, { coordinator, identifier, ika, sui }) =>
    calls.requestFutureSign(
      harness.config,
      coordinator,
      dwalletId,
      calls.verifyPresignCap(harness.config, coordinator, tx.object(presignCapId), tx),
      MESSAGE,
      hash,
      half,
      identifier,
      ika,
      sui,
      tx,
    ),
  );

/** The partial signature of a transaction, once the network has decided. */
function partialOf(executed: Executed) {
  const request = requestOf(executed as never, FutureSignRequestEvent);
  const id = request.partial_centralized_signed_message_id;
  return contentsWhen(
    harness,
    id,
    PartialUserSignature,
    (value) => value.state.$kind !== "AwaitingNetworkVerification",
  );
}

const complete = (capId: string, partialCapId: string, message = MESSAGE) =>
  pay((tx, { coordinator, identifier, ika, sui }) => {
    const { config } = harness;
    const approval = calls.approveMessage(config, coordinator, tx.object(capId), 0, 0, message, tx);
    const partial = calls.verifyPartialUserSignatureCap(config, coordinator, tx.object(partialCapId), tx);
    calls.requestSignWithPartialUserSignature(
      config,
      coordinator,
      partial as never,
      approval as never,
      identifier,
      ika,
      sui,
      tx,
    );
  });

async function bools(build: (tx: Transaction, coordinator: never) => void): Promise<boolean[]> {
  const tx = new Transaction();
  tx.setSender(hotWallet.toSuiAddress());
  build(tx, harness.coordinator(tx) as never);
  const { commandResults } = await harness.client.simulateTransaction({
    transaction: tx,
    include: { commandResults: true },
    checksEnabled: false,
  });
  return (commandResults ?? [])
    .flatMap(({ returnValues }) => returnValues)
    .filter((value) => value.bcs.length === 1)
    .map((value) => bcs.bool().parse(value.bcs));
}

describe("partial signatures", () => {
  test("an accepted half reserves its presign, and completes once", async () => {
    const { dwalletId, capId } = await ownDwallet(0);
    const presign = await readyPresign(0);
    const partial = await partialOf(await harness.run(futureSign(dwalletId, presign.capId)));
    expect(partial.state.$kind).toBe("NetworkVerificationCompleted");
    expect(partial.presign_cap.presign_id).toBe(presign.id);
    await harness.client.getObject({ objectId: presign.id });
    const signId = signIdOf(await harness.run(complete(capId, partial.cap_id)));
    const isSettled = (value: typeof SignSession.$inferType) => value.state.$kind !== "Requested";
    expect((await contentsWhen(harness, signId, SignSession, isSettled)).state.$kind).toBe("Completed");
    await expect(harness.client.getObject({ objectId: presign.id })).rejects.toThrow("not found");
    await expect(harness.client.getObject({ objectId: partial.id })).rejects.toThrow("not found");
    await expect(harness.run(complete(capId, partial.cap_id))).rejects.toThrow();
  });

  test("an approval of another message does not complete a half", async () => {
    const { dwalletId, capId } = await ownDwallet(0);
    const { capId: presignCapId } = await readyPresign(0);
    const partial = await partialOf(await harness.run(futureSign(dwalletId, presignCapId)));
    const other = new TextEncoder().encode("another message");
    const failed = await harness.runToFailure(complete(capId, partial.cap_id, other));
    expect(abortOf(failed)).toBe("coordinator_inner 7");
    const stranger = await ownDwallet(0);
    const foreign = await harness.runToFailure(complete(stranger.capId, partial.cap_id));
    expect(abortOf(foreign)).toBe("coordinator_inner 7");
    const matches = (message: Uint8Array, from = capId) =>
      bools((tx, coordinator) => {
        const { config } = harness;
        const approval = calls.approveMessage(config, coordinator, tx.object(from), 0, 0, message, tx);
        const verified = calls.verifyPartialUserSignatureCap(
          config,
          coordinator,
          tx.object(partial.cap_id),
          tx,
        );
        calls.matchPartialUserSignatureWithMessageApproval(
          config,
          coordinator,
          verified as never,
          approval as never,
          tx,
        );
        tx.transferObjects([verified], hotWallet.toSuiAddress());
      });
    expect(await matches(MESSAGE)).toEqual([true]);
    expect(await matches(other)).toEqual([false]);
    expect(await matches(MESSAGE, stranger.capId)).toEqual([false]);
  });

  test("a half that the network rejected is not valid, and its cap is not verified", async () => {
    const { dwalletId, capId } = await ownDwallet(0);
    const valid = (id: string) =>
      bools((tx, coordinator) => calls.isPartialUserSignatureValid(harness.config, coordinator, id, tx));
    const half = Uint8Array.of(0xff);
    const bad = await readyPresign(0);
    const rejected = await partialOf(await harness.run(futureSign(dwalletId, bad.capId, { half })));
    expect(rejected.state.$kind).toBe("NetworkVerificationRejected");
    expect(await valid(rejected.cap_id)).toEqual([false]);
    expect(abortOf(await harness.runToFailure(complete(capId, rejected.cap_id)))).toBe(
      "coordinator_inner 11",
    );
    const good = await readyPresign(0);
    const accepted = await partialOf(await harness.run(futureSign(dwalletId, good.capId)));
    expect(await valid(accepted.cap_id)).toEqual([true]);
  });

  test("the dWallet must be active, and presign and hash scheme must be its own", async () => {
    const presign = await readyPresign(0);
    const abort = async (tx: (tx: Transaction) => void) => abortOf(await harness.runToFailure(tx));
    expect(await abort(futureSign(`0x${"8".repeat(64)}`, presign.capId))).toBe("coordinator_inner 3");
    const { dwalletId } = await activeDwallet(harness);
    const eddsa = await readyPresign(2);
    expect(await abort(futureSign(dwalletId, eddsa.capId))).toBe("coordinator_inner 1");
    expect(await abort(futureSign(dwalletId, presign.capId, { hash: 3 }))).toBe("support_config 1");
  });
});
