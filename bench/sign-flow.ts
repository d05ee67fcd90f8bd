/**
 * Stage times and request counts of warm signatures. `npx tsx bench/sign-flow.ts [--count 10] [--curve ED25519]
 * [--algorithm EdDSA] [--hash SHA512]` starts its own service; `--base-url --api-key [--network]` measures a running
 * one. Warm means: parameters, dWallet and share are loaded, the pool is full, and one signature was made before.
 */
import { parseArgs } from "node:util";
import { chooseTriple } from "../src/cli/demo/demo-steps.ts";
import { startThrowawayService } from "../src/cli/demo/throwaway-service.ts";
import { createWorkerEngine } from "../src/client/crypto/engines/worker-engine.ts";
import { createClient, type Network } from "../src/client/sdk/index.ts";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "10" },
    curve: { type: "string", default: "ED25519" },
    algorithm: { type: "string" },
    hash: { type: "string" },
    "base-url": { type: "string" },
    "api-key": { type: "string" },
    network: { type: "string", default: "localnet" },
  },
});
const triple = chooseTriple(values);
const message = new TextEncoder().encode("First light");
const baseUrl = values["base-url"];
const apiKey = values["api-key"];
const running =
  baseUrl !== undefined && apiKey !== undefined
    ? { access: { baseUrl, apiKey, network: values.network as Network }, stop: async () => {} }
    : await startThrowawayService({ PRESIGN_BUCKETS: `${triple.curve}/${triple.signatureAlgorithm}` });
try {
  await measure(running.access, Number(values.count));
} finally {
  await running.stop();
}

async function measure(
  access: { baseUrl: string; apiKey: string; network: Network },
  count: number,
): Promise<void> {
  const requests = countRequests(access.baseUrl);
  const { baseUrl, apiKey, network } = access;
  const client = createClient({ baseUrl, apiKey, network, engine: createWorkerEngine() });
  const seed = globalThis.crypto.getRandomValues(new Uint8Array(32));
  const { dwallet, userSecretKeyShareHex } = await client.onboard({ seed, curve: triple.curve });
  const times = new Map<string, number[]>();
  const add = (stage: string, durationMs: number): void => {
    times.set(stage, [...(times.get(stage) ?? []), durationMs]);
  };
  const signOnce = async (isMeasured: boolean): Promise<void> => {
    let last: { stage: string; elapsedMs: number } | undefined;
    await client.sign(
      {
        seed,
        dwalletId: dwallet.id,
        curve: triple.curve,
        signatureAlgorithm: triple.signatureAlgorithm,
        hashScheme: triple.hash,
        message,
        userSecretKeyShareHex,
      },
      {
        onProgress(stage, elapsedMs) {
          if (isMeasured && last !== undefined) add(last.stage, elapsedMs - last.elapsedMs);
          if (isMeasured && stage === "done") add("total", elapsedMs);
          last = { stage, elapsedMs };
        },
      },
    );
  };
  await signOnce(false);
  requests.reset();
  for (let round = 0; round < count; round++) await signOnce(true);
  const { service, fullnode } = requests.read();
  console.log(`${triple.curve} ${triple.signatureAlgorithm} ${triple.hash}, ${count} warm signatures`);
  console.log(`${"stage".padEnd(12)}${"p50 ms".padStart(10)}${"p99 ms".padStart(10)}`);
  for (const [stage, samples] of times) {
    console.log(
      `${stage.padEnd(12)}${quantile(samples, 0.5).toFixed(1).padStart(10)}${quantile(samples, 0.99).toFixed(1).padStart(10)}`,
    );
  }
  console.log(`requests per sign: ${service / count} to the service, ${fullnode / count} to the fullnode`);
}

/** Counts the calls of fetch, which the clients of both the service and the fullnode use. */
function countRequests(serviceUrl: string): { reset(): void; read(): { service: number; fullnode: number } } {
  const original = globalThis.fetch;
  let service = 0;
  let fullnode = 0;
  globalThis.fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    if (url.startsWith(serviceUrl)) service++;
    else fullnode++;
    return original(input, init);
  };
  return {
    reset() {
      service = 0;
      fullnode = 0;
    },
    read: () => ({ service, fullnode }),
  };
}

function quantile(samples: readonly number[], fraction: number): number {
  const sorted = [...samples].sort((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)] ?? Number.NaN;
}
