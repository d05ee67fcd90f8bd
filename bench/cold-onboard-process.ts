/** One cold onboarding of `bench/cold-onboard.ts`, timed from the first import. */
import { randomBytes } from "node:crypto";
import path from "node:path";
import type { IkaConfig } from "@ika.xyz/sdk";
import type { CurveName } from "../src/protocol/algorithms.ts";

export interface ColdOnboardTask {
  readonly who: "client" | "upstream";
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly curve: CurveName;
}

export interface ColdOnboardResult {
  /** The user's part: parameters, keys and DKG message. */
  readonly ownSeconds: number;
  /** The whole onboarding, including imports. */
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMebibytes: number;
}

process.once("message", (task: ColdOnboardTask) => void run(task));

async function run(task: ColdOnboardTask): Promise<void> {
  const beganMs = performance.now();
  const began = process.cpuUsage();
  const ownSeconds = await (task.who === "client" ? withClient(task) : withIkaSdk(task));
  const { user, system } = process.cpuUsage(began);
  const result: ColdOnboardResult = {
    ownSeconds,
    seconds: (performance.now() - beganMs) / 1e3,
    cpuSeconds: (user + system) / 1e6,
    peakMebibytes: process.resourceUsage().maxRSS / 1024,
  };
  process.send?.(result);
}

/** The client's stages that correspond to the Ika SDK's functions. */
const OWN_STAGES = new Set(["parameters", "keys", "prepare"]);

async function withClient({ baseUrl, apiKey, curve }: ColdOnboardTask): Promise<number> {
  // The compiled client, as published.
  const entries = path.join(import.meta.dirname, "../dist/src/client/sdk");
  const sdk = (await import(path.join(entries, "index.js"))) as typeof import("../src/client/sdk/index.ts");
  const worker = (await import(
    path.join(entries, "worker.js")
  )) as typeof import("../src/client/sdk/worker.ts");
  const engine = worker.createWorkerEngine();
  const client = sdk.createClient({ baseUrl, apiKey, network: "localnet", engine });
  let stage = "";
  let beganMs = 0;
  let ownMs = 0;
  await client.onboard(
    { seed: new Uint8Array(randomBytes(32)), curve },
    {
      onProgress(next, elapsedMs) {
        if (OWN_STAGES.has(stage)) ownMs += elapsedMs - beganMs;
        [stage, beganMs] = [next, elapsedMs];
      },
    },
  );
  return ownMs / 1e3;
}

async function withIkaSdk({ baseUrl, apiKey, curve }: ColdOnboardTask): Promise<number> {
  const sdk = await import("@ika.xyz/sdk");
  const { SuiGrpcClient } = await import("@mysten/sui/grpc");
  const get = async (url: URL): Promise<unknown> =>
    (await fetch(url, { headers: { "x-api-key": apiKey } })).json();
  const { fullnodeUrl } = (await get(new URL("/v1/network", baseUrl))) as { fullnodeUrl: string };
  const { ikaConfig } = (await get(new URL("/localnet/network", fullnodeUrl))) as { ikaConfig: IkaConfig };
  const suiClient = new SuiGrpcClient({ network: "localnet", baseUrl: fullnodeUrl });
  const ika = new sdk.IkaClient({ suiClient, config: ikaConfig });
  await ika.initialize();
  const beganMs = performance.now();
  const ikaCurve = sdk.Curve[curve];
  await ika.getProtocolPublicParameters(undefined, ikaCurve);
  const keys = await sdk.UserShareEncryptionKeys.fromRootSeedKey(new Uint8Array(randomBytes(32)), ikaCurve);
  const session = sdk.createRandomSessionIdentifier();
  await sdk.prepareDKGAsync(ika, ikaCurve, keys, session, keys.getSuiAddress());
  return (performance.now() - beganMs) / 1e3;
}
