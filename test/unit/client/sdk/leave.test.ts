/** A user who leaves, on a service that may lie; and a user who could not leave, and must learn it in time. */
import { createPublicKey, verify } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { fromBase58 } from "@mysten/sui/utils";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { LeaveDWalletRequest } from "../../../../gen/client/tss/v1/onboarding_pb.ts";
import { onboard } from "../../../../src/client/sdk/actions/onboard.ts";
import { createCustodyActions } from "../../../../src/client/sdk/custody/custody-actions.ts";
import { treasuryConsentBytes } from "../../../../src/protocol/chain/treasury-custody.ts";
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
const args = () => ({ seed: Uint8Array.from(SEED), dwalletId: DWALLET_ID, recipient: RECIPIENT });

describe("leaving", () => {
  let fake: FakeService;
  const leave = () => createCustodyActions(fake.context).leave(args());
  beforeEach(() => {
    fake = createFakeService();
  });
  afterEach(() => void vi.restoreAllMocks());

  it("sends the owner's signature of exactly this exit, and never the seed", async () => {
    expect(await leave()).toMatchObject({ dwalletId: DWALLET_ID, recipient: RECIPIENT });
    const request = fake.seen.find(({ method }) => method === "leaveDWallet")!.request as LeaveDWalletRequest;
    const { dwalletId, treasuryId, recipient, chain, nonce, expiresEpoch, publicKey, signature } = request;
    expect([dwalletId, treasuryId, recipient, nonce]).toEqual([DWALLET_ID, TREASURY_ID, RECIPIENT, 0n]);
    expect(chain).toEqual(fromBase58("4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S"));
    const signed = { action: "leave", chain, treasuryId, dwalletId, recipient, nonce, expiresEpoch } as const;
    const key = createPublicKey({
      key: Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), publicKey]),
      ...({ format: "der", type: "spki" } as const),
    });
    expect(verify(null, treasuryConsentBytes(signed), key, signature)).toBe(true);
    const sent = JSON.stringify(fake.seen, (_, value) => (typeof value === "bigint" ? String(value) : value));
    expect(sent).not.toContain(JSON.stringify([...SEED]).slice(1, -1));
    expect(sent).not.toContain(Buffer.from(SEED).toString("hex"));
  });

  it("rejects a malformed argument, like every other action", async () => {
    const actions = createCustodyActions(fake.context);
    for (const act of [actions.leave, actions.signLeave, actions.refuseRelease, actions.signRefusal]) {
      const rejected = act({ ...args(), dwalletId: "0x1g" });
      await expect(rejected).rejects.toMatchObject({
        reason: "VALIDATION",
        metadata: { field: "dwalletId" },
      });
    }
  });

  it("does not trust a service that only claims that the exit is done", async () => {
    fake.script.leave = () => {};
    const now = performance.now.bind(performance);
    let laterMs = 0;
    vi.spyOn(performance, "now").mockImplementation(() => now() + laterMs);
    const onProgress = (stage: string): void => {
      if (stage === "verify") laterMs = 31_000;
    };
    const left = createCustodyActions(fake.context).leave(args(), { onProgress });
    await expect(left).rejects.toMatchObject({ reason: "EXIT_UNCONFIRMED" });
  });

  it("does not accept an exit to another recipient as its own", async () => {
    fake.script.leave = () => {
      fake.script.custodyOwner = undefined;
      fake.script.capHolder = () => OTHER;
    };
    await expect(leave()).rejects.toMatchObject({
      reason: "DWALLET_LEFT",
      metadata: { owner: OTHER },
    });
  });

  it("succeeds if the chain shows the exit, even if the service claims that it refused", async () => {
    fake.script.leave = (recipient) => {
      fake.script.custodyOwner = undefined;
      fake.script.capHolder = () => recipient;
      throw serviceError(Code.FailedPrecondition, "CHAIN_REJECTED");
    };
    expect(await leave()).toMatchObject({ recipient: RECIPIENT, transactionDigest: null });
  });

  it("ends with the service's reason if it refuses and the chain shows no exit", async () => {
    fake.script.leave = () => {
      throw serviceError(Code.FailedPrecondition, "WRONG_STATE");
    };
    await expect(leave()).rejects.toMatchObject({ reason: "WRONG_STATE" });
  });

  it("signs nothing for a dWallet of another owner", async () => {
    fake.script.custodyOwner = OTHER;
    await expect(leave()).rejects.toMatchObject({ reason: "NOT_OWNER" });
    expect(fake.counts()["leaveDWallet"]).toBeUndefined();
  });
});

describe("an onboarding", () => {
  it.each([
    ["the Treasury does not hold the capability", { custodyOwner: undefined }],
    ["the Treasury records another owner", { custodyOwner: OTHER }],
    ["an address has the capability", { capHolder: () => OTHER }],
  ] as const)("is refused before the acceptance if %s", async (_, change) => {
    const fake = createFakeService();
    Object.assign(fake.script, change);
    const made = onboard(fake.context, { seed: SEED, curve: "ED25519" });
    await expect(made).rejects.toMatchObject({ reason: "CUSTODY_MISMATCH" });
    expect(fake.counts()["acceptDWallet"]).toBeUndefined();
  });
});
