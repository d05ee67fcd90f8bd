import { describe, expect, it } from "vitest";
import { A, createFakes, EXECUTE, MESSAGE, message, READ, STREAM, trailers } from "./fake-fullnodes.ts";

describe("several fullnodes", () => {
  it("are called in their order, so that only the first one gets calls while it answers", async () => {
    const { read, calls, asked, fullnodes } = createFakes();
    expect(await read()).toEqual(MESSAGE);
    await read();
    expect(calls).toEqual([`a${READ}`, `a${READ}`]);
    expect(asked).toEqual(["a"]);
    expect(fullnodes.statuses()).toMatchObject([
      { host: "a.example", isServing: true, isSkipped: false },
      { host: "b.example", isServing: false, isSkipped: false },
    ]);
  });

  it.each([
    ["cannot be reached", () => new TypeError("fetch failed")],
    ["answers 429", () => new Response("", { status: 429 })],
    ["answers 503", () => new Response("", { status: 503 })],
    ["answers RESOURCE_EXHAUSTED in the head", () => new Response("", { headers: { "grpc-status": "8" } })],
    ["answers UNAVAILABLE in the body", () => trailers(14)],
    ["answers DEADLINE_EXCEEDED in the body", () => trailers(4)],
  ])("replace one that %s, at once and for the next calls", async (_, answer) => {
    const { read, calls, set, switches, fullnodes } = createFakes();
    await read();
    set("a", answer);
    expect(await read()).toEqual(MESSAGE);
    expect(await read(EXECUTE)).toEqual(MESSAGE);
    expect(calls).toEqual([`a${READ}`, `a${READ}`, `b${READ}`, `b${EXECUTE}`]);
    expect(switches).toEqual(["b.example"]);
    expect(fullnodes.statuses()).toMatchObject([{ isSkipped: true }, { isServing: true }]);
  });

  it("replace one that does not begin to answer, after four seconds for a read and twenty for an execution", async () => {
    for (const [route, afterMs] of [
      [READ, 4_000],
      [EXECUTE, 20_000],
    ] as const) {
      const { read, set, clock, calls, hangs } = createFakes();
      set("a", () => "never");
      const reading = read(route);
      await hangs;
      clock.advance(afterMs - 1);
      expect(calls).toEqual([`a${route}`]);
      clock.advance(1);
      expect(await reading).toEqual(MESSAGE);
    }
  });

  it("return to the first one after a pause that doubles with each failure", async () => {
    const { read, calls, set, clock } = createFakes();
    set("a", () => new TypeError("fetch failed"));
    await read();
    clock.advance(1_000);
    await read();
    clock.advance(1_999);
    await read();
    set("a", message);
    clock.advance(1);
    await read();
    expect(calls.map(([host]) => host).join("")).toBe("ababba");
  });

  it.each([
    ["an answer that is the caller's fault", () => trailers(3)],
    ["an answer that the chain lacks something", () => trailers(5)],
  ])("pass on %s", async (_, answer) => {
    const { read, calls, set } = createFakes();
    set("a", answer);
    await read();
    expect(calls).toEqual([`a${READ}`]);
  });

  it("pass on the last one's refusal, so that callers back off", async () => {
    const { fullnodes, set } = createFakes();
    for (const host of ["a", "b"] as const) set(host, () => new Response("", { status: 429 }));
    expect((await fullnodes.fetch(`${A}${READ}`)).status).toBe(429);
  });

  it("skip a node of another chain, name it, and check it again later", async () => {
    const { read, calls, asked, fullnodes, clock } = createFakes({ a: "another" });
    expect(await read()).toEqual(MESSAGE);
    expect(calls).toEqual([`b${READ}`]);
    expect(fullnodes.statuses()[0]!.fault).toBe(
      "the fullnode a.example serves another chain: another, not chain",
    );
    clock.advance(1_000);
    await read();
    expect(calls).toEqual([`b${READ}`, `b${READ}`]);
    expect(asked).toEqual(["a", "b", "a"]);
  });

  it("replace one that does not tell its chain, after the time of an attempt", async () => {
    for (const [route, afterMs] of [
      [READ, 4_000],
      [EXECUTE, 20_000],
    ] as const) {
      const { read, calls, clock, fullnodes } = createFakes({ a: () => new Promise(() => {}) });
      const reading = read(route);
      clock.advance(afterMs - 1);
      expect(fullnodes.statuses()[0]!.isSkipped).toBe(false);
      clock.advance(1);
      expect(await reading).toEqual(MESSAGE);
      expect(calls).toEqual([`b${route}`]);
      expect(fullnodes.statuses()[0]!.fault).toBe("the fullnode a.example does not answer in time");
    }
  });

  it("end a call that is aborted during the check of a chain, and check once for the other calls", async () => {
    let tell: (chain: string) => void = () => {};
    const chain = new Promise<string>((resolve) => {
      tell = resolve;
    });
    const { read, calls, asked, fullnodes } = createFakes({ a: () => chain });
    const caller = new AbortController();
    const [impatient, patient] = [read(READ, { signal: caller.signal }), read()];
    caller.abort(new Error("enough"));
    await expect(impatient).rejects.toThrow("enough");
    await expect(read(READ, { signal: caller.signal })).rejects.toThrow("enough");
    expect(fullnodes.statuses()[0]!.isSkipped).toBe(false);
    tell("chain");
    expect(await patient).toEqual(MESSAGE);
    expect([asked, calls]).toEqual([["a"], [`a${READ}`]]);
  });

  it("check a node's chain again if the first check fails after its caller has given up", async () => {
    let fail: (error: Error) => void = () => {};
    const first = new Promise<string>((_, reject) => {
      fail = reject;
    });
    const answers = [first, Promise.resolve("chain")];
    const { read, calls, asked } = createFakes({ a: () => answers.shift()! });
    const caller = new AbortController();
    const reading = read(READ, { signal: caller.signal });
    caller.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
    fail(new Error("no answer"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(await read()).toEqual(MESSAGE);
    expect([asked, calls]).toEqual([["a", "a"], [`a${READ}`]]);
  });

  it("check a node's chain again after it was unreachable", async () => {
    const { read, asked, set, clock } = createFakes();
    await read();
    set("a", () => new TypeError("fetch failed"));
    await read();
    set("a", message);
    clock.advance(1_000);
    await read();
    expect(asked).toEqual(["a", "b", "a"]);
  });

  it("end the call of a caller that gives up, and count it against no node", async () => {
    const { read, set, fullnodes, calls, hangs } = createFakes();
    set("a", () => "never");
    const caller = new AbortController();
    const reading = read(READ, { signal: caller.signal });
    await hangs;
    caller.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
    expect(calls.filter((call) => call.startsWith("b"))).toEqual([]);
    expect(fullnodes.statuses()[0]!.isSkipped).toBe(false);
  });

  it("skip a node whose answer breaks in the middle", async () => {
    const { read, set, fullnodes } = createFakes();
    set("a", () => {
      let pulls = 0;
      return new Response(
        new ReadableStream({
          pull(controller) {
            if (pulls++ === 0) controller.enqueue(MESSAGE.slice(0, 5));
            else controller.error(new Error("the connection broke"));
          },
        }),
      );
    });
    await expect(read()).rejects.toThrow("the connection broke");
    expect(fullnodes.statuses()[0]).toMatchObject({ isSkipped: true, fault: "the connection broke" });
    expect(await read()).toEqual(MESSAGE);
  });

  it("count simultaneous failures as one", async () => {
    const { read, set, clock, calls } = createFakes();
    set("a", () => new TypeError("fetch failed"));
    await Promise.all(Array.from({ length: 8 }, async () => read()));
    set("a", message);
    clock.advance(1_000);
    await read();
    expect(calls.at(-1)).toBe(`a${READ}`);
  });

  it("count no failure when the caller gives up in the middle of an answer", async () => {
    const { set, fullnodes } = createFakes();
    const caller = new AbortController();
    set("a", () => {
      let pulls = 0;
      return new Response(
        new ReadableStream({
          pull(controller) {
            if (pulls++ === 0) return controller.enqueue(MESSAGE.slice(0, 5));
            caller.abort(new Error("enough"));
            controller.error(new Error("enough"));
          },
        }),
      );
    });
    const answer = await fullnodes.fetch(`${A}${READ}`, { signal: caller.signal });
    await expect(answer.arrayBuffer()).rejects.toThrow("enough");
    expect(fullnodes.statuses()[0]!.isSkipped).toBe(false);
  });

  it.each([
    ["refuses it with 503", () => new Response("", { status: 503 })],
    ["refuses it in the head", () => new Response("", { headers: { "grpc-status": "14" } })],
  ])("send a stream to the next one if the first %s", async (_, answer) => {
    const { read, set, calls } = createFakes();
    set("a", answer);
    expect(await read(STREAM)).toEqual(MESSAGE);
    expect(calls).toEqual([`a${STREAM}`, `b${STREAM}`]);
  });

  it.each([
    ["breaks", (controller: ReadableStreamDefaultController) => controller.error(new Error("it broke"))],
    ["ends", (controller: ReadableStreamDefaultController) => controller.close()],
  ])("send the next stream to another one after a stream %s", async (_, stop) => {
    const { fullnodes, set, read, calls } = createFakes();
    set("a", () => {
      let pulls = 0;
      const pull = (controller: ReadableStreamDefaultController) =>
        pulls++ === 0 ? controller.enqueue(MESSAGE) : stop(controller);
      return new Response(new ReadableStream({ pull }));
    });
    const stream = await fullnodes.fetch(`${A}${STREAM}`);
    expect(fullnodes.statuses()[0]).toMatchObject({ isServing: false, isSkipped: false });
    await stream.arrayBuffer().catch(() => undefined);
    expect(await read(STREAM)).toEqual(MESSAGE);
    expect(calls).toEqual([`a${STREAM}`, `b${STREAM}`]);
  });

  it("show only hosts, because a URL may contain a key", async () => {
    const { read, set, fullnodes } = createFakes();
    set("a", () => new Response("", { status: 500 }));
    await read();
    expect(JSON.stringify(fullnodes.statuses())).not.toContain("key-of-a");
  });
});
