/** A project sees nothing of another's: every method that takes a resource's id answers that it does not exist. */

import { create, type DescMethod } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Onboarding } from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Signing } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { Curve, Hash, SignatureAlgorithm } from "../../../../gen/proto/tss/v1/types_pb.ts";
import { SCOPES } from "../../../../src/service/access/caller.ts";
import { methodPolicy } from "../../../../src/service/access/method-policy.ts";
import { createOnboardingService } from "../../../../src/service/onboarding/onboarding-service.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { ERROR_CATALOGUE } from "../../../../src/service/platform/errors/catalogue.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import { createPresignQueue } from "../../../../src/service/presigns/presign-queue.ts";
import { createSigningService } from "../../../../src/service/signing/signing-service.ts";
import { dkgOfForm } from "../../../support/crypto/dkg-form.ts";
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
} from "../../../support/database/rows.ts";
import { clientOf, refusalOf } from "../../../support/service/service-client.ts";
import { METHODS } from "./contract-calls.ts";

/** The fields that identify a project's resource: those for which the catalogue has a NOT_FOUND. */
const resources = METHODS.filter((method) => methodPolicy(method).access === "project").flatMap((method) =>
  method.input.fields
    .map(({ name }) => ({ field: name, reason: `${name.replace(/_id$/, "").toUpperCase()}_NOT_FOUND` }))
    .filter(({ field, reason }) => field.endsWith("_id") && reason in ERROR_CATALOGUE)
    .map((resource) => ({ ...resource, name: method.name, method })),
);

let database: Database;
let owner: string;
let stranger: string;
const ids: Record<string, string> = {};
const share = objectId();

beforeAll(async () => {
  database = await openTestDatabase();
  [owner, stranger] = [await projectWith(database, 1_000n), await projectWith(database, 1_000n)];
  const dwallet = await dwalletOf(database, owner);
  await readyPresigns(database, dwallet.bucket, 2);
  const [row] = await database.query<{ keyId: string }>(
    `SELECT k.object_id AS "keyId" FROM dwallet d JOIN encryption_key k ON k.id = d.encryption_key_id
     WHERE d.id = $1`,
    [dwallet.rowId],
  );
  ids["dwallet_id"] = dwallet.objectId;
  ids["encryption_key_id"] = row!.keyId;
  const { signRequestId } = await clientsOf(owner).signing.reserveSign(sign());
  ids["sign_request_id"] = signRequestId;
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

const sign = () => ({
  dwalletId: ids["dwallet_id"]!,
  signatureAlgorithm: SignatureAlgorithm.ECDSASecp256k1,
  hashScheme: Hash.SHA256,
  message: Uint8Array.of(1),
});

const consent = () => ({
  dwalletId: ids["dwallet_id"],
  chain: new Uint8Array(32),
  treasuryId: objectId(),
  nonce: 0n,
  expiresEpoch: 1n,
  publicKey: new Uint8Array(32),
  signature: new Uint8Array(64),
});

/** A valid request of each method, as the owner could send it. */
const REQUESTS: Record<string, () => Record<string, unknown>> = {
  CreateDWallet: () => ({
    encryptionKeyId: ids["encryption_key_id"],
    curve: Curve.SECP256K1,
    networkEncryptionKeyId: objectId(),
    senderAddress: objectId(),
    sessionIdentifier: new Uint8Array(32),
    ...dkgOfForm(),
    signerPublicKey: new Uint8Array(32),
  }),
  AcceptDWallet: () => ({
    dwalletId: ids["dwallet_id"],
    encryptedUserSecretKeyShareId: share,
    userOutputSignature: new Uint8Array(64),
  }),
  LeaveDWallet: () => ({ ...consent(), recipient: objectId() }),
  RefuseRelease: consent,
  GetDWallet: () => ({ dwalletId: ids["dwallet_id"] }),
  ReserveSign: sign,
  SubmitSign: () => ({
    signRequestId: ids["sign_request_id"],
    userSignMessage: layoutOfSignMessage(),
  }),
  GetSign: () => ({ signRequestId: ids["sign_request_id"] }),
  WatchSign: () => ({ signRequestId: ids["sign_request_id"] }),
  ListSigns: () => ({ dwalletId: ids["dwallet_id"] }),
};

/** The services as this project's caller reaches them. No case here reaches the chain. */
function clientsOf(projectId: string) {
  const signals = createLocalSignals();
  const presigns = createPresignQueue({ clock: systemClock, signals });
  const caller = () => ({
    ...({ kind: "project", network: "localnet", scopes: SCOPES, origin: TEST_ORIGIN } as const),
    projectId,
    apiKeyId: newId(),
  });
  const onboarding = createOnboardingService({
    database,
    signals,
    dkgsPerDay: 1,
    network: { name: "localnet", senderAddress: objectId() },
    reader: {},
    parameters: {},
    parameterStore: {},
  } as never);
  const signing = createSigningService({
    clock: systemClock,
    database,
    signals,
    presigns,
    checkHalf: checkHalfInline,
    prices: flatPrices(10n),
    reservationTtlMs: 60_000,
    openMaxCount: 10,
  });
  return {
    onboarding: clientOf(Onboarding, onboarding, caller),
    signing: clientOf(Signing, signing, caller),
  };
}

async function call(projectId: string, method: DescMethod): Promise<unknown> {
  const request = REQUESTS[method.name];
  if (request === undefined) throw new Error(`there is no request of ${method.name} to try`);
  const { onboarding, signing } = clientsOf(projectId);
  const client = (method.parent.name === "Signing" ? signing : onboarding) as unknown as Record<
    string,
    (message: unknown) => Promise<unknown> | AsyncIterable<unknown>
  >;
  const reply = client[method.localName]!(create(method.input, request()));
  if (method.methodKind === "unary") return reply;
  // The first message of a stream counts as the reply.
  for await (const message of reply as AsyncIterable<unknown>) return message;
  return undefined;
}

describe("another project's", () => {
  it.each(resources)("$field is not found by $name", async ({ method, reason }) => {
    expect(await refusalOf(call(stranger, method))).toBe(reason);
    // The owner's call gets further, whatever the outcome, because the resource exists.
    expect(await refusalOf(call(owner, method))).not.toBe(reason);
  });
});

it("every method that takes a resource is found by its fields", () => {
  expect([...new Set(resources.map(({ name }) => name))].sort()).toEqual(Object.keys(REQUESTS).sort());
});
