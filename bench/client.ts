/**
 * The user's half in this project's TypeScript and in Ika's WebAssembly, side by side: `npx tsx bench/client.ts
 * [--rounds 3] [--against FOLDER]`. With `--against`, the TypeScript of another checkout takes the place of the wasm.
 * Each engine has its own process, and the engines take turns at every step, so that a busy machine slows all of them. They get the same compact parameters. The first two do the work on one thread; the third is the
 * engine on two workers. All figures are processor time, including garbage collection; the figure for two workers is
 * that of the busier one. The first call in TypeScript builds caches that later calls use. Needs Linux, which counts
 * the time of each thread.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { findTriple } from "../src/protocol/algorithms.ts";
import { buildProtocolParameters } from "../src/protocol/parameters/build-protocol-parameters.ts";
import { makeOwnDWallet, ownNetwork } from "../test/support/crypto/own-dwallet.ts";
import type { EngineResult, EngineTask } from "./client-engine.ts";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "3" }, against: { type: "string" } },
});
const ROUNDS = Number(values.rounds);

const K1 = findTriple("SECP256K1", "ECDSASecp256k1", "KECCAK256")!;
const R1 = findTriple("SECP256R1", "ECDSASecp256r1", "SHA256")!;
const TAPROOT = findTriple("SECP256K1", "Taproot", "SHA256")!;
const EDDSA = findTriple("ED25519", "EdDSA", "SHA512")!;
const STEPS = [
  ["class-groups keys", "keys", K1],
  ["DKG message and share encryption", "DKG", K1],
  ["share encryption", "share encryption", K1],
  ["share decryption", "share decryption", K1],
  ["ECDSA half, secp256k1", "half", K1],
  ["ECDSA half, secp256r1", "half", R1],
  ["Taproot half", "half", TAPROOT],
  ["EdDSA half", "half", EDDSA],
] as const;

const network = ownNetwork(11);
const networkOutput = network.networkDkgPublicOutput();
const dwallets = [0, 1, 2].map((curve) => ({
  ...makeOwnDWallet(network, curve),
  compact: buildProtocolParameters(curve, networkOutput),
}));

const here = fileURLToPath(new URL("..", import.meta.url));
const engines = {
  typescript: startEngine(here),
  wasm: startEngine(values.against ?? here),
  workers: startEngine(here),
};
console.log(
  `| step | ${values.against === undefined ? "WebAssembly" : "other checkout"} ms | one thread ms | its first ms | ratio | two workers ms | ratio |`,
);
console.log("|---|---|---|---|---|---|---|");
let peaks = { typescript: 0, wasm: 0, workers: 0 };
for (const [name, step, triple] of STEPS) {
  const results: Record<keyof typeof engines, EngineResult[]> = { typescript: [], wasm: [], workers: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const engine of ["typescript", "wasm", "workers"] as const) {
      const dwallet = dwallets[triple.curveNumber]!;
      const session = new Uint8Array(32).fill(round + 1);
      const request = dwallet.request(triple, session, new TextEncoder().encode(`round ${round}`));
      const task: EngineTask = {
        engine: engine === "wasm" && values.against !== undefined ? "typescript" : engine,
        step,
        seed: session,
        sessionDigest: session,
        encryptionKey: dwallet.keypair.encryptionKey,
        decryptionKey: dwallet.keypair.decryptionKey,
        encryptedShareAndProof: dwallet.encryptedShareAndProof,
        request: { ...request, parameters: dwallet.compact },
      };
      results[engine].push(await run(engines[engine], task));
    }
  }
  const [wasm, here] = [median(results.wasm, "processorMs"), median(results.typescript, "processorMs")];
  const first = results.typescript[0]!.processorMs;
  const cells = [wasm, here, first].map((ms) => ms.toFixed(0)).concat(ratioOf(results));
  // The engine encrypts a share only together with the DKG's message.
  if (step === "share encryption") cells.push("", "");
  else {
    const busiest = median(results.workers, "busiestThreadMs");
    cells.push(busiest.toFixed(0), (wasm / busiest).toFixed(1));
  }
  console.log(`| ${name} | ${cells.join(" | ")} |`);
  const { typescript, workers } = results;
  peaks = { typescript: peakOf(typescript), wasm: peakOf(results.wasm), workers: peakOf(workers) };
}
const { wasm, typescript, workers } = peaks;
console.log(
  `| peak memory, MiB | ${wasm.toFixed(0)} | ${typescript.toFixed(0)} | | | ${workers.toFixed(0)} | |`,
);
for (const engine of Object.values(engines)) engine.disconnect();

function startEngine(checkout: string): ChildProcess {
  return fork(path.join(checkout, "bench/client-engine.ts"), {
    execArgv: ["--import", "tsx"],
    serialization: "advanced",
  });
}

async function run(engine: ChildProcess, task: EngineTask): Promise<EngineResult> {
  engine.send(task);
  const [result] = (await once(engine, "message")) as [EngineResult];
  return result;
}

function median(results: readonly EngineResult[], kind: "processorMs" | "busiestThreadMs"): number {
  const sorted = results.map((result) => result[kind]).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}

/** The ratio of the first engine's time to this one's, as the median of the rounds, with the range. */
function ratioOf(results: Record<keyof typeof engines, EngineResult[]>): string {
  const ratios = results.wasm.map(
    ({ processorMs }, round) => processorMs / results.typescript[round]!.processorMs,
  );
  const sorted = ratios.sort((a, b) => a - b);
  const [least, middle, most] = [sorted[0]!, sorted[Math.floor(sorted.length / 2)]!, sorted.at(-1)!];
  return `${middle.toFixed(1)} (${least.toFixed(1)} to ${most.toFixed(1)})`;
}

function peakOf(results: readonly EngineResult[]): number {
  return results.at(-1)!.peakMebibytes;
}
