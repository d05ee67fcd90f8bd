/** The worker process of `bench/client.ts`, one for each engine. It runs one step for each message. */
import { readdirSync, readFileSync } from "node:fs";
import { type Curve, createClassGroupsKeypair, prepareDKG } from "@ika.xyz/sdk";
import { createDkgMessage } from "../src/client/crypto/create-dkg-message.ts";
import { createSignMessage } from "../src/client/crypto/create-sign-message.ts";
import { decryptShare } from "../src/client/crypto/decrypt-share.ts";
import { encryptShare } from "../src/client/crypto/encrypt-share.ts";
import { loadIkaWasm } from "../src/client/crypto/engines/reference-engine.ts";
import { createWorkerEngine } from "../src/client/crypto/engines/worker-engine.ts";
import { SecretBytes } from "../src/client/crypto/secret-bytes.ts";
import type { SignRequest } from "../src/client/crypto/sign-request.ts";
import { curveNumber } from "../src/protocol/algorithms.ts";
import { runSteps } from "../src/protocol/chain/read-errors.ts";
import { deriveClassGroupsKeypair } from "../src/protocol/class-groups/keypair.ts";
import { decodeUserShare } from "../src/protocol/dwallet-output.ts";
import { curveByNumber } from "../src/protocol/proofs/curve.ts";

export interface EngineTask {
  readonly engine: "typescript" | "wasm" | "workers";
  readonly step: "keys" | "DKG" | "share encryption" | "share decryption" | "half";
  readonly seed: Uint8Array;
  readonly sessionDigest: Uint8Array;
  readonly encryptionKey: Uint8Array;
  readonly decryptionKey: Uint8Array;
  readonly encryptedShareAndProof: Uint8Array;
  readonly request: SignRequest;
}

/** The cost of one run of a step in this process. */
export interface EngineResult {
  /** All threads, including garbage collection. */
  readonly processorMs: number;
  /** The thread that computed longest: the elapsed time on an idle machine with a core for each thread. */
  readonly busiestThreadMs: number;
  /** Peak memory of the process so far. */
  readonly peakMebibytes: number;
}

const workers = createWorkerEngine({ workerCount: 2 });

/** Parameters by curve. A client also keeps its parameters, and what it computed from them. */
const parametersOf = new Map<string, Uint8Array>();

process.on("message", (sent: EngineTask) => {
  const { curve } = sent.request.triple;
  const parameters = parametersOf.get(curve) ?? sent.request.parameters;
  parametersOf.set(curve, parameters);
  const task = { ...sent, request: { ...sent.request, parameters } };
  void measure(task).then((result) => process.send?.(result));
});

async function measure(task: EngineTask): Promise<EngineResult> {
  const wasm = task.engine === "wasm" ? await loadIkaWasm() : undefined;
  if (task.engine === "workers") await workers.ready();
  const processor = process.cpuUsage();
  const before = threadTimesMs();
  if (wasm !== undefined) await runWasm(task, wasm);
  else if (task.engine === "workers") await runOnWorkers(task);
  else runHere(task);
  const busiestThreadMs = Math.max(
    ...[...threadTimesMs()].map(([thread, time]) => time - (before.get(thread) ?? 0)),
  );
  const { user, system } = process.cpuUsage(processor);
  const peakMebibytes = process.resourceUsage().maxRSS / 1024;
  return { processorMs: (user + system) / 1000, busiestThreadMs, peakMebibytes };
}

/** The processor time of each thread of this process. Linux: proc(5), the first of three numbers, in nanoseconds. */
function threadTimesMs(): Map<string, number> {
  const folder = "/proc/self/task";
  return new Map(
    readdirSync(folder).map((thread) => {
      const [nanoseconds] = readFileSync(`${folder}/${thread}/schedstat`, "utf8").split(" ");
      return [thread, Number(nanoseconds) / 1e6];
    }),
  );
}

function runHere({ step, seed, sessionDigest, ...task }: EngineTask): unknown {
  const { triple, parameters, userSecretKeyShare, dwalletOutput } = task.request;
  const number = curveNumber(triple.curve);
  const curve = curveByNumber(number);
  const encrypt = () =>
    runSteps(encryptShare(curve, task.encryptionKey, decodeUserShare(triple.curve, userSecretKeyShare)));
  switch (step) {
    case "keys":
      return deriveClassGroupsKeypair(number, seed);
    case "DKG":
      runSteps(createDkgMessage(triple.curve, parameters, sessionDigest, userSecretKeyShare));
      return encrypt();
    case "share encryption":
      return encrypt();
    case "share decryption":
      return runSteps(decryptShare(curve, task.decryptionKey, dwalletOutput, task.encryptedShareAndProof));
    case "half":
      return runSteps(createSignMessage(task.request));
  }
}

async function runOnWorkers({ step, seed, sessionDigest, ...task }: EngineTask): Promise<unknown> {
  const { triple, parameters, dwalletOutput } = task.request;
  const { curve } = triple;
  const userSecretKeyShare = new SecretBytes(task.request.userSecretKeyShare);
  switch (step) {
    case "keys":
      return await workers.deriveUserKeys({ curve, seed });
    case "DKG": {
      const { encryptionKey } = task;
      const input = { curve, userSecretKeyShare, sessionDigest, parameters, encryptionKey };
      return await workers.prepareDkg(input);
    }
    case "share encryption":
      return undefined; // It is a part of the DKG.
    case "share decryption": {
      const { encryptedShareAndProof } = task;
      const decryptionKey = new SecretBytes(task.decryptionKey);
      return await workers.decryptShare({
        curve,
        parameters,
        decryptionKey,
        dwalletOutput,
        encryptedShareAndProof,
      });
    }
    case "half":
      return await workers.createSignMessage({ ...task.request, userSecretKeyShare });
  }
}

async function runWasm(
  { step, seed, sessionDigest, ...task }: EngineTask,
  wasm: Awaited<ReturnType<typeof loadIkaWasm>>,
): Promise<unknown> {
  const { triple, parameters, userSecretKeyShare: share, dwalletOutput, presign, message } = task.request;
  const { curve } = triple;
  switch (step) {
    case "keys":
      return await createClassGroupsKeypair(seed, curve as Curve);
    case "DKG":
      return await prepareDKG(
        ...([parameters, curve as Curve, task.encryptionKey, sessionDigest] as const),
        `0x${"11".repeat(32)}`,
      );
    case "share encryption":
      return wasm.encryptShare(curve, share, task.encryptionKey, parameters);
    case "share decryption":
      return wasm.decryptShare(
        ...([curve, task.decryptionKey, dwalletOutput] as const),
        ...([task.encryptedShareAndProof, parameters] as const),
      );
    case "half":
      return wasm.createSignMessage(triple, parameters, dwalletOutput, share, presign, message);
  }
}
