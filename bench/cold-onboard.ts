/**
 * The cost of a cold onboarding, the first one of a new process. This project's client does the whole onboarding,
 * against a service with a local network. The Ika SDK's own functions only compute the user's part of it on the same
 * network: parameters, keys and DKG message, without a registration, the network's half, or the acceptance. Each runs
 * in its own process, and they take turns. `npx tsx bench/cold-onboard.ts [--rounds 3] [--curve SECP256K1]`
 */
import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { parseArgs } from "node:util";
import { startThrowawayService } from "../src/cli/demo/throwaway-service.ts";
import { CURVES } from "../src/protocol/algorithms.ts";
import { ROOT } from "../test/support/repository/source-files.ts";
import type { ColdOnboardResult, ColdOnboardTask } from "./cold-onboard-process.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    curve: { type: "string", default: "SECP256K1" },
  },
});
const curve = CURVES.find((name) => name === values.curve);
if (curve === undefined) throw new Error(`--curve takes one of ${CURVES.join(", ")}`);

execFileSync(process.execPath, ["--import", "tsx", "tools/build.ts"], { cwd: ROOT });
const service = await startThrowawayService({ PRESIGN_BUCKETS: "ED25519/EdDSA" });
try {
  const { baseUrl, apiKey } = service.access;
  const results = { client: [] as ColdOnboardResult[], upstream: [] as ColdOnboardResult[] };
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const who of ["client", "upstream"] as const)
      results[who].push(await inProcess({ who, baseUrl, apiKey, curve }));
  }
  console.log(
    `| ${curve} | user's part, s | in all, s | processor, s | peak memory, MiB |\n|---|---|---|---|---|`,
  );
  for (const [name, runs] of [
    ["Ika SDK's functions", results.upstream],
    ["this client, whole onboarding", results.client],
  ] as const) {
    const cells = (["ownSeconds", "seconds", "cpuSeconds"] as const).map((figure) =>
      median(runs, figure).toFixed(1),
    );
    console.log(`| ${name} | ${cells.join(" | ")} | ${median(runs, "peakMebibytes").toFixed(0)} |`);
  }
  for (const [name, figure] of [
    ["user's part", "ownSeconds"],
    ["in all", "seconds"],
  ] as const)
    console.log(
      `Ika SDK / this client, ${name}: ${(median(results.upstream, figure) / median(results.client, figure)).toFixed(1)}`,
    );
} finally {
  await service.stop();
}

async function inProcess(task: ColdOnboardTask): Promise<ColdOnboardResult> {
  const child = fork(path.join(import.meta.dirname, "cold-onboard-process.ts"), {
    execArgv: ["--import", "tsx"],
  });
  const answer = Promise.race([
    once(child, "message"),
    once(child, "exit").then(([code]) => Promise.reject(new Error(`a process ended with ${code}`))),
  ]);
  child.send(task);
  const [result] = (await answer) as [ColdOnboardResult];
  child.kill();
  return result;
}

function median(runs: readonly ColdOnboardResult[], figure: keyof ColdOnboardResult): number {
  const sorted = runs.map((run) => run[figure]).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
