import { SuiGrpcClient } from "@mysten/sui/grpc";
import type { DevelopmentAccess } from "../../../src/cli/development-file.ts";
import { type AdminClient, ApiKeyScope, createAdminClient } from "../../../src/client/sdk/admin/index.ts";
import { createClient, type TssClient } from "../../../src/client/sdk/index.ts";
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
  /** Makes one more signature with the dWallet and returns its sign request's id. */
  sign(message: string, idempotencyKey?: string): Promise<string>;
  readonly admin: AdminClient;
}

/** Fills a service on embedded defaults: dWallets, signatures, a deposit, a project, and keys. */
export async function fillService(access: DevelopmentAccess): Promise<Stage> {
  const { baseUrl, apiKey, adminApiKey, network } = access;
  const client = createClient({ baseUrl, apiKey, network });
  const seed = new Uint8Array(32).fill(23);
  const { dwallet } = await client.onboard({ seed, curve: "ED25519" });
  await client.getOrCreate({ name: "treasury of the example", seed, curve: "SECP256K1" });
  const sign = async (message: string, idempotencyKey?: string) => {
    const { signRequestId } = await client.sign(
      {
        seed,
        dwalletId: dwallet.id,
        message: new TextEncoder().encode(message),
        curve: "ED25519",
        signatureAlgorithm: "EdDSA",
        hashScheme: "SHA512",
      },
      { idempotencyKey },
    );
    return signRequestId;
  };
  const signRequestId = await sign("hello from the console");
  for (const message of ["a second message", "a third one"]) await sign(message);
  await payDeposit(access, client);
  const admin = createAdminClient({ baseUrl, adminKey: adminApiKey, network });
  const projectId = await fillProject(admin);
  return { client, admin, projectId, dwalletId: dwallet.id, signRequestId, sign };
}

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
