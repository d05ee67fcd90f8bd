/**
 * A project sees nothing of another's, and a caller that is confined to users or dWallets nothing of others': every method
 * that takes a resource's id answers as for an unknown one.
 */

import { create, type DescMethod } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ErrorInfoSchema } from "../../../../gen/proto/google/rpc/error_details_pb.ts";
import { Account } from "../../../../gen/proto/tss/v1/account_pb.ts";
import { ExitDrill_Outcome, Onboarding } from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Sessions } from "../../../../gen/proto/tss/v1/sessions_pb.ts";
import { Sharing } from "../../../../gen/proto/tss/v1/sharing_pb.ts";
import { Signing } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { Curve, Hash, SignatureAlgorithm } from "../../../../gen/proto/tss/v1/types_pb.ts";
import { createAccountService } from "../../../../src/service/access/account-service.ts";
import type { Confinement } from "../../../../src/service/access/allowances/allowance.ts";
import { SCOPES } from "../../../../src/service/access/caller.ts";
import { methodPolicy } from "../../../../src/service/access/method-policy.ts";
import { createOnboardingService } from "../../../../src/service/onboarding/onboarding-service.ts";
import { createSharingService } from "../../../../src/service/onboarding/sharing/sharing-service.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { ERROR_CATALOGUE } from "../../../../src/service/platform/errors/catalogue.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import { createPresignQueue } from "../../../../src/service/presigns/presign-queue.ts";
import { createSigningService } from "../../../../src/service/signing/signing-service.ts";
import { createSessionDeps, insertSession } from "../../../../src/service/users/sessions.ts";
import { createSessionsService } from "../../../../src/service/users/sessions-service.ts";
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
import { webhooksOf } from "../../../support/service/webhooks.ts";
import { METHODS } from "./contract-calls.ts";

/** The fields that identify a project's resource: those for which the catalogue has a NOT_FOUND. */
const resources = METHODS.filter((method) => methodPolicy(method).access === "project").flatMap((method) =>
  method.input.fields
    .map(({ name }) => ({ field: name, reason: `${name.replace(/_id$/, "").toUpperCase()}_NOT_FOUND` }))
    .filter(({ field, reason }) => field.endsWith("_id") && reason in ERROR_CATALOGUE)
    // The project has no such dWallet yet. The tests of adoptions are about it, and about the project of the consent.
    .filter(({ field }) => method.name !== "AdoptDWallet" || field === "encryption_key_id")
    // The tests of shares are about the project of the consent.
    .filter(({ field }) => method.name !== "ShareDWallet" || field === "dwallet_id")
    .map((resource) => ({ ...resource, name: method.name, method })),
);

/** Methods that a confined caller may use. */
const ownMethods = METHODS.filter((method) => methodPolicy(method).reach === "own");
/** Their resources. */
const ownResources = resources.filter(({ method }) => ownMethods.includes(method));
/** Their lists. */
const lists = ownMethods
  .filter(({ output }) => output.field["nextPageToken"] !== undefined)
  .map((method) => ({ name: method.name, method }));
/** Other methods without an id in the request, which have their own tests below. */
const WITHOUT_ID = ["GetAccount", "RegisterEncryptionKey"];

let database: Database;
let owner: TestCaller;
let stranger: TestCaller;
/** Callers of the owner's project that are confined to something else, and those that are confined to the resources. */
let outsiders: readonly TestCaller[];
let insiders: readonly TestCaller[];

interface TestCaller {
  readonly projectId: string;
  readonly confinedTo?: Confinement;
}

const ALICE = ["alice"];
const BOB = ["bob", "b%/?"];
const ids: Record<string, string> = {};
const share = objectId();

beforeAll(async () => {
  database = await openTestDatabase();
  const projectId = await projectWith(database, 1_000n);
  owner = { projectId };
  stranger = { projectId: await projectWith(database, 1_000n) };
  const dwallet = await dwalletOf(database, projectId, { userReference: "alice" });
  const second = await dwalletOf(database, projectId, { ...dwallet.bucket, userReference: "alice" });
  const { objectId: bobs } = await dwalletOf(database, projectId, {
    ...dwallet.bucket,
    userReference: "bob",
  });
  const { objectId: ofNobody } = await dwalletOf(database, projectId);
  ids["bobs"] = bobs;
  const confined = (userReferences?: readonly string[], dwalletIds?: readonly string[]): TestCaller => ({
    projectId,
    confinedTo: { userReferences, dwalletIds },
  });
  const [own, both] = [[dwallet.objectId], [dwallet.objectId, second.objectId]];
  outsiders = [
    confined(BOB),
    confined(undefined, [bobs, ofNobody]),
    confined(BOB, own),
    confined(ALICE, [bobs]),
    confined([]),
    confined(undefined, []),
  ];
  insiders = [confined(ALICE), confined(["bob", "alice"]), confined(undefined, both), confined(ALICE, both)];
  await readyPresigns(database, dwallet.bucket, 20);
  const [row] = await database.query<{ keyId: string }>(
    `SELECT k.object_id AS "keyId" FROM dwallet d JOIN encryption_key k ON k.id = d.encryption_key_id
     WHERE d.id = $1`,
    [dwallet.rowId],
  );
  ids["dwallet_id"] = dwallet.objectId;
  ids["encryption_key_id"] = row!.keyId;
  const { signRequestId } = await clientsOf(owner).signing.reserveSign(sign());
  ids["sign_request_id"] = signRequestId;
  await clientsOf(owner).signing.reserveSign({ ...sign(), dwalletId: second.objectId });
  await clientsOf(owner).signing.reserveSign({ ...sign(), dwalletId: bobs });
  const session = { projectId, network: "localnet", userReference: "alice", scopes: ["read"] } as const;
  ids["session_id"] = (
    await database.transaction((db) => insertSession(sessionDeps(), db, TEST_ORIGIN, session))
  ).id;
  const webhooks = webhooksOf(database, projectId);
  for (const field of ["webhook_endpoint_id", "doomed_endpoint_id"]) {
    const { endpoint } = await webhooks.createWebhookEndpoint({ url: "https://hooks.example/" });
    ids[field] = endpoint!.webhookEndpointId;
  }
  const { delivery } = await webhooks.testWebhookEndpoint({ webhookEndpointId: ids["webhook_endpoint_id"]! });
  ids["webhook_delivery_id"] = delivery!.webhookDeliveryId;
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
  AdoptDWallet: () => ({
    dwalletId: objectId(),
    encryptionKeyId: ids["encryption_key_id"],
    encryptedUserSecretKeyShareId: objectId(),
    sessionDigest: new Uint8Array(32),
    chain: new Uint8Array(32),
    treasuryId: objectId(),
    projectId: newId(),
    expiresEpoch: 1n,
    signature: new Uint8Array(64),
  }),
  ShareDWallet: () => ({
    dwalletId: ids["dwallet_id"],
    recipientAddress: objectId(),
    encryptedUserShareAndProof: new Uint8Array(1),
    projectId: newId(),
    expiresEpoch: 1n,
    signature: new Uint8Array(64),
  }),
  AcceptShare: () => ({
    dwalletId: ids["dwallet_id"],
    encryptedUserSecretKeyShareId: share,
    userOutputSignature: new Uint8Array(64),
  }),
  ListHolders: () => ({ dwalletId: ids["dwallet_id"] }),
  RemoveHolder: () => ({ dwalletId: ids["dwallet_id"], holderAddress: objectId() }),
  LeaveDWallet: () => ({ ...consent(), recipient: objectId() }),
  RefuseRelease: consent,
  ReportExitDrill: () => ({
    dwalletId: ids["dwallet_id"],
    outcome: ExitDrill_Outcome.could_leave,
    checkTime: { $typeName: "google.protobuf.Timestamp", seconds: 0n, nanos: 0 },
  }),
  GetDWallet: () => ({ dwalletId: ids["dwallet_id"] }),
  ReserveSign: sign,
  SubmitSign: () => ({
    signRequestId: ids["sign_request_id"],
    userSignMessage: layoutOfSignMessage(),
  }),
  ReleaseSign: () => ({ signRequestId: ids["sign_request_id"] }),
  CancelSign: () => ({ signRequestId: ids["sign_request_id"] }),
  GetSign: () => ({ signRequestId: ids["sign_request_id"] }),
  WatchSign: () => ({ signRequestId: ids["sign_request_id"] }),
  GetWebhookEndpoint: () => ({ webhookEndpointId: ids["webhook_endpoint_id"] }),
  UpdateWebhookEndpoint: () => ({ webhookEndpointId: ids["webhook_endpoint_id"] }),
  DeleteWebhookEndpoint: () => ({ webhookEndpointId: ids["doomed_endpoint_id"] }),
  RotateWebhookSecret: () => ({ webhookEndpointId: ids["webhook_endpoint_id"] }),
  TestWebhookEndpoint: () => ({ webhookEndpointId: ids["webhook_endpoint_id"] }),
  ReplayWebhookEvents: () => ({
    webhookEndpointId: ids["webhook_endpoint_id"],
    startTime: { $typeName: "google.protobuf.Timestamp", seconds: 0n, nanos: 0 },
  }),
  ListWebhookDeliveries: () => ({ webhookEndpointId: ids["webhook_endpoint_id"] }),
  ResendWebhookDelivery: () => ({ webhookDeliveryId: ids["webhook_delivery_id"] }),
  GetSession: () => ({ sessionId: ids["session_id"] }),
  RevokeSession: () => ({ sessionId: ids["session_id"] }),
  ListSigns: () => ({ dwalletId: ids["dwallet_id"] }),
};

const known = new Map<TestCaller, ReturnType<typeof createClients>>();

/** The services as this caller reaches them. No case here reaches the chain. */
function clientsOf(caller: TestCaller): ReturnType<typeof createClients> {
  const clients = known.get(caller) ?? createClients(caller);
  known.set(caller, clients);
  return clients;
}

function createClients({ projectId, confinedTo }: TestCaller) {
  const signals = createLocalSignals();
  const presigns = createPresignQueue({ clock: systemClock, signals });
  const caller = () => ({
    ...({ kind: "project", network: "localnet", scopes: SCOPES, origin: TEST_ORIGIN } as const),
    projectId,
    apiKeyId: newId(),
    allowance: confinedTo && { id: newId(), algorithms: undefined, budget: undefined, ...confinedTo },
  });
  const deps = {
    database,
    signals,
    dkgsPerDay: 1,
    usersMaxCount: 10,
    network: { name: "localnet", senderAddress: objectId(), treasury: { treasuryId: objectId() } },
    reader: {},
    parameters: {},
    parameterStore: {},
  } as never;
  const onboarding = createOnboardingService(deps);
  const signing = createSigningService({
    clock: systemClock,
    database,
    signals,
    presigns,
    checkHalf: checkHalfInline,
    prices: flatPrices(10n),
    reservationTtlMs: 60_000,
    openMaxCount: 100,
  });
  return {
    account: clientOf(Account, createAccountService({ database }), caller),
    onboarding: clientOf(Onboarding, onboarding, caller),
    sharing: clientOf(Sharing, createSharingService(deps), caller),
    signing: clientOf(Signing, signing, caller),
    webhooks: webhooksOf(database, projectId),
    sessions: clientOf(Sessions, createSessionsService(sessionDeps()), caller),
  };
}

const sessionDeps = () => createSessionDeps({ database, usersMaxCountOf: () => 10, lookup: { forget() {} } });

async function call(caller: TestCaller, method: DescMethod, change: object = {}): Promise<unknown> {
  const request = REQUESTS[method.name] ?? (() => ({}));
  const { onboarding, sharing, signing, sessions, webhooks } = clientsOf(caller);
  const clients: Record<string, object> = {
    ...{ Onboarding: onboarding, Sharing: sharing, Signing: signing, Sessions: sessions, Webhooks: webhooks },
  };
  const client = clients[method.parent.name] as Record<
    string,
    (message: unknown) => Promise<unknown> | AsyncIterable<unknown>
  >;
  const reply = client[method.localName]!(create(method.input, { ...request(), ...change }));
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

/** Returns all that a refusal says, without the id that it is about. */
async function wordsOf(refused: Promise<unknown>, id: string): Promise<string> {
  const error = ConnectError.from(await refused.catch((reason: unknown) => reason));
  const { reason, metadata } = error.findDetails(ErrorInfoSchema)[0] ?? {};
  return JSON.stringify([error.code, error.rawMessage, reason, metadata]).replaceAll(id, "the id");
}

describe("another user's", () => {
  it.each(ownResources)(
    "$field is answered by $name like an unknown one",
    async ({ method, reason, field }) => {
      const name = method.input.fields.find((each) => each.name === field)!.localName;
      const unknown = field === "sign_request_id" ? newId() : objectId();
      for (const outsider of outsiders) {
        const refused = wordsOf(call(outsider, method), ids[field]!);
        expect(await refused).toBe(await wordsOf(call(outsider, method, { [name]: unknown }), unknown));
        const makes = ["CreateDWallet", "AdoptDWallet"].includes(method.name);
        const expected = makes && outsider.confinedTo?.dwalletIds !== undefined ? "OUT_OF_REACH" : reason;
        // Confined to no user, it cannot say for whom it makes a dWallet.
        const isForNobody = makes && outsider.confinedTo?.userReferences?.length !== 1;
        if (!isForNobody || expected === "OUT_OF_REACH") expect(await refused).toContain(expected);
      }
      for (const insider of insiders) expect(await refusalOf(call(insider, method))).not.toBe(reason);
    },
  );

  const refersTo = (value: unknown) =>
    JSON.stringify(value, (_key, each) => (typeof each === "bigint" ? String(each) : each));

  it.each(lists)(
    "resources are not in the pages of $name, and its page tokens fit no other caller",
    async ({ method }) => {
      const all = { dwalletId: undefined, pageSize: 1 };
      for (const insider of insiders) {
        const page = (await call(insider, method, all)) as { nextPageToken: string };
        expect(page.nextPageToken).not.toBe("");
        for (const outsider of outsiders) {
          const next = call(outsider, method, { ...all, pageToken: page.nextPageToken });
          expect(await refusalOf(next)).toBe("VALIDATION");
        }
      }
      for (const outsider of outsiders) {
        const page = refersTo(await call(outsider, method, { ...all, pageSize: 200 }));
        for (const field of ["dwallet_id", "encryption_key_id", "sign_request_id"])
          expect(page).not.toContain(ids[field]!);
        expect(page).not.toContain("alice");
        // The filter by another user finds what the filter by an unknown one finds.
        const named = (userReference: string) => call(outsider, method, { ...all, userReference });
        expect(refersTo(await named("alice"))).toBe(refersTo(await named("nobody")));
      }
    },
  );

  it("idempotency key neither returns the user's request nor blocks another user", async () => {
    const headers = { "idempotency-key": "order-7" };
    const [alice, bob] = [insiders[0]!, outsiders[0]!];
    const first = await clientsOf(alice).signing.reserveSign(sign(), { headers });
    expect(await clientsOf(alice).signing.reserveSign(sign(), { headers })).toEqual(first);
    const bobs = { ...sign(), dwalletId: ids["bobs"]! };
    const second = await clientsOf(bob).signing.reserveSign(bobs, { headers });
    const third = await clientsOf(owner).signing.reserveSign(sign(), { headers });
    expect(new Set([first, second, third].map(({ signRequestId }) => signRequestId)).size).toBe(3);
  });
});

describe("a confined caller", () => {
  it("reads its project's name and its own permissions", async () => {
    const { projectId } = await clientsOf(insiders[0]!).account.getAccount({});
    expect(projectId).toBe(owner.projectId);
  });

  it("decides for every method of a project", () => {
    const tested = [...ownResources, ...lists].map(({ name }) => name);
    expect(ownMethods.map(({ name }) => name).sort()).toEqual(
      [...new Set([...tested, ...WITHOUT_ID])].sort(),
    );
  });
});

it("every method that takes a resource is found by its fields", () => {
  expect([...new Set(resources.map(({ name }) => name))].sort()).toEqual(Object.keys(REQUESTS).sort());
});
