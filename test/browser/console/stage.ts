import { createClient as createServiceClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { Webhooks } from "../../../gen/proto/tss/v1/webhooks_pb.ts";
import type { DevelopmentAccess } from "../../../src/cli/connections/development-file.ts";
import { type AdminClient, ApiKeyScope, createAdminClient } from "../../../src/client/sdk/admin/index.ts";
import { withHeaders } from "../../../src/client/sdk/calls/transport.ts";
import { createClient, type SignArgs, type TssClient } from "../../../src/client/sdk/index.ts";
import { fundedPayer } from "../../support/database/deposits.ts";

/** A service with data for every page of the console. */
export interface Stage {
  readonly client: TssClient;
  /** A project with keys in every state. */
  readonly projectId: string;
  /** A dWallet on Ed25519. */
  readonly dwalletId: string;
  /** A completed sign request of that dWallet. */
  readonly signRequestId: string;
  /** A request of that dWallet whose half waits for its release. */
  readonly heldRequestId: string;
  /** A key of the project that releases halves, and reads. */
  readonly approverKey: string;
  /** A webhook endpoint with deliveries. */
  readonly webhookEndpointId: string;
  /** Makes one more signature with the dWallet and returns its sign request's id. */
  sign(message: string, idempotencyKey?: string): Promise<string>;
  /** Gives one more half of the dWallet, which is held for a day, and returns its sign request's id. */
  hold(message: string): Promise<string>;
  readonly admin: AdminClient;
  /** Makes a project with $10 of credit and one key, which has these scopes. Default: those of a backend. */
  newProject(
    name: string,
    scopes?: readonly (typeof ApiKeyScope)[keyof typeof ApiKeyScope][],
  ): Promise<{ readonly projectId: string; readonly apiKey: string }>;
}

/** Fills a service on embedded defaults: dWallets, signatures, a deposit, a project, and keys. */
export async function fillService(access: DevelopmentAccess): Promise<Stage> {
  const { baseUrl, apiKey, adminApiKey, network } = access;
  const client = createClient({ baseUrl, apiKey, network });
  const seed = new Uint8Array(32).fill(23);
  const { dwallet } = await client.onboard({ seed, curve: "ED25519" });
  await client.getOrCreate({ name: "treasury of the example", seed, curve: "SECP256K1" });
  const requestOf = (message: string): SignArgs => ({
    seed,
    dwalletId: dwallet.id,
    message: new TextEncoder().encode(message),
    curve: "ED25519",
    signatureAlgorithm: "EdDSA",
    hashScheme: "SHA512",
  });
  const sign = async (message: string, idempotencyKey?: string) => {
    const signed = await client.sign(requestOf(message), { idempotencyKey });
    return signed.signRequestId;
  };
  const hold: Stage["hold"] = async (message) => {
    const later = await client.signLater({ ...requestOf(message), holdSeconds: 86_400 });
    return later.signRequestId;
  };
  const signRequestId = await sign("hello from the console");
  for (const message of ["a second message", "a third one"]) await sign(message);
  await client.reportExitDrill({ dwalletId: dwallet.id, outcome: "could_leave" });
  await payDeposit(access, client);
  await fillUsers(access, client, seed);
  await fillHolder(client, seed, dwallet.id);
  const webhookEndpointId = await fillWebhooks(access);
  const admin = createAdminClient({ baseUrl, adminKey: adminApiKey, network });
  const projectId = await fillProject(admin);
  const heldRequestId = await hold("pay 12,000 to the supplier");
  const approverKey = await createApprover(admin, client);
  const newProject: Stage["newProject"] = async (name, scopes = BACKEND_SCOPES) => {
    const { project } = await admin.createProject({ name });
    const made = project?.projectId ?? "";
    await admin.adjustCredit({ projectId: made, amountMicroUsd: 10_000_000n, reason: "a start" });
    const { plaintext } = await admin.createApiKey({ projectId: made, name: "backend", scopes: [...scopes] });
    return { projectId: made, apiKey: plaintext };
  };
  return {
    client,
    admin,
    projectId,
    dwalletId: dwallet.id,
    signRequestId,
    heldRequestId,
    approverKey,
    webhookEndpointId,
    sign,
    hold,
    newProject,
  };
}

const { onboard, sign: maySign, read, billing, sessions, webhooks } = ApiKeyScope;
const BACKEND_SCOPES = [onboard, maySign, read, billing, sessions, webhooks];

/** Pays SUI to the project's own address and to one with a reference. */
async function payDeposit({ fullnodeUrl }: DevelopmentAccess, client: TssClient): Promise<void> {
  const { address, coins } = await client.depositAddress({});
  const user = await client.depositAddress({ reference: "user-1042" });
  const ika = coins.find(({ symbol }) => symbol === "IKA")?.coinType ?? "";
  const fullnode = new SuiGrpcClient({ network: "localnet", baseUrl: fullnodeUrl, format: "binary" });
  const payer = await fundedPayer(fullnode, fullnodeUrl, ika);
  for (const target of [address, user.address]) {
    const txDigest = await payer.pay(target, { sui: 1_500_000_000n, ika: 0n });
    await client.declareDeposit({ txDigest });
  }
}

/** Makes an endpoint that refuses tests, a disabled one, and returns the first one's id. */
async function fillWebhooks({ baseUrl, apiKey }: DevelopmentAccess): Promise<string> {
  const transport = createConnectTransport({ baseUrl, httpVersion: "1.1" });
  const webhooks = createServiceClient(
    Webhooks,
    withHeaders(transport, { authorization: `Bearer ${apiKey}` }),
  );
  const url = "https://app.example/webhooks/tss";
  const disabled = await webhooks.createWebhookEndpoint({ url, kinds: ["sign.completed"] });
  await webhooks.updateWebhookEndpoint({
    webhookEndpointId: disabled.endpoint!.webhookEndpointId,
    enabled: false,
  });
  const { endpoint } = await webhooks.createWebhookEndpoint({ url: `${baseUrl}/v1/health` });
  const { webhookEndpointId } = endpoint!;
  await webhooks.testWebhookEndpoint({ webhookEndpointId });
  return webhookEndpointId;
}

/** A user with a dWallet, sessions and a narrow key. */
export const STAGE_USER = "user/1042";

/** Makes users: one with everything that a user can have, a frozen one, and one without anything. */
async function fillUsers(
  { baseUrl, adminApiKey, network }: DevelopmentAccess,
  client: TssClient,
  seed: Uint8Array,
): Promise<void> {
  const userReference = STAGE_USER;
  await client.getOrCreate({ name: "savings", seed, curve: "ED25519", userReference });
  for (const reference of ["user/1043", "user/1044"]) await client.users.create({ reference });
  await client.users.freeze({ reference: "user/1043" });
  const session = { userReference, scopes: ["sign", "read"] as const, origins: ["https://app.example"] };
  const { sessionId } = await client.sessions.create(session);
  await client.sessions.revoke({ sessionId });
  await client.sessions.create({
    ...session,
    ...{ proofKeyThumbprint: "t".repeat(43), allowance: { budget: { windowSeconds: 86_400, maxCount: 20 } } },
  });
  await client.sessions.create({ userReference: "user/1044", scopes: ["read"] });
  const { projectId } = await client.raw.account.getAccount({});
  const admin = createAdminClient({ baseUrl, adminKey: adminApiKey, network });
  await admin.createApiKey({
    ...{ projectId, name: "bot", scopes: [ApiKeyScope.sign, ApiKeyScope.read] },
    allowance: {
      userReferences: [userReference],
      budget: { windowSeconds: 86_400, maxMicroUsd: 5_000_000n, maxCount: 100 },
    },
    allowedOrigins: ["https://admin.example"],
  });
}

/** Shares the dWallet with a user. */
async function fillHolder(client: TssClient, seed: Uint8Array, dwalletId: string): Promise<void> {
  const curve = "ED25519";
  const userReference = "user/1044";
  const holder = { seed: new Uint8Array(32).fill(24), curve, userReference } as const;
  const recipient = await client.registerRecipient(holder);
  await client.shareWith({ seed, curve, dwalletId, recipient, userReference });
}

/** Makes a key of the development project that releases halves. */
async function createApprover(admin: AdminClient, client: TssClient): Promise<string> {
  const { projectId } = await client.raw.account.getAccount({});
  const scopes = [ApiKeyScope.release, ApiKeyScope.read];
  const { plaintext } = await admin.createApiKey({ projectId, name: "approver", scopes });
  return plaintext;
}

/** Makes a project with a valid, a rotated and a revoked key, and an admin key. */
async function fillProject(admin: AdminClient): Promise<string> {
  const { project } = await admin.createProject({ name: "Harbour Custody" });
  const projectId = project?.projectId ?? "";
  const { read, sign, billing, onboard } = ApiKeyScope;
  const create = async (name: string, scopes: (typeof ApiKeyScope)[keyof typeof ApiKeyScope][]) => {
    const { apiKey } = await admin.createApiKey({ projectId, name, scopes });
    return apiKey?.apiKeyId ?? "";
  };
  await create("backend", [onboard, sign, read, billing]);
  await admin.rotateApiKey({ apiKeyId: await create("worker", [sign, read]) });
  await admin.revokeApiKey({ apiKeyId: await create("old laptop", [read]) });
  await admin.adjustCredit({ projectId, amountMicroUsd: 250_000_000n, reason: "first invoice" });
  await admin.createAdminKey({ name: "alice" });
  return projectId;
}
