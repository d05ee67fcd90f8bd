import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Billing } from "../../../../gen/proto/tss/v1/billing_pb.ts";
import { Signing, SignRequest_Status } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { Curve, Hash, SignatureAlgorithm } from "../../../../gen/proto/tss/v1/types_pb.ts";
import { createBillingService } from "../../../../src/service/billing/billing-service.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import { createPresignQueue } from "../../../../src/service/presigns/presign-queue.ts";
import { expireReservations } from "../../../../src/service/signing/loops/expire-loop.ts";
import { createSigningService } from "../../../../src/service/signing/signing-service.ts";
import { checkHalfInline } from "../../../support/crypto/inline-verifier.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { flatPrices } from "../../../support/database/prices.ts";
import {
  dwalletOf,
  layoutOfSignMessage,
  objectId,
  projectWith,
  readyPresigns,
  TEST_ORIGIN,
  type TestDWalletRow,
} from "../../../support/database/rows.ts";
import { clientOf, refusalOf } from "../../../support/service/service-client.ts";

const message = new TextEncoder().encode("message");
const signals = createLocalSignals();
let database: Database;
let projectId: string;
let dwallet: TestDWalletRow;
let presignIds: string[];
let signing: ReturnType<typeof clientOf<typeof Signing>>;
let billing: ReturnType<typeof clientOf<typeof Billing>>;

beforeAll(async () => {
  database = await openTestDatabase();
  projectId = await projectWith(database, 1_000n);
  dwallet = await dwalletOf(database, projectId);
  presignIds = await readyPresigns(database, dwallet.bucket, 8);
  const caller = () =>
    ({
      kind: "project",
      projectId,
      apiKeyId: newId(),
      network: "localnet",
      scopes: ["sign"],
      origin: TEST_ORIGIN,
    }) as const;
  const presigns = createPresignQueue({ clock: systemClock, signals });
  const deps = {
    database,
    signals,
    presigns,
    checkHalf: checkHalfInline,
    prices: flatPrices(10n),
    reservationTtlMs: 60_000,
    openMaxCount: 100,
  };
  signing = clientOf(Signing, createSigningService({ ...deps, clock: systemClock }), caller);
  billing = clientOf(
    Billing,
    createBillingService({ database, signals, clock: systemClock, prices: flatPrices(10n) }),
    caller,
  );
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

const request = () => ({
  dwalletId: dwallet.objectId,
  signatureAlgorithm: SignatureAlgorithm.ECDSASecp256k1,
  hashScheme: Hash.SHA256,
  message,
});

it("a request is shown in each step, without the fields that it does not have yet", async () => {
  const before = Date.now();
  const reserved = await signing.reserveSign(request());
  expect(reserved).toMatchObject({
    status: SignRequest_Status.prepared,
    presignId: presignIds[0],
    dwalletPublicOutput: Uint8Array.of(1, 2, 3),
    priceMicroUsd: 10n,
  });
  expect(reserved.presign).toHaveLength(16);
  expect(timestampDate(reserved.expireTime!).getTime()).toBeGreaterThanOrEqual(before + 59_000);
  expect(await billing.getBalance({})).toMatchObject({ balanceMicroUsd: 1_000n, heldMicroUsd: 10n });

  const { signRequestId } = reserved;
  await signing.submitSign({ signRequestId, userSignMessage: layoutOfSignMessage() });
  const shown = await signing.getSign({ signRequestId });
  expect(shown).toMatchObject({
    signRequestId,
    status: SignRequest_Status.queued,
    dwalletId: dwallet.objectId,
    curve: Curve.SECP256K1,
    signatureAlgorithm: SignatureAlgorithm.ECDSASecp256k1,
    hashScheme: Hash.SHA256,
    message,
    presignId: presignIds[0],
    priceMicroUsd: 10n,
  });
  expect([shown.txDigest, shown.signSessionId, shown.signature, shown.failure]).toEqual(
    Array(4).fill(undefined),
  );
  expect(await billing.getBalance({})).toMatchObject({ balanceMicroUsd: 990n, heldMicroUsd: 0n });
});

it("the header idempotency-key repeats a reservation, and its reuse for another one is refused", async () => {
  const headers = { "idempotency-key": "order-7" };
  const first = await signing.reserveSign(request(), { headers });
  const again = await signing.reserveSign(request(), { headers });
  expect(again).toEqual(first);
  const other = { ...request(), message: Uint8Array.of(1) };
  expect(await refusalOf(signing.reserveSign(other, { headers }))).toBe("IDEMPOTENCY_KEY_REUSED");
  const odd = { "idempotency-key": "x".repeat(256) };
  expect(await refusalOf(signing.reserveSign(request(), { headers: odd }))).toBe("VALIDATION");
});

it("a repeat of an expired reservation shows that it expired, without its presign", async () => {
  const headers = { "idempotency-key": "too-late" };
  const { signRequestId } = await signing.reserveSign(request(), { headers });
  await database.query("UPDATE sign_request SET expires_at = now() WHERE id = $1", [signRequestId]);
  await expireReservations(database, signals, 10);
  const again = await signing.reserveSign(request(), { headers });
  expect(again).toMatchObject({
    signRequestId,
    status: SignRequest_Status.failed,
    presign: new Uint8Array(),
  });
  expect((await signing.getSign({ signRequestId })).failure).toMatchObject({
    reason: "RESERVATION_EXPIRED",
    refunded: false,
  });
});

it.each([
  ["algorithm and hash that do not go together", { hashScheme: Hash.SHA512 }, "UNSUPPORTED_ALGORITHM"],
  [
    "an algorithm of another curve",
    { signatureAlgorithm: SignatureAlgorithm.ECDSASecp256r1 },
    "UNSUPPORTED_ALGORITHM",
  ],
  ["an unknown dWallet", { dwalletId: objectId() }, "DWALLET_NOT_FOUND"],
  ["a message of 16,382 bytes", { message: new Uint8Array(16_382) }, "MESSAGE_TOO_LARGE"],
])("a reservation with %s is refused", async (_, change, reason) => {
  expect(await refusalOf(signing.reserveSign({ ...request(), ...change }))).toBe(reason);
});

it("an unknown sign request is not found by GetSign and SubmitSign", async () => {
  const signRequestId = newId();
  expect(await refusalOf(signing.getSign({ signRequestId }))).toBe("SIGN_REQUEST_NOT_FOUND");
  const userSignMessage = layoutOfSignMessage();
  expect(await refusalOf(signing.submitSign({ signRequestId, userSignMessage }))).toBe(
    "SIGN_REQUEST_NOT_FOUND",
  );
});
