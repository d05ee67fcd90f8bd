import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ChainReader } from "../../../src/protocol/chain/chain-reader.ts";
import { PollTimeoutError, poll, pollObject, sleep } from "../../../src/protocol/chain/poll.ts";
import { NetworkRejectedError } from "../../../src/protocol/chain/read-errors.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** The times of the attempts, in milliseconds from the start. */
function record<T>(answers: readonly (T | undefined | Error)[]): {
  at: number[];
  look: () => Promise<T | undefined>;
} {
  const start = performance.now();
  const at: number[] = [];
  return {
    at,
    look: async () => {
      at.push(Math.round(performance.now() - start));
      const answer = answers[Math.min(at.length, answers.length) - 1];
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
}

test("a poll returns the result of its first attempt without waiting", async () => {
  await expect(poll(async () => 1, { timeoutMs: 1000 })).resolves.toBe(1);
  expect(vi.getTimerCount()).toBe(0);
});

test("a poll's waits grow from the initial to the longest interval", async () => {
  const { at, look } = record<string>([...Array.from({ length: 8 }, () => undefined), "found"]);
  const result = poll(look, {
    timeoutMs: 60_000,
    initialIntervalMs: 100,
    maxIntervalMs: 400,
    backoffFactor: 2,
  });
  await vi.runAllTimersAsync();
  await expect(result).resolves.toBe("found");
  expect(at).toEqual([0, 100, 300, 700, 1100, 1500, 1900, 2300, 2700]);
});

test("an error ends a poll at once, and a transient error is retried", async () => {
  const isTransient = (error: unknown): boolean => (error as Error).message === "transient";
  const fatal = record<string>([new Error("transient"), new Error("fatal"), "never"]);
  const result = poll(fatal.look, { timeoutMs: 60_000, isTransient });
  await Promise.all([expect(result).rejects.toThrow("fatal"), vi.runAllTimersAsync()]);
  expect(fatal.at).toHaveLength(2);
});

test("a poll that times out has the last transient error as its cause", async () => {
  const { at, look } = record<string>([new Error("transient")]);
  const result = poll(look, { timeoutMs: 1000, maxIntervalMs: 300, isTransient: () => true });
  await Promise.all([
    expect(result).rejects.toMatchObject({
      name: "PollTimeoutError",
      cause: { message: "transient" },
    }),
    vi.runAllTimersAsync(),
  ]);
  expect(at.at(-1)).toBeLessThanOrEqual(1000);
});

test("an abort ends a poll's wait or attempt at once with the signal's reason", async () => {
  const waiting = new AbortController();
  const result = poll(async () => undefined, { timeoutMs: 60_000, signal: waiting.signal });
  waiting.abort(new Error("stop"));
  await expect(result).rejects.toThrow("stop");
  expect(vi.getTimerCount()).toBe(0);

  const looking = new AbortController();
  const hanging = poll(
    (signal) =>
      new Promise<undefined>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    { timeoutMs: 60_000, signal: looking.signal },
  );
  looking.abort(new Error("now"));
  await expect(hanging).rejects.toThrow("now");
  await expect(sleep(10, looking.signal)).rejects.toThrow("now");
});

describe("an object on the chain", () => {
  const parse = (content: Uint8Array): { state: { kind: string } } => ({
    state: { kind: new TextDecoder().decode(content) },
  });
  const chain = (
    kinds: readonly (string | undefined | Error)[],
  ): ChainReader & { readCount: () => number } => {
    let count = 0;
    return {
      readCount: () => count,
      async getObjects(ids) {
        const kind = kinds[Math.min(count++, kinds.length - 1)];
        if (kind instanceof Error) throw kind;
        return new Map(kind === undefined ? [] : ids.map((id) => [id, new TextEncoder().encode(kind)]));
      },
    };
  };

  test("is polled while it is absent, pending or unreadable, and returned in the wanted state", async () => {
    const reader = chain([undefined, "Requested", new Error("503"), "Completed", "never read"]);
    const result = pollObject(reader, "0x1", parse, ["Completed"], { timeoutMs: 60_000 });
    await vi.runAllTimersAsync();
    await expect(result).resolves.toEqual({ state: { kind: "Completed" } });
    expect(reader.readCount()).toBe(4);
  });

  test("that the network rejected ends the poll at once", async () => {
    const reader = chain(["AwaitingNetworkDKGVerification", "NetworkRejectedDKGVerification", "Active"]);
    const result = pollObject(reader, "0x1", parse, ["Active"], { timeoutMs: 60_000 });
    await Promise.all([
      expect(result).rejects.toMatchObject({
        objectId: "0x1",
        state: "NetworkRejectedDKGVerification",
      }),
      vi.runAllTimersAsync(),
    ]);
    await expect(result).rejects.toBeInstanceOf(NetworkRejectedError);
    expect(reader.readCount()).toBe(2);
  });

  test("that cannot be parsed ends the poll at once", async () => {
    const refuse = (): never => {
      throw new Error("layout");
    };
    const reader = chain(["Active"]);
    await expect(pollObject(reader, "0x1", refuse, [], { timeoutMs: 60_000 })).rejects.toThrow("layout");
  });

  test("times out if the fullnode never answers", async () => {
    const result = pollObject(chain([new Error("503")]), "0x1", parse, ["Active"], { timeoutMs: 3000 });
    await Promise.all([expect(result).rejects.toBeInstanceOf(PollTimeoutError), vi.runAllTimersAsync()]);
  });
});
