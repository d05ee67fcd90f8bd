import { describe, expect, it } from "vitest";
import { CHAIN_IDENTIFIERS } from "../../../../src/protocol/chain/network-traits.ts";
import { A, createFakes, EXECUTE, MESSAGE, message, READ, STREAM } from "./fake-fullnodes.ts";

describe("a reply that names another chain", () => {
  const [own, other] = [CHAIN_IDENTIFIERS.testnet, CHAIN_IDENTIFIERS.mainnet];
  const naming = (chainId: string) => () => new Response(MESSAGE, { headers: { "x-sui-chain-id": chainId } });

  it.each([READ, EXECUTE, STREAM])("fails the call %s of the only fullnode", async (route) => {
    const { only, set } = createFakes();
    const fullnode = only();
    fullnode.pinChain(own);
    set("a", naming(other));
    await expect(fullnode.fetch(A + route)).rejects.toThrow(
      `the fullnode a.example serves another chain: ${other}, not ${own}`,
    );
    set("a", naming(own));
    expect((await fullnode.fetch(A + route)).status).toBe(200);
  });

  it("is accepted from the only fullnode until its chain is pinned, and then never again", async () => {
    const { only, set } = createFakes();
    const fullnode = only();
    set("a", naming(other));
    await fullnode.fetch(A + READ);
    fullnode.pinChain(own);
    await expect(fullnode.fetch(A + READ)).rejects.toThrow("serves another chain");
    set("a", naming(own));
    expect((await fullnode.fetch(A + READ)).status).toBe(200);
  });

  it("is not read any further, whether its body can be cancelled or not", async () => {
    const { only, set } = createFakes();
    const fullnode = only();
    fullnode.pinChain(own);
    let cancelCount = 0;
    for (const cancel of [
      () => {},
      () => Promise.reject(new Error("broken")),
      () => new Promise<void>(() => {}),
    ]) {
      const body = new ReadableStream({
        cancel() {
          cancelCount += 1;
          return cancel();
        },
      });
      set("a", () => new Response(body, { headers: { "x-sui-chain-id": other } }));
      await expect(fullnode.fetch(A + READ)).rejects.toThrow("serves another chain");
    }
    expect(cancelCount).toBe(3);
  });

  it.each([
    // The short identifiers of both chains are those of Sui's documentation. Older nodes send them.
    ["passes", "the short identifier of its own chain", "4c78adac"],
    ["fails", "the short identifier of another chain", "35834a8a"],
    ["passes", "an identifier in capitals, which no node sends", "35834A8A"],
    ["passes", "no text", ""],
    ["passes", "the name of a network", "testnet"],
    ["passes", "a text of 8,000 characters", "1".repeat(8_000)],
  ])("is recognized by its header: a reply %s with %s", async (outcome, _, named) => {
    const { only, set } = createFakes({ a: own });
    const fullnode = only();
    fullnode.pinChain(own);
    set("a", naming(named));
    const end = await fullnode.fetch(A + READ).then(
      () => "passes",
      () => "fails",
    );
    expect(end).toBe(outcome);
  });

  it("is recognized without a header, because the fullnode is then asked for its chain every five seconds", async () => {
    let served: string = own;
    const { only, set, asked, clock } = createFakes({ a: async () => served });
    const fullnode = only();
    fullnode.pinChain(own);
    set("a", message);
    await Promise.all([fullnode.fetch(A + READ), fullnode.fetch(A + EXECUTE)]);
    clock.advance(4_999);
    served = other;
    await fullnode.fetch(A + READ);
    expect(asked).toEqual(["a"]);
    clock.advance(1);
    for (let attempt = 0; attempt < 2; attempt++)
      await expect(fullnode.fetch(A + READ)).rejects.toThrow(`serves another chain: ${other}, not ${own}`);
    served = own;
    await fullnode.fetch(A + READ);
    expect(asked).toEqual(["a", "a", "a", "a"]);
  });

  it("is never a refusal, which may come from a proxy", async () => {
    const { only, set, asked } = createFakes({ a: other });
    const fullnode = only();
    fullnode.pinChain(own);
    set("a", () => new Response("", { status: 429 }));
    expect((await fullnode.fetch(A + READ)).status).toBe(429);
    expect(asked).toEqual([]);
  });

  it("is not waited for when the caller gives up while the fullnode is asked", async () => {
    const { only, set } = createFakes({ a: () => new Promise(() => {}) });
    const fullnode = only();
    fullnode.pinChain(own);
    set("a", message);
    const caller = new AbortController();
    const reading = fullnode.fetch(A + READ, { signal: caller.signal });
    caller.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
  });

  it("moves the call to the next fullnode, and the first one is skipped", async () => {
    const { fullnodes, read, calls, set } = createFakes({ a: own, b: own }, own);
    for (const host of ["a", "b"] as const) set(host, naming(own));
    await read();
    set("a", naming(other));
    expect(await read()).toEqual(MESSAGE);
    expect(calls).toEqual([`a${READ}`, `a${READ}`, `b${READ}`]);
    expect(fullnodes.statuses()[0]).toMatchObject({ isSkipped: true });
  });
});
