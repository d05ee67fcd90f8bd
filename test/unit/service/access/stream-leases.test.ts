/** The timer and the subscriptions of the leases of streams. */
import { type ContextValues, createContextValues } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createStreamLeases, setStreamStanding } from "../../../../src/service/access/stream-leases.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { IDENTITY_PROVIDER_TOPICS, KEY_KINDS } from "../../../../src/service/platform/coordination/topics.ts";
import { ServiceError } from "../../../../src/service/platform/errors/service-error.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const bounds = { perKey: 10, perProject: 10, perAddress: 10 };

/** Opens a stream that never has a message, for a key with this check. */
async function open(
  leases: ReturnType<typeof createStreamLeases>,
  keyId: string,
  check: () => Promise<void>,
) {
  const contextValues: ContextValues = createContextValues();
  setStreamStanding(contextValues, { name: keyId, keyId, projectId: "project", check });
  async function* silent() {
    yield await new Promise(() => {});
  }
  const next = async () => ({ stream: true, message: silent() });
  const { message } = await leases.interceptor(next as never)({ contextValues } as never);
  const stream = (message as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  const ended = stream.next().catch((error: unknown) => error);
  return { ended, leave: () => stream.return?.() };
}

describe("the leases of open streams", () => {
  it("check each key once a second, however many streams it has, until the last stream ends", async () => {
    const leases = createStreamLeases({ bounds });
    expect(vi.getTimerCount()).toBe(0);
    const check = vi.fn(async () => {});
    const other = vi.fn(async () => {});
    const streams = [
      await open(leases, "key", check),
      await open(leases, "key", check),
      await open(leases, "other", other),
    ];
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(999);
    expect(check).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1_001);
    expect([check.mock.calls.length, other.mock.calls.length]).toEqual([2, 2]);
    for (const { leave } of streams) {
      expect(vi.getTimerCount()).toBe(1);
      void leave();
    }
    expect(vi.getTimerCount()).toBe(0);
    await open(leases, "key", check);
    expect(vi.getTimerCount()).toBe(1);
    leases.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("check a key at once when a signal names it, and listen to none once they are closed", async () => {
    const listeners = new Map<string, (keyId: string) => void>();
    const signals = {
      ...createLocalSignals(),
      subscribeKind(kind: string, listener: (keyId: string) => void) {
        listeners.set(kind, listener);
        return () => void listeners.delete(kind);
      },
    };
    const leases = createStreamLeases({ bounds, signals });
    expect([...listeners.keys()]).toEqual([...KEY_KINDS, IDENTITY_PROVIDER_TOPICS]);
    const check = vi.fn(async () => {});
    await open(leases, "key", check);
    for (const listener of listeners.values()) {
      listener("another");
      listener("key");
    }
    // A removed provider's sessions are unknown here, so every key is checked.
    expect(check).toHaveBeenCalledTimes(KEY_KINDS.length + 2);
    leases.close();
    expect(listeners.size).toBe(0);
  });

  it("end a stream whose key is refused, and no stream for another failure of its check", async () => {
    const leases = createStreamLeases({ bounds });
    const revoked = new ServiceError("REVOKED_KEY", "the API key was revoked");
    const stays = await open(leases, "stays", () =>
      Promise.reject(new ServiceError("INTERNAL", "no database")),
    );
    const ends = await open(leases, "ends", () => Promise.reject(revoked));
    await leases.sweep();
    expect(await ends.ended).toBe(revoked);
    expect(await Promise.race([stays.ended, Promise.resolve("open")])).toBe("open");
    leases.close();
  });
});
