/**
 * Prepares the folder behind `bakedFolder` and the service behind `sharedService`, each at its first request of a run,
 * and removes them when the run ends.
 */

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { cpSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";
import { createClient } from "../../src/client/sdk/index.ts";
import { ALGORITHM_TRIPLES, CURVES } from "../../src/protocol/algorithms.ts";
import type { BakedOrigin } from "../support/service/baked-folder.ts";
import { type ServiceProcess, serviceFolder, startService } from "../support/service/service.ts";
import { downloadParameters } from "../support/service/user.ts";

const BUCKETS = [
  ...new Set(ALGORITHM_TRIPLES.map((triple) => `${triple.curve}/${triple.signatureAlgorithm}`)),
];

/** Starts the bakery. Returns the function that stops it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [origin, shared] = [serviceFolder(), serviceFolder()];
  let baked: Promise<BakedOrigin> | undefined;
  let service: Promise<ServiceProcess> | undefined;
  const bakeOnce = () => {
    baked ??= bake(origin.folder);
    return baked;
  };
  const serveOnce = () => {
    service ??= bakeOnce().then(({ folder }) => serve(folder, shared.folder));
    return service;
  };
  const answers: Record<string, () => Promise<unknown>> = {
    "/baked": bakeOnce,
    "/service": async () => {
      const { access, folder } = await serveOnce();
      return { access, folder };
    },
    "/log": async () => (await serveOnce()).log,
  };
  const server = http.createServer((request, reply) => {
    const answer = answers[request.url ?? ""] ?? (() => Promise.reject(new Error("no such thing")));
    answer().then(
      (value) => reply.end(JSON.stringify(value)),
      (error: unknown) => reply.writeHead(500).end(String(error)),
    );
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  project.provide("bakeryUrl", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    server.closeAllConnections();
    await baked?.catch(() => {});
    const exitCode = await service?.then(
      (started) => started.stop(),
      () => undefined,
    );
    for (const { remove } of [origin, shared]) remove();
    if (exitCode) throw new Error(`the shared service ended with ${exitCode}`);
  };
}

async function bake(folder: string): Promise<BakedOrigin> {
  const service = await startService(folder, {
    PRESIGN_BUCKETS: BUCKETS.join(),
    PROTOCOL_PARAMETERS: "on",
  });
  const { baseUrl, apiKey } = service.access;
  const client = createClient({ baseUrl, apiKey, network: "localnet" });
  const keyOn = async (curve: (typeof CURVES)[number]) => {
    const seed = new Uint8Array(randomBytes(32));
    const seedHex = Buffer.from(seed).toString("hex");
    return [curve, { seedHex, onboarded: await client.onboard({ seed, curve }) }] as const;
  };
  try {
    const keys = await Promise.all(CURVES.map(keyOn));
    for (const curve of CURVES) await downloadParameters(baseUrl, curve);
    return { folder, keys: Object.fromEntries(keys) as BakedOrigin["keys"] };
  } finally {
    await service.stop();
  }
}

function serve(baked: string, folder: string): Promise<ServiceProcess> {
  cpSync(baked, folder, { recursive: true });
  return startService(folder, {
    PRESIGN_BUCKETS: BUCKETS.join(),
    METRICS_PUBLIC: "true",
    BILLING_PRICE_DKG_MICRO_USD: "7000",
    CORS_ORIGINS: "https://a.example",
  });
}
