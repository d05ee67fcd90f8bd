import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Admin } from "../../gen/proto/tss/v1/admin_pb.ts";
import { FIRST_SCOPES } from "../../src/cli/commands/access/key.ts";
import { onboardOverSim } from "../../test/sim/onboard-over.ts";
import { restClient } from "../../test/soak/rest-client.ts";
import type { Signer } from "../service-load.ts";

const CREDIT_MICRO_USD = 1_000_000_000_000n;

/** Creates a project with credit, a key and a dWallet. `index` distinguishes it from others. */
export async function makeSigner(baseUrl: string, adminApiKey: string, index: number): Promise<Signer> {
  const admin = createClient(Admin, createGrpcTransport({ baseUrl }));
  const headers = { authorization: `Bearer ${adminApiKey}`, "x-network": "localnet" };
  const under = (step: string) => ({ headers: { ...headers, "idempotency-key": `bench-${index}-${step}` } });
  const { project } = await admin.createProject({ name: `bench ${index}` }, under("project"));
  const { projectId } = project!;
  const credit = { projectId, amountMicroUsd: CREDIT_MICRO_USD, reason: "benchmark" };
  await admin.adjustCredit(credit, under("credit"));
  const { plaintext: apiKey } = await admin.createApiKey(
    { projectId, name: "bench", scopes: FIRST_SCOPES },
    under("key"),
  );
  const dwalletId = await onboardOverSim(restClient(() => [baseUrl], apiKey));
  return { apiKey, dwalletId };
}
