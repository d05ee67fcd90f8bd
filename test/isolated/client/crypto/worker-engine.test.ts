import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { afterAll, describe, expect, test, vi } from "vitest";
import {
  type CreateSignMessageInput,
  type CryptoEngine,
  EngineError,
} from "../../../../src/client/crypto/engine.ts";
import { callsHere } from "../../../../src/client/crypto/engines/calls-here.ts";
import type { StartEngineThread } from "../../../../src/client/crypto/engines/engine-thread.ts";
import { ENGINE_WORKER_PROGRAM } from "../../../../src/client/crypto/engines/engine-worker-program.ts";
import { createInlineEngine } from "../../../../src/client/crypto/engines/inline-engine.ts";
import {
  createWorkerEngine,
  startEngineThread,
} from "../../../../src/client/crypto/engines/worker-engine.ts";
import {
  callsOnThreads,
  createLateWorkerEngine,
  createWorkerEngineOn,
} from "../../../../src/client/crypto/engines/worker-engine-on.ts";
import { SecretBytes } from "../../../../src/client/crypto/secret-bytes.ts";
import type { OrderClass, OrderGroup } from "../../../../src/protocol/class-groups/maximal-order.ts";
import {
  type RecordedHalf,
  recorded,
  recordedNetwork,
  requestOf,
} from "../../../component/client/crypto/recorded-halves.ts";
import { atNight, programEnvironment } from "../../../support/environment.ts";
import { ROOT } from "../../../support/repository/source-files.ts";

/** The number of class group operations on this thread. */
const here = vi.hoisted(() => ({ squares: 0 }));
vi.mock("../../../../src/protocol/class-groups/maximal-order.ts", async (importOriginal) => {
  type Original = typeof import("../../../../src/protocol/class-groups/maximal-order.ts");
  const original = await importOriginal<Original>();
  return {
    ...original,
    squareClass: (group: OrderGroup, one: OrderClass) => {
      here.squares++;
      return original.squareClass(group, one);
    },
  };
});

const SLOW = { timeout: 120_000 };
const ecdsa = recorded.vectors.find(({ signatureAlgorithm }) => signatureAlgorithm === "ECDSASecp256k1")!;
const eddsa = recorded.vectors.find(({ signatureAlgorithm }) => signatureAlgorithm === "EdDSA")!;
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

function inputOf(vector: RecordedHalf): CreateSignMessageInput {
  const request = requestOf(vector);
  return { ...request, userSecretKeyShare: new SecretBytes(request.userSecretKeyShare) };
}

describe("an engine on workers", () => {
  const engine = createWorkerEngine({ workerCount: 2 });
  afterAll(() => engine.close());

  // Each engine runs the same code, so by day a half with proofs and one without are enough here.
  const algorithms = ["ECDSASecp256r1", "Taproot"];
  const some = recorded.vectors.filter(({ signatureAlgorithm: of }) => algorithms.includes(of));
  test.each(atNight(recorded.vectors, some))(
    "makes the recorded half of $signatureAlgorithm with $hash",
    SLOW,
    async (vector) => {
      await engine.ready();
      expect(sha256(await engine.createSignMessage(inputOf(vector)))).toBe(vector.halfSha256Hex);
    },
  );

  test("computes nothing on the caller's thread", SLOW, async () => {
    await engine.ready();
    const input = inputOf(ecdsa);
    here.squares = 0;
    await engine.createSignMessage(input);
    await engine.deriveUserKeys({ curve: "SECP256K1", seed: new Uint8Array(32) });
    expect(here.squares).toBe(0);
    await createInlineEngine().deriveUserKeys({ curve: "SECP256K1", seed: new Uint8Array(32) });
    expect(here.squares).toBeGreaterThan(0);
  });

  test("needs one turn of the event loop for each worker's answer to an ECDSA half", SLOW, async () => {
    const answers: string[] = [];
    const start: StartEngineThread = (events) =>
      startEngineThread(ENGINE_WORKER_PROGRAM)({
        ...events,
        onMessage(message) {
          answers.push(message.kind);
          events.onMessage(message);
        },
      });
    const heard = createWorkerEngineOn(start, { workerCount: 2 });
    await heard.ready();
    const input = inputOf(ecdsa);
    answers.length = 0;
    here.squares = 0;
    const half = await heard.createSignMessage(input);
    expect(sha256(half)).toBe(ecdsa.halfSha256Hex);
    expect([answers, here.squares]).toEqual([["result", "result"], 0]);
    await heard.close();
  });

  test("returns the same parameters, keys and share as the engine on the caller's thread", SLOW, async () => {
    const inline = createInlineEngine();
    const seed = new Uint8Array(32).fill(7);
    const networkKeyOutput = recordedNetwork.networkDkgPublicOutput();
    const [parameters, same] = await Promise.all(
      [engine, inline].map((one) => one.buildParameters({ curve: "SECP256R1", networkKeyOutput })),
    );
    expect(parameters).toEqual(same);
    const [keys, sameKeys] = await Promise.all(
      [engine, inline].map((one) => one.deriveUserKeys({ curve: "SECP256R1", seed })),
    );
    const secrets = (one = keys!) => [one.decryptionKey.reveal(), one.signerSecretKey.reveal()];
    expect(secrets(keys)).toEqual(secrets(sameKeys));
    expect(keys!.signerAddress).toBe(sameKeys!.signerAddress);
    expect(seed).toEqual(new Uint8Array(32).fill(7));
  });

  test("does not change its arguments, and shows no secret in an error", SLOW, async () => {
    const input = inputOf(eddsa);
    const before = Buffer.from(input.userSecretKeyShare.reveal()).toString("hex");
    await engine.createSignMessage(input);
    expect(Buffer.from(input.userSecretKeyShare.reveal()).toString("hex")).toBe(before);
    expect(input.presign.length).toBeGreaterThan(0);
    const refused = engine.createSignMessage({ ...input, parameters: new Uint8Array(100) });
    const error = await refused.catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(EngineError);
    expect(JSON.stringify(error) + String(error)).not.toContain(before.slice(8, 24));
  });

  test("ends an aborted call with the signal's reason, and completes the other calls", SLOW, async () => {
    const abort = new AbortController();
    await engine.ready();
    const ended = [0, 1, 2].map(() =>
      engine.createSignMessage({ ...inputOf(ecdsa), signal: abort.signal }).catch((cause: unknown) => cause),
    );
    const others = [eddsa, eddsa].map((vector) => engine.createSignMessage(inputOf(vector)));
    // The workers have the calls by then, and cannot have answered.
    await Promise.resolve();
    abort.abort(new Error("enough"));
    expect((await Promise.all(ended)).map(String)).toEqual(Array(3).fill("Error: enough"));
    for (const half of await Promise.all(others)) expect(sha256(half)).toBe(eddsa.halfSha256Hex);
  });
});

/** Workers that a test can inspect. */
function watched(): { readonly start: StartEngineThread; readonly threads: ReturnType<StartEngineThread>[] } {
  const threads: ReturnType<StartEngineThread>[] = [];
  return {
    threads,
    start(events) {
      const thread = startEngineThread(ENGINE_WORKER_PROGRAM)(events);
      threads.push(thread);
      return thread;
    },
  };
}

test(
  "an aborted call keeps its worker alive, and a worker that ends rejects only its own call",
  SLOW,
  async () => {
    const { start, threads } = watched();
    const engine = createWorkerEngineOn(start, { workerCount: 1 });
    await engine.ready();
    const abort = new AbortController();
    const aborted = engine.createSignMessage({ ...inputOf(ecdsa), signal: abort.signal });
    const waiting = engine.createSignMessage(inputOf(eddsa));
    abort.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    expect(sha256(await waiting)).toBe(eddsa.halfSha256Hex);
    expect(threads).toHaveLength(1);

    const crashed = engine.createSignMessage(inputOf(ecdsa));
    const next = engine.createSignMessage(inputOf(eddsa));
    threads[0]!.terminate();
    await expect(crashed).rejects.toThrow("ended during the call");
    expect(sha256(await next)).toBe(eddsa.halfSha256Hex);
    expect(threads).toHaveLength(2);
    await engine.close();
  },
);

describe("without a worker, the engine works on the caller's thread and reports it", () => {
  const ways: [string, StartEngineThread][] = [
    [
      "there are none",
      () => {
        throw new Error("none here");
      },
    ],
    [
      "their program is not found",
      (events) => {
        queueMicrotask(() => events.onEnd(new Error("none here")));
        return { post: () => {}, hold: () => {}, terminate: () => {} };
      },
    ],
  ];
  test.each(ways)("because %s", async (_why, start) => {
    const told: unknown[] = [];
    const engine = createWorkerEngineOn(start, { workerCount: 2, onFallback: (cause) => told.push(cause) });
    expect(sha256(await engine.createSignMessage(inputOf(eddsa)))).toBe(eddsa.halfSha256Hex);
    await engine.ready();
    expect(sha256(await engine.createSignMessage(inputOf(eddsa)))).toBe(eddsa.halfSha256Hex);
    expect(told.map(String)).toEqual(["Error: none here"]);
    await engine.close();
    await expect(engine.createSignMessage(inputOf(eddsa))).rejects.toThrow("closed");
  });
  test("because their program cannot be loaded", async () => {
    const told: unknown[] = [];
    const load = () => Promise.reject(new Error("no chunk"));
    const engine = createLateWorkerEngine(load, { onFallback: (cause) => told.push(cause) });
    expect(sha256(await engine.createSignMessage(inputOf(eddsa)))).toBe(eddsa.halfSha256Hex);
    expect(told.map(String)).toEqual(["Error: no chunk"]);
    await engine.close();
    await expect(engine.createSignMessage(inputOf(eddsa))).rejects.toThrow("closed");
  });
  test.each(ways)("and is ready before its first call, because %s", async (_why, start) => {
    const onFallback = vi.fn();
    const engine = createWorkerEngineOn(start, { workerCount: 2, onFallback });
    await engine.ready();
    expect(onFallback).toHaveBeenCalledOnce();
    await engine.close();
  });
});

/** Workers that the test impersonates. */
function played(): {
  readonly start: StartEngineThread;
  readonly threads: {
    events: Parameters<StartEngineThread>[0];
    sent: Parameters<Thread["post"]>[0][];
    ended: number;
  }[];
  /** Resolves when each of so many threads has its first message. */
  allSent(count: number): Promise<void>;
} {
  const threads: ReturnType<typeof played>["threads"] = [];
  let wake: () => void = () => {};
  return {
    threads,
    async allSent(count) {
      while (threads.length < count || threads.some(({ sent }) => sent.length === 0))
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    },
    start(events) {
      const thread = { events, sent: [] as Parameters<Thread["post"]>[0][], ended: 0 };
      threads.push(thread);
      queueMicrotask(() => events.onMessage({ kind: "ready" }));
      return {
        post(message) {
          thread.sent.push(message);
          wake();
        },
        hold: () => {},
        terminate() {
          thread.ended++;
          events.onEnd(new Error("terminated"));
        },
      };
    },
  };
}
type Thread = ReturnType<StartEngineThread>;

describe("an ECDSA half", () => {
  const begin = async (engine: CryptoEngine) => {
    await engine.ready();
    const half = engine.createSignMessage(inputOf(ecdsa)).catch((cause: unknown) => cause);
    await Promise.resolve();
    return half;
  };

  test("of two workers is returned only if both made the same octets", async () => {
    for (const [second, outcome] of [
      [1, "EngineError: sign message: two workers computed different halves; nothing was sent"],
      [0, "9,0"],
    ] as const) {
      const { start, threads, allSent } = played();
      const engine = createWorkerEngineOn(start, { workerCount: 2 });
      const half = begin(engine);
      await allSent(2);
      expect(threads.map(({ sent }) => sent.length)).toEqual([1, 1]);
      for (const [index, { events, sent }] of threads.entries()) {
        const call = sent[0]!;
        if (call.kind !== "call") throw new Error("no call");
        expect(call.peer?.part).toBe(index);
        events.onMessage({ kind: "result", id: call.id, output: Uint8Array.of(9, index * second) });
      }
      expect(String(await half)).toBe(outcome);
      const ended = engine.close();
      for (const { events } of threads) events.onMessage({ kind: "closed" });
      await ended;
    }
  });

  test("is abandoned by both workers when one ends", async () => {
    const { start, threads, allSent } = played();
    const engine = createWorkerEngineOn(start, { workerCount: 2 });
    const half = begin(engine);
    await allSent(2);
    expect(threads.map(({ sent }) => sent.length)).toEqual([1, 1]);
    threads[1]!.events.onEnd(new Error("out of memory"));
    expect(String(await half)).toContain("ended during the call");
    expect(threads[0]!.sent.map(({ kind }) => kind)).toEqual(["call", "cancel"]);
  });
});

test("at most a thousand calls wait, and closing ends them all", async () => {
  const { start, threads } = played();
  const engine = createWorkerEngineOn(start, { workerCount: 1 });
  await engine.ready();
  const seed = new Uint8Array(32);
  const calls = Array.from({ length: 1002 }, () =>
    engine.deriveUserKeys({ curve: "ED25519", seed }).then(
      () => "made",
      (cause: unknown) => String(cause),
    ),
  );
  expect(await calls[1001]).toBe("EngineError: more than 1000 calls wait for a worker");
  const closed = engine.close();
  expect(new Set(await Promise.all(calls.slice(0, 1001)))).toEqual(
    new Set(["EngineError: the engine is closed"]),
  );
  expect(threads[0]!.sent.at(-1)).toEqual({ kind: "close" });
  threads[0]!.events.onMessage({ kind: "closed" });
  await closed;
  expect(threads[0]!.ended).toBe(1);
  await expect(engine.ready()).rejects.toThrow("closed");
});

test("no call waits behind a long one while another worker is idle, and calls start in order", async () => {
  const { start, threads } = played();
  const engine = createWorkerEngineOn(start, { workerCount: 2 });
  await engine.ready();
  const seed = new Uint8Array(32);
  const calls = Array.from({ length: 5 }, () =>
    engine.deriveUserKeys({ curve: "ED25519", seed }).catch((cause: unknown) => cause),
  );
  const [long, short] = threads as [(typeof threads)[0], (typeof threads)[0]];
  for (let answered = 0; answered < 4; answered++) {
    const call = short.sent[answered]!;
    if (call.kind !== "call") throw new Error("no call");
    short.events.onMessage({ kind: "failed", id: call.id, reason: "answered" });
  }
  // The first worker still runs the first call. The second one ran all others.
  const ids = [long, short].map(({ sent }) =>
    sent.flatMap((sent) => (sent.kind === "call" ? [sent.id] : [])),
  );
  expect(ids).toEqual([[ids[0]![0]], [1, 2, 3, 4].map((offset) => ids[0]![0]! + offset)]);
  const closed = engine.close();
  for (const { events } of threads) events.onMessage({ kind: "closed" });
  await Promise.all([closed, ...calls]);
});

test("two concurrent closings of an engine both wait for its end", async () => {
  const { start, threads } = played();
  const engine = createWorkerEngineOn(start, { workerCount: 1 });
  await engine.ready();
  const closed = Promise.all([engine.close(), engine.close()]);
  threads[0]!.events.onMessage({ kind: "closed" });
  await closed;
});

test("a call that cannot be sent to a worker fails alone with its secrets overwritten, and the worker takes the next call", async () => {
  const { start, threads } = played();
  const refusing: StartEngineThread = (events) => ({
    ...start(events),
    post() {
      throw new Error("out of memory");
    },
  });
  const plain = callsOnThreads({ start: refusing, workerCount: 1, onStartFailure: callsHere });
  await plain.ready();
  for (let count = 0; count < 2; count++) {
    const seed = new Uint8Array(32).fill(7);
    const call = plain.run("deriveUserKeys", { curve: "ED25519", seed }, undefined);
    await expect(call).rejects.toThrow("could not be sent");
    expect(seed).toEqual(new Uint8Array(32));
  }
  expect(threads).toHaveLength(1);
});

test("a Node process waits for an open call, and not for idle workers", SLOW, async () => {
  const program = `
    import { createWorkerEngine } from "./src/client/crypto/engines/worker-engine.ts";
    const engine = createWorkerEngine({ workerCount: 2 });
    const keys = await engine.deriveUserKeys({ curve: "ED25519", seed: new Uint8Array(32) });
    console.log(keys.signerAddress);
  `;
  const args = ["--import", "tsx", "--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: ROOT,
    env: programEnvironment,
  });
  expect(stdout).toMatch(/^0x[0-9a-f]{64}\n$/);
});
