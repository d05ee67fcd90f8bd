/** One worker of an engine and its calls, over a worker that the test impersonates. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { EngineError } from "../../../../src/client/crypto/engine.ts";
import type {
  CallMessage,
  FromWorker,
  ToWorker,
} from "../../../../src/client/crypto/engines/engine-messages.ts";
import type { StartEngineThread } from "../../../../src/client/crypto/engines/engine-thread.ts";
import { createThreadCall, createThreadSlot } from "../../../../src/client/crypto/engines/thread-call.ts";
import { ALGORITHM_TRIPLES } from "../../../../src/protocol/algorithms.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const START_MS = 30_000;
const LEAVE_MS = 5_000;
const seedInput = () => ({ curve: "ED25519", seed: new Uint8Array(32).fill(7) }) as const;
const callOf = (id: number): CallMessage => ({
  ...{ kind: "call", id, method: "deriveUserKeys", input: seedInput() },
});

/** A slot, and what its worker gets and says. */
function played({ refusesFrom = Number.POSITIVE_INFINITY } = {}) {
  const sent: ToWorker[] = [];
  const refused: ToWorker[] = [];
  const holds: boolean[] = [];
  const seen = { changes: 0, ends: [] as unknown[], terminations: 0 };
  let events: Parameters<StartEngineThread>[0] | undefined;
  const start: StartEngineThread = (given) => {
    events = given;
    return {
      post(message) {
        const isRefused = sent.length >= refusesFrom;
        (isRefused ? refused : sent).push(message);
        if (isRefused) throw new Error("out of memory");
      },
      hold: (isHeld) => void holds.push(isHeld),
      terminate() {
        seen.terminations++;
        given.onEnd(new Error("terminated"));
      },
    };
  };
  const slot = createThreadSlot(start, {
    onChange: () => void seen.changes++,
    onEnd: (cause) => void seen.ends.push(String(cause)),
  });
  const say = (message: FromWorker): void => events!.onMessage(message);
  const end = (cause: Error): void => events!.onEnd(cause);
  return { slot, sent, refused, holds, seen, say, end };
}

function ready(options?: Parameters<typeof played>[0]) {
  const worker = played(options);
  worker.say({ kind: "ready" });
  return worker;
}

describe("a worker", () => {
  test("takes calls once it says that it is ready, and is terminated if it does not within 30 s", () => {
    const { slot, say, seen } = played();
    expect([slot.isReady, slot.isIdle]).toEqual([false, false]);
    say({ kind: "ready" });
    expect([slot.isReady, slot.isIdle, seen.changes]).toEqual([true, true, 1]);
    vi.advanceTimersByTime(START_MS);
    expect(seen.terminations).toBe(0);

    const silent = played();
    vi.advanceTimersByTime(START_MS - 1);
    expect(silent.seen.terminations).toBe(0);
    vi.advanceTimersByTime(1);
    expect(silent.seen).toMatchObject({ terminations: 1, ends: ["Error: terminated"] });
    expect(silent.slot.isIdle).toBe(false);
  });

  test("answers its own call once, and is idle again before the answer is heard", () => {
    const { slot, say, seen } = ready();
    const answers: unknown[] = [];
    slot.run(callOf(5), [], (answer) => void answers.push([answer, slot.isIdle]));
    expect(slot.isIdle).toBe(false);
    say({ kind: "result", id: 4, output: true });
    expect([answers, seen.changes]).toEqual([[], 1]);
    say({ kind: "result", id: 5, output: true });
    say({ kind: "result", id: 5, output: false });
    expect([answers, seen.changes]).toEqual([[[{ output: true }, true]], 2]);
  });

  test.each([
    ["refused", EngineError],
    ["failed", Error],
  ] as const)("tells a call that it %s apart", (kind, type) => {
    const { slot, say } = ready();
    const onAnswer = vi.fn();
    slot.run(callOf(1), [], onAnswer);
    say({ kind, id: 1, reason: "why" });
    const [{ failure }] = onAnswer.mock.lastCall as [{ failure: Error }];
    expect([failure.constructor, failure.message]).toEqual([type, "why"]);
  });

  test("fails its call when it ends, and reports its end once", () => {
    const { slot, seen, end } = ready();
    const onAnswer = vi.fn();
    slot.run(callOf(1), [], onAnswer);
    end(new Error("crashed"));
    end(new Error("again"));
    expect(onAnswer).toHaveBeenCalledOnce();
    expect(String(onAnswer.mock.lastCall![0].failure)).toBe("EngineError: a worker ended during the call");
    expect([seen.ends, slot.isIdle]).toEqual([["Error: crashed"], false]);
  });

  test("gets a cancellation once, and is terminated if it does not answer within 5 s", () => {
    const { slot, sent, say, seen } = ready();
    slot.cancel();
    expect(sent).toEqual([]);
    slot.run(callOf(1), [], () => {});
    slot.cancel();
    slot.cancel();
    expect(sent.slice(1)).toEqual([{ kind: "cancel", id: 1 }]);
    say({ kind: "failed", id: 1, reason: "cancelled" });
    vi.advanceTimersByTime(LEAVE_MS);
    expect([seen.terminations, slot.isIdle]).toEqual([0, true]);

    slot.run(callOf(2), [], () => {});
    slot.cancel();
    vi.advanceTimersByTime(LEAVE_MS - 1);
    expect(seen.terminations).toBe(0);
    vi.advanceTimersByTime(1);
    expect(seen.terminations).toBe(1);
  });

  test("keeps the process alive while it runs a call that nobody cancelled, or somebody waits for it", () => {
    const { slot, holds } = ready();
    slot.hold(false);
    slot.hold(true);
    slot.run(callOf(1), [], () => {});
    slot.hold(false);
    slot.cancel();
    slot.hold(false);
    slot.hold(true);
    expect(holds).toEqual([false, true, true, false, true]);
  });

  test("stays idle if its call cannot be sent", () => {
    const { slot } = ready({ refusesFrom: 0 });
    const onAnswer = vi.fn();
    expect(() => slot.run(callOf(1), [], onAnswer)).toThrow("out of memory");
    expect([slot.isIdle, onAnswer.mock.calls]).toEqual([true, []]);
  });

  test("is closed when it says so, and is terminated if it does not within 5 s", async () => {
    for (const answers of [true, false]) {
      const { slot, sent, holds, say, seen } = ready();
      const closed = slot.close();
      expect([sent, holds]).toEqual([[{ kind: "close" }], [true]]);
      if (answers) say({ kind: "closed" });
      else vi.advanceTimersByTime(LEAVE_MS - 1);
      expect(seen.terminations).toBe(answers ? 1 : 0);
      vi.advanceTimersByTime(1);
      expect(seen.terminations).toBe(1);
      await closed;
      await slot.close();
      expect(sent).toHaveLength(1);
    }
  });

  test("is terminated at once if it is closed before it is ready", async () => {
    const { slot, sent, seen } = played();
    await slot.close();
    expect([sent, seen.terminations]).toEqual([[], 1]);
  });
});

describe("a call", () => {
  const outcome = (promise: Promise<unknown>) => promise.catch((cause: unknown) => String(cause));
  const triple = (name: string) =>
    ALGORITHM_TRIPLES.find(({ signatureAlgorithm }) => signatureAlgorithm === name)!;
  const signing = (name: string) =>
    createThreadCall("createSignMessage", {
      triple: triple(name),
      userSecretKeyShare: new Uint8Array(3).fill(7),
    } as never);

  test("can be shared by two workers if it is an ECDSA half, and nothing else", () => {
    const shareable = ["ECDSASecp256k1", "ECDSASecp256r1", "EdDSA", "Taproot"].map((name) => signing(name));
    expect(shareable.map(({ isShareable }) => isShareable)).toEqual([true, true, false, false]);
    expect(createThreadCall("deriveUserKeys", seedInput()).isShareable).toBe(false);
  });

  test("that fails while it waits overwrites its secrets, and fails once", async () => {
    const input = seedInput();
    const call = createThreadCall("deriveUserKeys", input);
    call.fail(new Error("first"));
    call.fail(new Error("second"));
    expect(await outcome(call.output)).toBe("Error: first");
    expect(input.seed).toEqual(new Uint8Array(32));
  });

  test("that fails while it runs is cancelled, and a late output is overwritten", async () => {
    const { slot, sent, say } = ready();
    const input = seedInput();
    const call = createThreadCall("deriveUserKeys", input);
    call.runOn([slot]);
    call.fail(new Error("enough"));
    expect(await outcome(call.output)).toBe("Error: enough");
    // The worker has the input.
    expect(input.seed).toEqual(new Uint8Array(32).fill(7));
    const [begun, cancelled] = sent;
    expect([begun, cancelled]).toMatchObject([{ kind: "call", input }, { kind: "cancel" }]);
    const output = new Uint8Array(3).fill(9);
    say({ kind: "result", id: (begun as CallMessage).id, output });
    expect(output).toEqual(new Uint8Array(3));
  });

  test("that two workers share ends with the failure of one, and the other's output is overwritten", async () => {
    for (const isLate of [false, true]) {
      const workers = [ready(), ready()];
      const call = signing("ECDSASecp256k1");
      call.runOn(workers.map(({ slot }) => slot));
      const [first, second] = workers.map(({ sent }) => sent[0] as CallMessage);
      expect([first!.peer?.part, second!.peer?.part]).toEqual([0, 1]);
      // Each worker overwrites its own copy of the secrets.
      expect(first!.input).toEqual(second!.input);
      expect((first!.input as { userSecretKeyShare: Uint8Array }).userSecretKeyShare).not.toBe(
        (second!.input as { userSecretKeyShare: Uint8Array }).userSecretKeyShare,
      );
      const output = new Uint8Array(3).fill(9);
      const finish = () => workers[0]!.say({ kind: "result", id: first!.id, output });
      if (!isLate) finish();
      workers[1]!.say({ kind: "refused", id: second!.id, reason: "a bad proof" });
      expect(workers[0]!.sent.slice(1)).toEqual(isLate ? [{ kind: "cancel", id: first!.id }] : []);
      if (isLate) finish();
      expect(await outcome(call.output)).toBe("EngineError: a bad proof");
      expect(output).toEqual(new Uint8Array(3));
      for (const message of [first!, second!]) message.peer!.port.close();
    }
  });

  test("that two workers share has their output if both are equal octets", async () => {
    for (const [outputs, expected] of [
      [[Uint8Array.of(1, 2), Uint8Array.of(1, 2)], Uint8Array.of(1, 2)],
      [[Uint8Array.of(1, 2), Uint8Array.of(1, 3)], expect.stringContaining("two workers computed different")],
      [[true, true], expect.stringContaining("two workers computed different")],
    ] as const) {
      const workers = [ready(), ready()];
      const call = signing("ECDSASecp256k1");
      call.runOn(workers.map(({ slot }) => slot));
      for (const [index, { sent, say }] of workers.entries()) {
        const { id, peer } = sent[0] as CallMessage;
        peer!.port.close();
        say({ kind: "result", id, output: outputs[index]! });
      }
      expect(await outcome(call.output)).toEqual(expected);
    }
  });

  test("that cannot be sent fails with all unsent secrets overwritten, and cancels the part that was sent", async () => {
    const [first, second] = [ready(), ready({ refusesFrom: 0 })];
    const call = signing("ECDSASecp256k1");
    call.runOn([first.slot, second.slot]);
    expect(await outcome(call.output)).toBe("EngineError: the call could not be sent to a worker");
    const { id, peer } = first.sent[0] as CallMessage;
    peer!.port.close();
    expect(first.sent[1]).toEqual({ kind: "cancel", id });
    expect(second.refused).toMatchObject([{ input: { userSecretKeyShare: new Uint8Array(3) } }]);

    const input = seedInput();
    const alone = createThreadCall("deriveUserKeys", input);
    alone.runOn([second.slot]);
    expect(await outcome(alone.output)).toBe("EngineError: the call could not be sent to a worker");
    expect(input.seed).toEqual(new Uint8Array(32));
  });

  test("without workers runs on another engine, which learns of its abort", async () => {
    const call = createThreadCall("deriveUserKeys", seedInput());
    const run = vi.fn(async (_method: unknown, _input: unknown, signal?: AbortSignal) => {
      await new Promise((_, reject) => signal!.addEventListener("abort", () => reject(signal!.reason)));
    });
    call.runWith({ run } as never);
    call.fail(new Error("enough"));
    expect(await outcome(call.output)).toBe("Error: enough");
    expect(run.mock.lastCall![2]!.aborted).toBe(true);
  });
});
