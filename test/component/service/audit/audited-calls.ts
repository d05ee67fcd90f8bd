import { randomBytes } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { ed25519 } from "@noble/curves/ed25519.js";
import { treasuryConsentBytes } from "../../../../src/protocol/chain/treasury-custody.ts";
import { suiAddress } from "../../../../src/protocol/signatures/addresses.ts";
import { SCOPES } from "../../../../src/service/access/caller.ts";
import {
  createIdentityProvider,
  type IdentityProvider,
} from "../../../../src/service/access/identity/identity-providers.ts";
import { insertAdminKey } from "../../../../src/service/access/keys/admin-keys.ts";
import { insertApiKey } from "../../../../src/service/access/keys/api-keys.ts";
import { depositAddress } from "../../../../src/service/billing/deposits/deposit-address.ts";
import { scanAddress } from "../../../../src/service/billing/deposits/scan-address.ts";
import { holdSteps, keyCaller } from "../../../support/crypto/hold-steps.ts";
import { signSteps } from "../../../support/crypto/sign-steps.ts";
import { SUI } from "../../../support/database/deposits.ts";
import {
  dwalletOf,
  layoutOfSignMessage,
  objectId,
  readyPresigns,
  TEST_OPERATOR,
  TEST_ORIGIN,
} from "../../../support/database/rows.ts";
import { sharedWith } from "../../../support/database/shares.ts";
import { ADMIN_KEY, type ErrorStack } from "../platform/errors/error-stack.ts";
import { CHAIN } from "../platform/errors/fake-fullnode.ts";
import { newIdToken, PROVIDER_SETTINGS } from "../platform/errors/provocations/identity-provocations.ts";
import {
  adoption,
  jsonDkg,
  registration,
  userOf,
} from "../platform/errors/provocations/onboarding-provocations.ts";
import { ownSharable, sharing } from "../platform/errors/provocations/sharing-provocations.ts";

/** A call that changes something. */
export interface AuditedCall {
  readonly action: string | readonly string[];
  /** Prepares what the call needs, and returns the key that makes the call. */
  prepare(stack: ErrorStack): Promise<{ readonly key: string; readonly request: JsonObject }>;
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

/** A half that waits for its release. */
async function heldHalf(stack: ErrorStack) {
  const { projectId, key } = await stack.newProject();
  const dwallet = await dwalletOf(stack.database, projectId);
  await readyPresigns(stack.database, dwallet.bucket, 1);
  const signer = await keyCaller(stack.database, projectId, ["sign"]);
  const signRequestId = await holdSteps(stack.database, stack.signals).held(signer, dwallet);
  return { key, request: { signRequestId } };
}

/** A provider whose sessions need no key of a device. */
async function newProvider({ database, ...stack }: ErrorStack): Promise<IdentityProvider> {
  const { projectId } = await stack.newProject();
  const { keySetJson: keySet, ...rules } = PROVIDER_SETTINGS;
  const settings = {
    ...rules,
    ...{ keySet, keySetUrl: undefined, referenceClaim: "sub", algorithms: ["ES256" as const] },
    ...{
      scopes: ["read" as const],
      origins: [],
      budget: undefined,
      tokenMaxAgeSeconds: 600,
      sessionSeconds: 60,
    },
  };
  const options = { allowsInside: false };
  return createIdentityProvider(database, TEST_OPERATOR, undefined, projectId, settings, options);
}

/** A project's key, for operators. */
async function newKeyId({ database, ...stack }: ErrorStack): Promise<string> {
  const { projectId } = await stack.newProject();
  return (await insertApiKey(database, TEST_ORIGIN, { projectId, name: "web", scopes: SCOPES })).id;
}

const HOOK_URL = "https://hooks.example/";

/** A request about a webhook endpoint of a new project. */
async function ownEndpoint(stack: ErrorStack, change: JsonObject = {}) {
  const { key } = await stack.newProject();
  const { endpoint } = await post(stack, key, "/v1/webhooks", { url: HOOK_URL });
  return { key, request: { webhookEndpointId: endpoint!["webhookEndpointId"]!, ...change } };
}

async function post(stack: ErrorStack, key: string, path: string, body: object) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const reply = await fetch(stack.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!reply.ok) throw new Error(await reply.text());
  return (await reply.json()) as Record<string, Record<string, string>>;
}

/** Stores that the database was used with the network, as its first start does. */
async function useNetwork({ database }: ErrorStack): Promise<void> {
  await database.query(
    "INSERT INTO known_network (name, chain_id) VALUES ('localnet', 'chain') ON CONFLICT DO NOTHING",
  );
}

/** The message that the owner of an Active dWallet has signed. */
async function consent(stack: ErrorStack, action: "leave" | "refuse") {
  const { projectId, key } = await stack.newProject();
  const { objectId: dwalletId } = await dwalletOf(stack.database, projectId);
  const { secretKey, publicKey } = ed25519.keygen();
  stack.fullnode.hold({ dwalletId, owner: suiAddress("ED25519", publicKey) });
  const { treasuryId } = stack.fullnode.network.treasury;
  const signed = {
    action,
    chain: CHAIN,
    treasuryId,
    dwalletId,
    nonce: 0n,
    expiresEpoch: 5n,
    ...(action === "leave" && { recipient: objectId() }),
  };
  const signature = ed25519.sign(treasuryConsentBytes(signed), secretKey);
  const { action: _, chain, nonce, expiresEpoch, ...ids } = signed;
  return {
    key,
    request: {
      ...ids,
      chain: base64(chain),
      nonce: String(nonce),
      expiresEpoch: String(expiresEpoch),
      publicKey: base64(publicKey),
      signature: base64(signature),
    },
  };
}

/** A user with a dWallet that has left. */
async function knownUser(stack: ErrorStack) {
  const { projectId, key } = await stack.newProject();
  const reference = "alice/1";
  await dwalletOf(stack.database, projectId, { state: "Left", userReference: reference });
  return { projectId, key, request: { reference } };
}

/** A call of each method that declares `AUDIT_ENTRY`. */
export const AUDITED_CALLS: Readonly<Record<string, AuditedCall>> = {
  CreateProject: {
    action: "project.create",
    prepare: async () => ({ key: ADMIN_KEY, request: { name: "acme" } }),
  },
  CreateApiKey: {
    action: "api_key.create",
    async prepare(stack) {
      const { projectId } = await stack.newProject();
      return { key: ADMIN_KEY, request: { projectId, name: "web", scopes: ["read"] } };
    },
  },
  CreateIdentityProvider: {
    action: "identity_provider.create",
    async prepare(stack) {
      const { projectId } = await stack.newProject();
      return { key: ADMIN_KEY, request: { projectId, settings: PROVIDER_SETTINGS } };
    },
  },
  DeleteIdentityProvider: {
    action: ["identity_provider.end_sessions", "identity_provider.delete"],
    prepare: async (stack) => ({
      key: ADMIN_KEY,
      request: { identityProviderId: (await newProvider(stack)).id },
    }),
  },
  ExchangeToken: {
    action: "session.create",
    async prepare(stack) {
      const { projectId } = await newProvider(stack);
      // The token in the request takes the place of a key.
      return { key: "", request: { projectId, idToken: newIdToken() } };
    },
  },
  RevokeApiKey: {
    action: "api_key.revoke",
    prepare: async (stack) => ({ key: ADMIN_KEY, request: { apiKeyId: await newKeyId(stack) } }),
  },
  RotateApiKey: {
    action: ["api_key.create", "api_key.rotate"],
    prepare: async (stack) => ({ key: ADMIN_KEY, request: { apiKeyId: await newKeyId(stack) } }),
  },
  SetAllowedAddresses: {
    action: "api_key.set_allowed_addresses",
    prepare: async (stack) => ({
      key: ADMIN_KEY,
      request: { apiKeyId: await newKeyId(stack), allowedAddresses: ["192.0.2.1"] },
    }),
  },
  SetAllowedOrigins: {
    action: "api_key.set_allowed_origins",
    prepare: async (stack) => ({
      key: ADMIN_KEY,
      request: { apiKeyId: await newKeyId(stack), allowedOrigins: ["https://app.example"] },
    }),
  },
  CreateSession: {
    action: "session.create",
    async prepare(stack) {
      const { key } = await stack.newProject();
      return { key, request: { userReference: "alice", scopes: ["read"] } };
    },
  },
  RevokeSession: {
    action: "session.revoke",
    async prepare(stack) {
      const { projectId, key } = await stack.newProject();
      await stack.newSession({ projectId });
      const { id } = await stack.database.prisma.session.findFirstOrThrow({ where: { projectId } });
      return { key, request: { sessionId: id } };
    },
  },
  RevokeUserSessions: {
    action: "session.revoke",
    async prepare(stack) {
      const { projectId, key } = await stack.newProject();
      await stack.newSession({ projectId, userReference: "alice" });
      return { key, request: { userReference: "alice" } };
    },
  },
  CreateAdminKey: {
    action: "admin_key.create",
    prepare: async () => ({ key: ADMIN_KEY, request: { name: `alice-${randomBytes(4).toString("hex")}` } }),
  },
  RevokeAdminKey: {
    action: "admin_key.revoke",
    async prepare({ database }) {
      const name = `bob-${randomBytes(4).toString("hex")}`;
      const { id } = await insertAdminKey(database, TEST_ORIGIN, { name });
      return { key: ADMIN_KEY, request: { adminKeyId: id } };
    },
  },
  SetLowBalance: {
    action: "project.low_balance",
    async prepare(stack) {
      const { key } = await stack.newProject();
      return { key, request: { lowBalanceMicroUsd: "5000000" } };
    },
  },
  DeclareDeposit: {
    action: "deposit.credit",
    async prepare({ deposits, chain, prices, ...stack }) {
      const { projectId, key } = await stack.newProject();
      const address = await depositAddress(deposits, { projectId, reference: "" });
      const txDigest = chain.pay(address, [SUI, 1_000_000_000n]);
      // The deposit was seen, and waits for a price.
      prices.SUI = undefined;
      await scanAddress(deposits, { address, projectId });
      prices.SUI = "5";
      return { key, request: { txDigest } };
    },
  },
  ConfirmCoinPrice: {
    action: "price.confirm",
    async prepare({ database }) {
      const coinType = `0x${randomBytes(4).toString("hex")}::coin::WAITING`;
      await database.query(
        `INSERT INTO coin_price (network, coin_type, price_pico_usd, read_at, doubted_pico_usd, doubted_at,
           doubted_since, doubted_for) VALUES ('localnet', $1, 1000000000000, now(), 2000000000000, now(), now(), 'day')`,
        [coinType],
      );
      return { key: ADMIN_KEY, request: { coin: coinType, priceUsd: "2.05" } };
    },
  },
  InspectSubject: {
    action: "subject.inspect",
    async prepare({ database, ...stack }) {
      const { projectId } = await stack.newProject();
      const { objectId: subjectId } = await dwalletOf(database, projectId);
      return { key: ADMIN_KEY, request: { subjectId } };
    },
  },
  AdjustCredit: {
    action: "project.credit",
    async prepare(stack) {
      const { projectId } = await stack.newProject();
      return { key: ADMIN_KEY, request: { projectId, amountMicroUsd: "5", reason: "goodwill" } };
    },
  },
  RefillPresigns: {
    action: "presign.refill",
    prepare: async () => ({ key: ADMIN_KEY, request: { curve: 0, signatureAlgorithm: 1, count: 1 } }),
  },
  DrainNetwork: {
    action: "network.drain",
    async prepare(stack) {
      await useNetwork(stack);
      return { key: ADMIN_KEY, request: {} };
    },
  },
  ResumeNetwork: {
    action: "network.resume",
    async prepare(stack) {
      await useNetwork(stack);
      return { key: ADMIN_KEY, request: {} };
    },
  },
  CreateWebhookEndpoint: {
    action: "webhook.create",
    async prepare(stack) {
      const { key } = await stack.newProject();
      return { key, request: { url: HOOK_URL } };
    },
  },
  UpdateWebhookEndpoint: {
    action: "webhook.update",
    prepare: (stack) => ownEndpoint(stack, { url: "https://hooks.example/other" }),
  },
  DeleteWebhookEndpoint: { action: "webhook.delete", prepare: (stack) => ownEndpoint(stack) },
  RotateWebhookSecret: { action: "webhook.rotate", prepare: (stack) => ownEndpoint(stack) },
  TestWebhookEndpoint: { action: "webhook.test", prepare: (stack) => ownEndpoint(stack) },
  ReplayWebhookEvents: {
    action: "webhook.replay",
    prepare: (stack) => ownEndpoint(stack, { startTime: "2026-01-01T00:00:00Z" }),
  },
  ResendWebhookDelivery: {
    action: "webhook.resend",
    async prepare(stack) {
      const { key, request } = await ownEndpoint(stack);
      const { delivery } = await post(stack, key, `/v1/webhooks/${request["webhookEndpointId"]}/test`, {});
      return { key, request: { webhookDeliveryId: delivery!["webhookDeliveryId"]! } };
    },
  },
  CreateUser: {
    action: "user.create",
    async prepare(stack) {
      const { key } = await stack.newProject();
      return { key, request: { reference: "a/b" } };
    },
  },
  FreezeUser: {
    action: "user.freeze",
    prepare: (stack) => knownUser(stack),
  },
  UnfreezeUser: {
    action: "user.unfreeze",
    async prepare(stack) {
      const call = await knownUser(stack);
      await stack.database.query("UPDATE project_user SET frozen_at = now() WHERE project_id = $1", [
        call.projectId,
      ]);
      return call;
    },
  },
  DeleteUser: {
    action: "user.delete",
    prepare: (stack) => knownUser(stack),
  },
  RegisterEncryptionKey: {
    action: "encryption-key.register",
    async prepare(stack) {
      const { key } = await stack.newProject();
      return { key, request: registration().request };
    },
  },
  CreateDWallet: {
    action: "dwallet.create",
    async prepare(stack) {
      const { projectId, key } = await stack.newProject();
      const user = await userOf(stack, (await dwalletOf(stack.database, projectId)).rowId);
      const request = {
        encryptionKeyId: user.keyId,
        curve: "SECP256K1",
        networkEncryptionKeyId: stack.fullnode.networkKeyId,
        senderAddress: stack.fullnode.network.senderAddress,
        sessionIdentifier: base64(randomBytes(32)),
        ...jsonDkg(),
        signerPublicKey: base64(user.signerPublicKey),
      };
      return { key, request };
    },
  },
  AcceptDWallet: {
    action: "dwallet.accept",
    async prepare(stack) {
      const { projectId, key } = await stack.newProject();
      const dwallet = await dwalletOf(stack.database, projectId, { state: "AwaitingKeyHolderSignature" });
      const { secretKey, publicKey } = ed25519.keygen();
      const [share, output] = [objectId(), randomBytes(16)];
      await stack.database.query(
        `UPDATE dwallet SET encrypted_user_secret_key_share_id = $2, public_output = $3, signer_public_key = $4
         WHERE id = $1`,
        [dwallet.rowId, share, output, publicKey],
      );
      const userOutputSignature = base64(ed25519.sign(output, secretKey));
      return {
        key,
        request: { dwalletId: dwallet.objectId, encryptedUserSecretKeyShareId: share, userOutputSignature },
      };
    },
  },
  AdoptDWallet: {
    action: "dwallet.adopt",
    async prepare(stack) {
      const { projectId, key } = await stack.newProject();
      return { key, request: (await adoption(stack, projectId)).request };
    },
  },
  ShareDWallet: {
    action: "dwallet.share",
    async prepare(stack) {
      const { key, wallet, recipient } = await ownSharable(stack);
      return { key, request: sharing(wallet, recipient) };
    },
  },
  AcceptShare: {
    action: "dwallet.accept-share",
    async prepare(stack) {
      const { key, wallet, recipient } = await ownSharable(stack);
      const { shareId } = await sharedWith(stack.database, wallet, recipient, "AwaitingAcceptance");
      const output = Uint8Array.of(1, 2, 3);
      const userOutputSignature = base64(ed25519.sign(output, recipient.secretKey));
      return {
        key,
        request: { dwalletId: wallet.objectId, encryptedUserSecretKeyShareId: shareId, userOutputSignature },
      };
    },
  },
  RemoveHolder: {
    action: "dwallet.remove-holder",
    async prepare(stack) {
      const { key, wallet, recipient } = await ownSharable(stack);
      await sharedWith(stack.database, wallet, recipient);
      return { key, request: { dwalletId: wallet.objectId, holderAddress: recipient.address } };
    },
  },
  LeaveDWallet: {
    action: "dwallet.leave",
    prepare: (stack) => consent(stack, "leave"),
  },
  RefuseRelease: {
    action: "dwallet.refuse-release",
    prepare: (stack) => consent(stack, "refuse"),
  },
  ReportExitDrill: {
    action: "dwallet.exit-drill",
    async prepare(stack) {
      const { projectId, key } = await stack.newProject();
      const { objectId: dwalletId } = await dwalletOf(stack.database, projectId);
      return { key, request: { dwalletId, outcome: "could_leave", checkTime: "2026-01-01T00:00:00Z" } };
    },
  },
  ReserveSign: {
    action: "sign.reserve",
    async prepare(stack) {
      const { projectId, key } = await stack.newProject();
      const dwallet = await dwalletOf(stack.database, projectId);
      await readyPresigns(stack.database, dwallet.bucket, 1);
      const algorithm = { signatureAlgorithm: "ECDSASecp256k1", hashScheme: "SHA256" };
      return { key, request: { dwalletId: dwallet.objectId, ...algorithm, message: "AQ==" } };
    },
  },
  SubmitSign: {
    action: "sign.submit",
    async prepare(stack) {
      const { projectId, key } = await stack.newProject();
      const dwallet = await dwalletOf(stack.database, projectId);
      await readyPresigns(stack.database, dwallet.bucket, 1);
      const signRequestId = await signSteps(stack.database, stack.signals).reserve(projectId, dwallet);
      return { key, request: { signRequestId, userSignMessage: base64(layoutOfSignMessage()) } };
    },
  },
  ReleaseSign: { action: "sign.release", prepare: heldHalf },
  CancelSign: { action: "sign.cancel", prepare: heldHalf },
};
