import { setTimeout as sleep } from "node:timers/promises";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { blake2b256 } from "../../protocol/chain/sui-hash.ts";
import { invalidInput, moveAbort, RpcFailure, Status } from "../fullnode/execution/failures.ts";
import { type FunctionTable, functionTable } from "../fullnode/execution/move-function.ts";
import { NoAnswer, type UnaryMethod } from "../fullnode/wire/node-methods.ts";
import type { MpcOutcome, NetworkMpc } from "../mpc/engine.ts";
import { type FaultSettings, NO_FAULTS, type SessionName } from "./fault-settings.ts";

/** Creates faults with random draws derived from the seed. `pause` waits for delays; default: in real time. */
export function createFaults(
  seed: Uint8Array,
  initial: Partial<FaultSettings> = {},
  pause: Faults["pause"] = pauseUnref,
): Faults {
  let settings: FaultSettings = { ...NO_FAULTS, ...initial };
  const listeners: (() => void)[] = [];
  const random = dice(seed);
  return {
    get settings() {
      return settings;
    },
    set(changes) {
      settings = { ...settings, ...changes };
      for (const listener of listeners) listener();
    },
    // A disabled fault draws nothing, so enabling one fault does not change the order of the others' draws.
    happens: (probability) => probability > 0 && random() < probability,
    duration: (baseMs, jitterMs) => baseMs + (jitterMs > 0 ? random() * jitterMs : 0),
    pause,
    onChange(listener) {
      listeners.push(listener);
    },
  };
}

/** The current fault settings and the random draws for them. */
export interface Faults {
  readonly settings: FaultSettings;
  /** Changes these settings and keeps the others. */
  set(settings: Partial<FaultSettings>): void;
  /** Returns true with this probability. The n-th draw under one seed is always the same. */
  happens(probability: number): boolean;
  /** Returns `baseMs` plus a random part of `jitterMs`. */
  duration(baseMs: number, jitterMs: number): number;
  pause(durationMs: number): Promise<void>;
  /** Calls back after each change of the settings. */
  onChange(listener: () => void): void;
}

/** The timer is unreferenced: the server keeps the process alive, and a closed server need not wait for a delay. */
async function pauseUnref(durationMs: number): Promise<void> {
  await sleep(durationMs, undefined, { ref: false });
}

/** Returns a generator of numbers in [0, 1): xorshift32, started from a hash of the seed. */
function dice(seed: Uint8Array): () => number {
  const start = blake2b256(utf8ToBytes("ika-localnet/faults/"), seed);
  let state = new DataView(start.buffer, start.byteOffset).getUint32(0) || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Wraps the node's Move functions so that some calls abort. */
export function faultyFunctions(functions: FunctionTable, faults: Faults): FunctionTable {
  return functionTable(
    [...functions.values()].map((target) => ({
      ...target,
      run(call, args) {
        const name = `${target.module}::${target.name}`;
        for (const rule of faults.settings.abortCalls) {
          if (rule.function !== name || !faults.happens(rule.probability ?? 1)) continue;
          throw moveAbort(`${target.packageId}::${rule.module ?? target.module}::${target.name}`, rule.code);
        }
        return target.run(call, args);
      },
    })),
    functions.packages,
  );
}

/**
 * Wraps the node's methods with latency, rejections, lost replies and stale reads. `lagging` are the methods of a node
 * that lags behind. A method that it lacks is never stale.
 */
export function faultyMethods(
  methods: readonly UnaryMethod[],
  lagging: readonly UnaryMethod[],
  faults: Faults,
): UnaryMethod[] {
  const behind = new Map(lagging.map((method) => [method.path, method]));
  return methods.map((method) => ({
    path: method.path,
    async handle(request) {
      const { settings } = faults;
      const isExecute = method.path === EXECUTE;
      const latencyMs = faults.duration(settings.latencyMs, settings.jitterMs);
      const delayMs = latencyMs + (isExecute ? settings.executeLatencyMs : 0);
      if (delayMs > 0) await faults.pause(delayMs);
      if (faults.happens(settings.rateLimit))
        throw new RpcFailure(Status.ResourceExhausted, "too many requests");
      if (faults.happens(settings.timeout)) throw new NoAnswer("silent");
      if (isExecute) return execute(method, request, faults);
      const late = behind.get(method.path);
      return late && faults.happens(settings.staleRead) ? late.handle(request) : method.handle(request);
    },
  }));
}

const EXECUTE = "/sui.rpc.v2.TransactionExecutionService/ExecuteTransaction";

async function execute(method: UnaryMethod, request: Uint8Array, faults: Faults): Promise<Uint8Array> {
  const { versionConflict, dropReply } = faults.settings;
  if (faults.happens(versionConflict))
    throw invalidInput("Object is not available for consumption, its current version is another one");
  const reply = await method.handle(request);
  if (faults.happens(dropReply)) throw new NoAnswer("connection-breaks");
  return reply;
}

/** Wraps the network's cryptography with delays, rejections, pauses and wrong signatures. */
export function faultyMpc(mpc: NetworkMpc, faults: Faults): NetworkMpc {
  let resume: (() => void)[] = [];
  faults.onChange(() => {
    if (faults.settings.paused) return;
    for (const go of resume.splice(0)) go();
  });

  return {
    networkDkgPublicOutput: () => mpc.networkDkgPublicOutput(),
    networkReconfigurationPublicOutput: (epoch) => mpc.networkReconfigurationPublicOutput(epoch),
    dkg: (input) => session("dkg", async () => corruptedDkg(await mpc.dkg(input))),
    importKey: (input) => session("importedKey", () => mpc.importKey(input)),
    presign: (input) => session("presign", () => mpc.presign(input)),
    sign: (input) => session("sign", async () => corrupted(await mpc.sign(input))),
    checkEncryptedShare: (input) => session("encryptedShare", () => mpc.checkEncryptedShare(input)),
    checkUserSignature: (input) => session("futureSign", () => mpc.checkUserSignature(input)),
    checkPublicShare: (input) => session("publicShare", () => mpc.checkPublicShare(input)),
    close() {
      resume = [];
      return mpc.close();
    },
  };

  async function session(name: SessionName, work: () => Promise<MpcOutcome>): Promise<MpcOutcome> {
    while (faults.settings.paused) await new Promise<void>((go) => void resume.push(go));
    const { completionDelayMs, completionJitterMs, rejectSessions } = faults.settings;
    const delayMs = faults.duration(completionDelayMs, completionJitterMs);
    if (delayMs > 0) await faults.pause(delayMs);
    if (faults.happens(rejectSessions[name] ?? 0)) return { kind: "rejected", reason: "an injected fault" };
    return work();
  }

  function corrupted(outcome: MpcOutcome): MpcOutcome {
    if (outcome.kind === "rejected" || !faults.happens(faults.settings.corruptSignature)) return outcome;
    return { kind: "completed", output: flipped(outcome.output) };
  }

  function corruptedDkg(outcome: MpcOutcome): MpcOutcome {
    if (outcome.kind === "rejected" || outcome.signature === undefined) return outcome;
    return faults.happens(faults.settings.corruptSignature)
      ? { ...outcome, signature: flipped(outcome.signature) }
      : outcome;
  }
}

function flipped(signature: Uint8Array): Uint8Array {
  const output = signature.slice();
  const middle = output.length >> 1;
  output[middle] = (output[middle] ?? 0) ^ 1;
  return output;
}
