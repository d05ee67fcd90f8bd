/** What a half that is given for later is given for, and to which services. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { beforeEach, expect, it } from "vitest";
import type { ReserveSignRequest } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import {
  SignRequest_Hold_State as State,
  SignRequest_Status as Status,
} from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { type SignLaterArgs, signLater } from "../../../../src/client/sdk/actions/later/sign-later.ts";
import { resumeSign } from "../../../../src/client/sdk/actions/signing/sign.ts";
import { watchSign } from "../../../../src/client/sdk/actions/signing/watch-sign.ts";
import { flipBit } from "../../../support/crypto/signature-vectors.ts";
import {
  createFakeService,
  DWALLET,
  DWALLET_ID,
  type FakeService,
  HOLD_EXPIRES_AT,
  MESSAGE,
  SEED,
  SIGN_REQUEST_ID,
} from "./fake-service.ts";

const args: SignLaterArgs = {
  seed: SEED,
  dwalletId: DWALLET_ID,
  curve: "ED25519",
  signatureAlgorithm: "EdDSA",
  hashScheme: "SHA512",
  message: MESSAGE,
  userSecretKeyShareHex: bytesToHex(DWALLET.userSecretKeyShare),
  holdSeconds: 3_600,
};
let service: FakeService;

beforeEach(() => {
  service = createFakeService();
  service.script.dwalletState = () => ({ Active: DWALLET.output });
  service.script.signStatuses = [Status.queued];
  service.script.holdStates = [State.verifying, State.verifying, State.held];
});

it("gives the half, and returns once the network has verified it", async () => {
  await expect(signLater(service.context, args, { idempotencyKey: "k" })).resolves.toEqual({
    signRequestId: SIGN_REQUEST_ID,
    expiresAt: HOLD_EXPIRES_AT,
    txDigest: "half digest",
  });
  const reserved = service.seen.find(({ method }) => method === "reserveSign");
  expect((reserved!.request as ReserveSignRequest).holdSeconds).toBe(3_600);
  expect(reserved!.headers.get("idempotency-key")).toBe("k");
  expect(service.counts()).toMatchObject({ reserveSign: 1, submitSign: 1 });
});

it.each([undefined, 7_200])(
  "gives no half to a service that confirms a hold of %s seconds",
  async (confirmed) => {
    service.script.reservedHoldSeconds = () => confirmed;
    await expect(signLater(service.context, args)).rejects.toMatchObject({ reason: "WRONG_STATE" });
    expect(service.counts()).not.toHaveProperty("submitSign");
  },
);

it("fails with the reason of a half that the network rejects", async () => {
  service.script.signStatuses = [Status.queued, Status.failed];
  service.script.failureReason = "NETWORK_REJECTED";
  await expect(signLater(service.context, args)).rejects.toMatchObject({ reason: "NETWORK_REJECTED" });
});

it.each([59, 2_592_001, 60.5, Number.NaN])("refuses to hold for %s seconds", async (holdSeconds) => {
  await expect(signLater(service.context, { ...args, holdSeconds })).rejects.toMatchObject({
    reason: "VALIDATION",
    metadata: { field: "holdSeconds" },
  });
  expect(service.seen).toEqual([]);
});

it("shows each state of the hold to a watcher", async () => {
  service.script.signStatuses = [...Array(4).fill(Status.queued), Status.submitted, Status.completed];
  service.script.holdStates = [State.verifying, State.verifying, State.held, State.released];
  const seen: unknown[] = [];
  for await (const { status, hold } of watchSign(service.context, { signRequestId: SIGN_REQUEST_ID }))
    seen.push([status, hold?.state]);
  expect(seen).toEqual([
    [Status.queued, State.verifying],
    [Status.queued, State.held],
    [Status.queued, State.released],
    [Status.submitted, State.released],
    [Status.completed, State.released],
  ]);
});

it("accepts no signature that a service claims for a half but that the dWallet has not made", async () => {
  service.script.signStatuses = [Status.completed];
  service.script.holdStates = [State.released];
  service.script.signature = () => flipBit(DWALLET.sign(MESSAGE), 0);
  const waiting = resumeSign(service.context, { signRequestId: SIGN_REQUEST_ID });
  await expect(waiting).rejects.toMatchObject({ reason: "SIGNATURE_INVALID" });
});
