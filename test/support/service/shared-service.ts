import { readFileSync } from "node:fs";
import path from "node:path";
import { inject } from "vitest";
import type { DevelopmentAccess } from "../../../src/cli/connections/development-file.ts";
import { ApiKeyScope, createAdminClient } from "../../../src/client/sdk/admin/index.ts";
import { type Curve, createClient } from "../../../src/client/sdk/index.ts";
import { curveNumber } from "../../../src/protocol/algorithms.ts";
import { createParameterStore } from "../../../src/service/onboarding/parameter-store.ts";

/** A project on the service that the tests of a run share. */
export interface SharedService {
  /** The service's access, with the key of a new project that has credit. */
  readonly access: DevelopmentAccess;
  /** Its data folder, which only the service changes. */
  readonly folder: string;
  /** Reads the protocol parameters that its folder holds. */
  parameters(curve: Curve): Promise<Uint8Array>;
  /** Reads the log of the service. */
  log(): Promise<readonly string[]>;
}

/**
 * Makes a project on one service that the run starts once, on a copy of a baked folder. It has presigns of every bucket,
 * serves its metrics to anybody, lets pages of https://a.example call it, and serves no protocol parameters. For tests that set nothing, kill nothing and look at
 * no other project.
 */
export async function sharedService(): Promise<SharedService> {
  const { access, folder } = (await ask("/service")) as Pick<SharedService, "access" | "folder">;
  const { baseUrl, adminApiKey: adminKey, network } = access;
  const admin = createAdminClient({ baseUrl, adminKey, network });
  const { project } = await admin.createProject({ name: "shared" });
  const { projectId } = project!;
  await admin.adjustCredit({ projectId, amountMicroUsd: 1_000_000_000n, reason: "tests" });
  const { onboard, sign, read, billing, sessions, webhooks } = ApiKeyScope;
  const scopes = [onboard, sign, read, billing, sessions, webhooks];
  const { plaintext: apiKey } = await admin.createApiKey({ projectId, name: "tests", scopes });
  return {
    access: { ...access, apiKey },
    folder,
    async parameters(curve) {
      const client = createClient({ baseUrl, apiKey, network });
      const { networkEncryptionKeyId } = await client.network();
      const found = await createParameterStore(folder).find(networkEncryptionKeyId);
      const { sha256 } = found.find((one) => one.curve === curveNumber(curve))!;
      return new Uint8Array(readFileSync(path.join(folder, "parameters", `${sha256}.bin`)));
    },
    log: async () => (await ask("/log")) as string[],
  };
}

async function ask(what: string): Promise<unknown> {
  const reply = await fetch(`${inject("bakeryUrl")}${what}`);
  if (!reply.ok) throw new Error(`the bakery failed: ${await reply.text()}`);
  return await reply.json();
}
