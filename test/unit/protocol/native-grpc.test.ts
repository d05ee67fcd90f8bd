/** When native gRPC opens, tests, leaves and ends its connections, on connections that the test controls. */
import { EventEmitter } from "node:events";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type GrpcSession,
  type GrpcStream,
  withNativeGrpc,
} from "../../../src/protocol/chain/native-grpc.ts";

const URL = "grpc://fullnode.test/method";

class FakeStream extends EventEmitter {
  readonly codes: number[] = [];
  end(): void {}
  close(code: number): void {
    this.codes.push(code);
  }
  destroy(cause?: Error): void {
    if (cause !== undefined) this.emit("error", cause);
    this.emit("close");
  }
}

class FakeSession extends EventEmitter {
  closed = false;
  destroyed = false;
  /** Whether the connection alone keeps the process alive. */
  isReferenced = true;
  readonly streams: FakeStream[] = [];
  readonly pings: ((error: Error | null) => void)[] = [];
  request(): FakeStream {
    const stream = new FakeStream();
    this.streams.push(stream);
    return stream;
  }
  ping(onAnswer: (error: Error | null) => void): boolean {
    this.pings.push(onAnswer);
    return true;
  }
  close(): void {
    this.closed = true;
  }
  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    for (const stream of this.streams) stream.destroy();
    this.emit("close");
  }
  ref(): void {
    this.isReferenced = true;
  }
  unref(): void {
    this.isReferenced = false;
  }
}

let sessions: FakeSession[];
let native: ReturnType<typeof withNativeGrpc>;

beforeEach(() => {
  vi.useFakeTimers();
  sessions = [];
  native = withNativeGrpc(
    () => Promise.reject(new Error("no gRPC-web here")),
    () => {
      const session = new FakeSession();
      sessions.push(session);
      return session as unknown as GrpcSession & { request(): GrpcStream };
    },
  );
});
afterEach(() => {
  vi.useRealTimers();
});

/** Begins a call. Returns what aborts it, and its failure. */
function call(): { readonly abort: () => void; readonly failure: Promise<unknown> } {
  const controller = new AbortController();
  const failure = native.fetch(URL, { method: "POST", signal: controller.signal }).catch((error) => error);
  return { abort: () => controller.abort(new Error("stop")), failure };
}

describe("a connection", () => {
  test("that is still opening serves other calls after an aborted one", async () => {
    const first = call();
    first.abort();
    expect(await first.failure).toEqual(new Error("stop"));
    call();
    expect(sessions).toHaveLength(1);
    expect(sessions[0]!.pings).toHaveLength(0);
  });

  test("that is open serves no call after an aborted one, until it answers a ping", async () => {
    call().abort();
    sessions[0]!.emit("connect");
    call().abort();
    expect(sessions).toHaveLength(1);
    expect(sessions[0]!.pings).toHaveLength(1);
    sessions[0]!.pings[0]!(null);
    call();
    expect(sessions).toHaveLength(1);
  });

  test("closes when it answers after another one took its place", () => {
    call();
    sessions[0]!.emit("connect");
    call().abort();
    call();
    expect(sessions).toHaveLength(2);
    sessions[0]!.pings[0]!(null);
    expect(sessions.map(({ closed }) => closed)).toEqual([true, false]);
    call();
    expect(sessions[1]!.streams).toHaveLength(2);
  });

  test("closes when it answers after all were closed", () => {
    call();
    sessions[0]!.emit("connect");
    call().abort();
    const [ping] = sessions[0]!.pings;
    sessions[0]!.destroy = () => {};
    native.close();
    ping!(null);
    expect(sessions[0]!.closed).toBe(true);
  });

  test("that does not answer a ping ends after 10 seconds", () => {
    call();
    sessions[0]!.emit("connect");
    call().abort();
    vi.advanceTimersByTime(9_999);
    expect(sessions[0]!.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(sessions[0]!.destroyed).toBe(true);
  });

  test("that fails a ping serves no new call", () => {
    call();
    sessions[0]!.emit("connect");
    call().abort();
    sessions[0]!.pings[0]!(new Error("no answer"));
    call();
    expect(sessions).toHaveLength(2);
  });

  test("that has begun to close is not pinged", () => {
    const { abort } = call();
    sessions[0]!.emit("connect");
    sessions[0]!.closed = true;
    abort();
    expect(sessions[0]!.pings).toHaveLength(0);
  });

  test("stays in use when a call is aborted after its end", () => {
    const { abort } = call();
    sessions[0]!.emit("connect");
    sessions[0]!.streams[0]!.destroy();
    abort();
    expect(sessions[0]!.pings).toHaveLength(0);
    call();
    expect(sessions).toHaveLength(1);
  });

  test("that does not open ends after 10 seconds, and its call fails", async () => {
    const { failure } = call();
    vi.advanceTimersByTime(9_999);
    expect(sessions[0]!.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(sessions[0]!.destroyed).toBe(true);
    expect(await failure).toEqual(new TypeError("fetch failed: the connection ended"));
  });

  test("with calls is tested each minute, and stays while it answers", () => {
    call();
    sessions[0]!.emit("connect");
    for (const count of [1, 2, 3]) {
      vi.advanceTimersByTime(60_000);
      expect(sessions[0]!.pings).toHaveLength(count);
      sessions[0]!.pings.at(-1)!(null);
    }
    expect([sessions[0]!.closed, sessions[0]!.destroyed]).toEqual([false, false]);
    vi.advanceTimersByTime(70_000);
    expect(sessions[0]!.destroyed).toBe(true);
  });

  test("without calls closes after a minute, and has no timer afterwards", () => {
    const { abort } = call();
    abort();
    sessions[0]!.emit("connect");
    vi.advanceTimersByTime(59_999);
    expect(sessions[0]!.closed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(sessions[0]!.closed).toBe(true);
    expect(sessions[0]!.pings).toHaveLength(0);
    sessions[0]!.emit("close");
    expect(vi.getTimerCount()).toBe(0);
    call();
    expect(sessions).toHaveLength(2);
  });

  test("keeps the process alive exactly while it has calls", () => {
    const calls = [call(), call()];
    expect(sessions[0]!.isReferenced).toBe(true);
    calls[0]!.abort();
    expect(sessions[0]!.isReferenced).toBe(true);
    calls[1]!.abort();
    expect(sessions[0]!.isReferenced).toBe(false);
    call();
    expect(sessions[0]!.isReferenced).toBe(true);
  });

  test("that the fullnode shuts down ends its calls, and serves no new one", () => {
    call();
    sessions[0]!.emit("goaway");
    call();
    expect(sessions.map(({ streams }) => streams.length)).toEqual([1, 1]);
    // The end of the old one leaves the new one in use.
    sessions[0]!.destroy();
    call();
    expect(sessions).toHaveLength(2);
  });
});

test("an aborted call ends at the fullnode with CANCEL", async () => {
  const { abort, failure } = call();
  abort();
  expect(await failure).toEqual(new Error("stop"));
  expect(sessions[0]!.streams[0]!.codes).toEqual([8]);
});

test("a call that was aborted before, or has credentials in its URL, opens no connection", async () => {
  await expect(native.fetch(URL, { signal: AbortSignal.abort(new Error("stop")) })).rejects.toThrow("stop");
  for (const user of ["name@", ":word@", "name:word@"])
    await expect(native.fetch(URL.replace("//", `//${user}`))).rejects.toThrow("must have no credentials");
  expect(sessions).toEqual([]);
});

test("no call opens a connection after all were closed", async () => {
  call();
  native.close();
  expect(sessions[0]!.destroyed).toBe(true);
  expect(await call().failure).toEqual(new TypeError("fetch failed: the connections are closed"));
  expect(sessions).toHaveLength(1);
});

test("other URLs go to gRPC-web", async () => {
  for (const url of ["https://a.test", "http://a.test/grpc://", "xgrpc://a.test"])
    await expect(native.fetch(url)).rejects.toThrow("no gRPC-web here");
});
