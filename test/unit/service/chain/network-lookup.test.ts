import type { LookupAddress } from "node:dns";
import { describe, expect, it } from "vitest";
import { createNetworkLookup } from "../../../../src/service/chain/fullnodes/network-fetch.ts";
import { createManualClock } from "../../../support/manual-clock.ts";

const OLD = [{ address: "10.0.0.1", family: 4 }];
const NEW = [
  { address: "10.0.0.2", family: 4 },
  { address: "::2", family: 6 },
];

/** A lookup whose answers the test gives. */
function start() {
  const clock = createManualClock();
  const asked: string[] = [];
  const open = new Map<string, PromiseWithResolvers>();
  const lookup = createNetworkLookup({
    clock,
    resolve(hostname) {
      asked.push(hostname);
      return new Promise((resolve, reject) => open.set(hostname, { resolve, reject }));
    },
  });
  const find = (hostname: string) =>
    new Promise<unknown>((resolve, reject) => {
      lookup(hostname, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
    });
  /** Lets every reaction to what happened run. */
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const answer = async (hostname: string, addresses: LookupAddress[]) => {
    open.get(hostname)?.resolve(addresses);
    await settle();
  };
  const fail = async (hostname: string) => {
    open.get(hostname)?.reject(new Error(`no address for ${hostname}`));
    await settle();
  };
  return { clock, asked, lookup, find, settle, answer, fail };
}

interface PromiseWithResolvers {
  readonly resolve: (addresses: LookupAddress[]) => void;
  readonly reject: (error: Error) => void;
}

describe("a network's DNS lookup", () => {
  it("resolves one host at a time, in the order of the calls", async () => {
    const { asked, find, settle, answer, fail } = start();
    const [first, second, third] = [find("a.example"), find("b.example"), find("c.example")];
    first.catch(() => {});
    await settle();
    expect(asked).toEqual(["a.example"]);
    await fail("a.example");
    expect(asked).toEqual(["a.example", "b.example"]);
    await answer("b.example", OLD);
    expect(asked).toEqual(["a.example", "b.example", "c.example"]);
    await answer("c.example", NEW);
    await expect(first).rejects.toThrow("no address for a.example");
    expect(await Promise.all([second, third])).toEqual([OLD, NEW]);
  });

  it("resolves a host once for all who wait for it, and again for the next one", async () => {
    const { asked, find, settle, answer } = start();
    const waiting = Array.from({ length: 100 }, () => find("a.example"));
    await settle();
    await answer("a.example", OLD);
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => OLD));
    expect(asked).toEqual(["a.example"]);
    const next = find("a.example");
    await settle();
    await answer("a.example", NEW);
    expect(await next).toEqual(NEW);
    expect(asked).toEqual(["a.example", "a.example"]);
  });

  it("yields the last good addresses when a lookup fails, however often", async () => {
    const { find, settle, answer, fail } = start();
    const first = find("a.example");
    await settle();
    await answer("a.example", OLD);
    await first;
    for (let failures = 0; failures < 3; failures++) {
      const next = find("a.example");
      await settle();
      await fail("a.example");
      expect(await next).toEqual(OLD);
    }
  });

  it("yields the last good addresses a second after a lookup began that does not end, and then at once", async () => {
    const { clock, asked, find, settle, answer } = start();
    const first = find("a.example");
    await settle();
    await answer("a.example", OLD);
    await first;
    let found: unknown;
    const next = find("a.example").then((addresses) => {
      found = addresses;
    });
    await settle();
    clock.advance(999);
    await settle();
    expect(found).toBeUndefined();
    clock.advance(1);
    await next;
    expect(found).toEqual(OLD);
    expect(await find("a.example")).toEqual(OLD);
    expect(asked).toEqual(["a.example", "a.example"]);
    await answer("a.example", NEW);
    const last = find("a.example");
    await settle();
    clock.advance(1_000);
    expect(await last).toEqual(NEW);
  });

  it("counts the second also while another host has its turn", async () => {
    const { clock, asked, find, settle, answer } = start();
    const first = find("a.example");
    await settle();
    await answer("a.example", OLD);
    await first;
    void find("hangs.example");
    const next = find("a.example");
    await settle();
    clock.advance(1_000);
    expect(await next).toEqual(OLD);
    expect(asked).toEqual(["a.example", "hangs.example"]);
  });

  it("keeps no timer after a lookup", async () => {
    const { clock, find, settle, answer, fail } = start();
    const [found, failed] = [find("a.example"), find("b.example")];
    failed.catch(() => {});
    await settle();
    await answer("a.example", OLD);
    await fail("b.example");
    await Promise.allSettled([found, failed]);
    expect(clock.timerCount).toBe(0);
  });

  it("yields one address with its family to a caller that asks for one", async () => {
    const { lookup, settle, answer } = start();
    const found = new Promise((resolve) => {
      lookup("a.example", {}, (_, address, family) => resolve([address, family]));
    });
    await settle();
    await answer("a.example", NEW);
    expect(await found).toEqual(["10.0.0.2", 4]);
  });
});
