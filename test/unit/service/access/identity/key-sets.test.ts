import type { JSONWebKeySet } from "jose";
import { describe, expect, it } from "vitest";
import { DownloadsBusy } from "../../../../../src/service/access/identity/fetch-key-set.ts";
import { createKeySets } from "../../../../../src/service/access/identity/key-sets.ts";
import { readKeySet } from "../../../../../src/service/access/identity/read-key-set.ts";
import { tokenKey } from "../../../../support/crypto/signed-token.ts";
import { silentLog } from "../../../../support/silent-log.ts";

const A = { id: "a", url: "https://login.example/jwks" };
const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Key sets on a clock and a provider that the test controls. */
function rig() {
  let nowMs = 0;
  let kids: readonly string[] | Error = ["k1"];
  const gates: (() => void)[] = [];
  const state = { downloads: [] as string[], isHeld: false };
  const sets = createKeySets({
    now: () => nowMs,
    log: silentLog,
    async fetch(url): Promise<JSONWebKeySet> {
      state.downloads.push(url);
      if (state.isHeld) await new Promise<void>((resolve) => gates.push(resolve));
      if (kids instanceof Error) throw kids;
      return readKeySet(JSON.stringify({ keys: kids.map((kid) => tokenKey("ES256", kid).jwk) }));
    },
  });
  return {
    state,
    sets,
    pass: (ms: number) => {
      nowMs += ms;
    },
    publish: (next: readonly string[] | Error) => {
      kids = next;
    },
    release() {
      for (const open of gates.splice(0)) open();
    },
    has: async (kid: string, provider = A) =>
      (await sets.find(provider, kid))?.jwks().keys.some((key) => key.kid === kid),
  };
}

describe("the keys of a provider", () => {
  it("are downloaded once in ten minutes", async () => {
    const { has, pass, state } = rig();
    expect(await has("k1")).toBe(true);
    pass(10 * MINUTE - 1);
    expect(await has("k1")).toBe(true);
    expect(state.downloads).toHaveLength(1);
    pass(1);
    expect(await has("k1")).toBe(true);
    expect(state.downloads).toHaveLength(2);
  });

  it("are downloaded by the next call if downloads for others were in the way", async () => {
    const { has, publish } = rig();
    publish(new DownloadsBusy());
    expect(await has("k1")).toBeUndefined();
    publish(["k1"]);
    expect(await has("k1")).toBe(true);
  });

  it("are downloaded again for a new `kid`, so that a rotation takes effect at once", async () => {
    const { has, pass, publish, state } = rig();
    expect(await has("k1")).toBe(true);
    publish(["k2"]);
    pass(30 * SECOND);
    expect(await has("k2")).toBe(true);
    expect(await has("k1")).toBe(false);
    expect(state.downloads).toHaveLength(2);
  });

  it("are downloaded at most once in thirty seconds, however many unknown `kid`s arrive", async () => {
    const { has, pass, state } = rig();
    for (let second = 0; second < 60; second++) {
      for (let index = 0; index < 10; index++) expect(await has(`unknown-${second}-${index}`)).toBe(false);
      pass(SECOND);
    }
    expect(state.downloads).toHaveLength(2);
  });

  it("are downloaded once for all who wait", async () => {
    const { sets, state, release } = rig();
    state.isHeld = true;
    const waiting = Array.from({ length: 50 }, () => sets.find(A, "k1"));
    await Promise.resolve();
    release();
    const found = await Promise.all(waiting);
    expect(found.every((keys) => keys !== undefined)).toBe(true);
    expect(state.downloads).toHaveLength(1);
  });

  it("are used for an hour while the provider is down, and no longer", async () => {
    const { has, pass, publish, state } = rig();
    expect(await has("k1")).toBe(true);
    publish(new Error("down"));
    pass(60 * MINUTE - 1);
    expect(await has("k1")).toBe(true);
    pass(1);
    expect(await has("k1")).toBeUndefined();
    publish(["k1"]);
    pass(30 * SECOND);
    expect(await has("k1")).toBe(true);
    expect(state.downloads).toHaveLength(3);
  });

  it("age from before their download, so that a slow provider prolongs nothing", async () => {
    const { sets, state, release, pass, has } = rig();
    state.isHeld = true;
    const first = sets.find(A, "k1");
    await Promise.resolve();
    pass(9 * MINUTE);
    release();
    await first;
    state.isHeld = false;
    pass(MINUTE);
    expect(await has("k1")).toBe(true);
    expect(state.downloads).toHaveLength(2);
  });

  it("are not those of a provider that was deleted and added again, which may have withdrawn them", async () => {
    const { has, publish } = rig();
    expect(await has("stolen")).toBe(false);
    publish(["stolen"]);
    expect(await has("stolen", { ...A, id: "b" })).toBe(true);
    publish(["k2"]);
    expect(await has("stolen", { ...A, id: "c" })).toBe(false);
    publish(new Error("somebody keeps the provider from answering"));
    expect(await has("stolen", { ...A, id: "d" })).toBeUndefined();
  });

  it("are remembered for a bounded number of providers", async () => {
    const { has, state } = rig();
    const provider = (index: number) => ({ id: String(index), url: `https://login-${index}.example/jwks` });
    for (let index = 0; index <= 512; index++) await has("k1", provider(index));
    await has("k1", provider(512));
    expect(state.downloads).toHaveLength(513);
    await has("k1", provider(0));
    expect(state.downloads).toHaveLength(514);
  });
});
