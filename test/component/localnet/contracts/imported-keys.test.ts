import { CoordinatorInnerModule, coordinatorTransactions as calls } from "@ika.xyz/sdk";
import type { Transaction } from "@mysten/sui/transactions";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PaidCall, paying } from "../coordinator-calls.ts";
import {
  abortOf,
  acceptShare,
  contentsWhen,
  createUser,
  type Executed,
  type Harness,
  presignIdsOf,
  registerKey,
  startHarness,
  type User,
} from "../harness.ts";
import { requestOf } from "../sdk-steps.ts";

const { DWallet, DWalletImportedKeyVerificationRequestEvent, EncryptedUserSecretKeyShare, PresignSession } =
  CoordinatorInnerModule;

let harness: Harness;
let pay: Awaited<ReturnType<typeof paying>>;
beforeAll(async () => {
  harness = await startHarness();
  pay = await paying(harness);
});
afterAll(() => harness.close());

interface ImportOptions {
  readonly curve?: number;
  readonly networkKeyId?: string;
  readonly message?: Uint8Array;
}

const importTx = (user: User, { curve = 0, networkKeyId, message }: ImportOptions = {}) =>
  pay((tx, { coordinator, identifier, ika, sui }) =>
    calls.requestImportedKeyDwalletVerification(
      harness.config,
      coordinator,
      networkKeyId ?? harness.net.networkEncryptionKeyId,
      curve,
      message ?? new Uint8Array(1431),
      new Uint8Array(1296),
      user.address,
      new Uint8Array(105),
      user.publicKey,
      identifier,
      ika,
      sui,
      tx,
    ),
  );

/** An imported key that is active; `curve` 0 or 2. */
async function importedKey(curve = 0): Promise<{ dwalletId: string; capId: string }> {
  const user = createUser();
  await registerKey(harness, user, curve);
  const executed = await harness.run(importTx(user, { curve }));
  const request = requestOf(executed as never, DWalletImportedKeyVerificationRequestEvent);
  const dwallet = await contentsWhen(
    harness,
    request.dwallet_id,
    DWallet,
    (value) => value.state.$kind === "AwaitingKeyHolderSignature",
  );
  const output = Uint8Array.from(dwallet.state.AwaitingKeyHolderSignature?.public_output ?? []);
  const signature = await user.keypair.sign(output);
  await acceptShare(harness, request.dwallet_id, request.encrypted_user_secret_key_share_id, signature);
  return { dwalletId: request.dwallet_id, capId: dwallet.dwallet_cap_id };
}

describe("imports", () => {
  test("an unknown curve, network key and encryption key abort with their codes", async () => {
    const user = createUser();
    expect(abortOf(await harness.runToFailure(importTx(user, { curve: 9 })))).toBe("support_config 2");
    const unknown = { networkKeyId: `0x${"9".repeat(64)}` };
    expect(abortOf(await harness.runToFailure(importTx(user, unknown)))).toBe("coordinator_inner 5");
    expect(abortOf(await harness.runToFailure(importTx(user)))).toBe("dynamic_field 1");
  });

  test("the network's rejection ends in the rejected states of the dWallet and the share", async () => {
    const user = createUser();
    await registerKey(harness, user);
    const executed = await harness.run(importTx(user, { message: Uint8Array.of(0xff) }));
    const request = requestOf(executed as never, DWalletImportedKeyVerificationRequestEvent);
    const settled = (value: { state: { $kind: string } }) => !value.state.$kind.startsWith("Awaiting");
    const dwallet = await contentsWhen(harness, request.dwallet_id, DWallet, settled);
    expect(dwallet.state.$kind).toBe("NetworkRejectedImportedKeyVerification");
    expect(dwallet.is_imported_key_dwallet).toBe(true);
    const shareId = request.encrypted_user_secret_key_share_id;
    const share = await contentsWhen(harness, shareId, EncryptedUserSecretKeyShare, settled);
    expect(share.state.$kind).toBe("NetworkVerificationRejected");
  });
});

describe("presigns and signatures of imported keys", () => {
  const presign = (dwalletId: string, algorithm: number) =>
    pay((tx, { coordinator, identifier, ika, sui }) =>
      calls.requestPresign(harness.config, coordinator, dwalletId, algorithm, identifier, ika, sui, tx),
    );

  async function readyPresign(dwalletId: string): Promise<{ id: string; capId: string }> {
    return presignOf(await harness.run(presign(dwalletId, 0)));
  }

  async function globalPresign(curve: number, networkKeyId = harness.net.networkEncryptionKeyId) {
    const executed = await harness.run(
      pay((tx, { coordinator, identifier, ika, sui }) =>
        calls.requestGlobalPresign(
          harness.config,
          coordinator,
          networkKeyId,
          curve,
          0,
          identifier,
          ika,
          sui,
          tx,
        ),
      ),
    );
    return presignOf(executed);
  }

  async function presignOf(executed: Executed): Promise<{ id: string; capId: string }> {
    const [id] = presignIdsOf(executed) as [string];
    const done = (value: typeof PresignSession.$inferType) => value.state.$kind === "Completed";
    const { cap_id } = await contentsWhen(harness, id, PresignSession, done);
    return { id, capId: cap_id };
  }

  interface SignOptions {
    readonly capId: string;
    readonly presignCapId: string;
    readonly isImported?: boolean;
    readonly algorithm?: number;
    readonly hash?: number;
  }

  const sign = ({ capId, presignCapId, isImported = true, algorithm = 0, hash = 0 }: SignOptions) =>
    pay((tx: Transaction, { coordinator, identifier, ika, sui }: PaidCall) => {
      const { config } = harness;
      const approve = isImported ? calls.approveImportedKeyMessage : calls.approveMessage;
      const request = isImported ? calls.requestImportedKeySign : calls.requestSign;
      const message = new TextEncoder().encode("a message");
      const approval = approve(config, coordinator, tx.object(capId), algorithm, hash, message, tx);
      const verified = calls.verifyPresignCap(config, coordinator, tx.object(presignCapId), tx);
      request(
        config,
        coordinator,
        verified,
        approval,
        new Uint8Array(66),
        identifier,
        ika as never,
        sui as never,
        tx,
      );
    });

  test("ECDSA has presigns for the dWallet, and every other algorithm only global ones", async () => {
    const { dwalletId } = await importedKey();
    const { id } = await readyPresign(dwalletId);
    const session = await contentsWhen(harness, id, PresignSession, () => true);
    expect(session.dwallet_id).toBe(dwalletId);
    expect(abortOf(await harness.runToFailure(presign(dwalletId, 1)))).toBe("coordinator_inner 31");
    const eddsa = await importedKey(2);
    expect(abortOf(await harness.runToFailure(presign(eddsa.dwalletId, 0)))).toBe("coordinator_inner 31");
  });

  test("a dWallet that is not active has no presign", async () => {
    const user = createUser();
    await registerKey(harness, user);
    const executed = await harness.run(importTx(user));
    const { dwallet_id } = requestOf(executed as never, DWalletImportedKeyVerificationRequestEvent);
    expect(abortOf(await harness.runToFailure(presign(dwallet_id, 0)))).toBe("coordinator_inner 2");
  });

  test("ECDSA refuses global presigns and those of another dWallet; EdDSA accepts global ones", async () => {
    const [own, other] = [await importedKey(), await importedKey()];
    const global = await globalPresign(0);
    const refused = await harness.runToFailure(sign({ ...own, presignCapId: global.capId }));
    expect(abortOf(refused)).toBe("coordinator_inner 32");
    const foreign = await readyPresign(other.dwalletId);
    const stolen = await harness.runToFailure(sign({ ...own, presignCapId: foreign.capId }));
    expect(abortOf(stolen)).toBe("coordinator_inner 32");
    await harness.run(sign({ ...other, presignCapId: foreign.capId }));
    const eddsa = await importedKey(2);
    await harness.run(sign({ ...eddsa, presignCapId: (await globalPresign(2)).capId }));
  });

  test("a presign of another curve or another network key is refused in the transaction", async () => {
    const eddsa = await importedKey(2);
    const otherCurve = await harness.runToFailure(
      sign({ ...eddsa, presignCapId: (await globalPresign(3)).capId }),
    );
    expect(abortOf(otherCurve)).toBe("coordinator_inner 1");
    const networkKeyId = await harness.net.controls.rotateNetworkKey();
    const otherKey = await globalPresign(2, networkKeyId);
    const refused = await harness.runToFailure(sign({ ...eddsa, presignCapId: otherKey.capId }));
    expect(abortOf(refused)).toBe("coordinator_inner 14");
  });

  test("a cap of an imported key approves no message of other dWallets", async () => {
    const own = await importedKey();
    const { capId: presignCapId } = await readyPresign(own.dwalletId);
    const failed = await harness.runToFailure(sign({ ...own, presignCapId, isImported: false }));
    expect(failed.status.error?.message).toContain("Invalid command argument at 1");
  });
});
