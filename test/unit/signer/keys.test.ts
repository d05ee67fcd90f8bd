import { bytesToHex } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { type Curve, type OnboardResult, TssError } from "../../../src/client/sdk/index.ts";
import { Secret } from "../../../src/service/platform/telemetry/secret.ts";
import { parseAccessList } from "../../../src/signer/access/access-list.ts";
import { type Caller, createCaller, EVERYONE } from "../../../src/signer/access/caller.ts";
import { createSlidingBound } from "../../../src/signer/access/sliding-bound.ts";
import { createKeys } from "../../../src/signer/keys.ts";
import type { KeyProgress, KeyStore, StoredKey } from "../../../src/signer/store/key-store.ts";
import { createMemoryKeyStore } from "../../../src/signer/store/memory-key-store.ts";
import { masterSeeds, type SeedSource } from "../../../src/signer/store/seed-source.ts";
import { createLatch } from "../../component/transport/fake-services.ts";
import { readSource } from "../../support/repository/source-files.ts";
import { silentLog } from "../../support/silent-log.ts";

const DWALLET = `0x${"ab".repeat(32)}`;
const made = {
  dwallet: { id: DWALLET, curve: "ED25519" },
  publicKeyHex: "aa",
  sessionDigestHex: "bb",
  userSecretKeyShareHex: "5ec4e7",
} as OnboardResult;
const active = {
  kind: "active",
  dwallet: { dwalletId: DWALLET, publicKeyHex: "aa", sessionDigestHex: "bb" },
};

describe("a key", () => {
  it("is submitted only after its seed is written, and after each resume token is", async () => {
    const events: string[] = [];
    const store = memoryStore({ onWritten: (event) => events.push(event) });
    const keys = keysOf(store, async (args, { onResumeToken }) => {
      expect(store.find("a")?.seed).toEqual(args.seed);
      events.push("begun");
      await onResumeToken("token 1");
      events.push("submitted");
      return made;
    });
    const key = await keys.create("a", "ED25519");
    expect(events).toEqual(["added", "begun", "token 1", "submitted", "active"]);
    expect(key.progress).toEqual(active);
    expect(JSON.stringify([...store.list()])).not.toContain("5ec4e7");
  });

  it("is not submitted if its seed or a token cannot be written", async () => {
    let callCount = 0;
    const full = memoryStore({
      onWritten() {
        throw new Error("ENOSPC");
      },
    });
    const create = async () => {
      callCount++;
      return made;
    };
    await expect(keysOf(full, create).create("a", "ED25519")).rejects.toMatchObject({
      reason: "STORE_UNAVAILABLE",
    });
    expect(callCount).toBe(0);
    const later = memoryStore({
      onWritten(event) {
        if (event === "token 1") throw new Error("ENOSPC");
      },
    });
    const keys = keysOf(later, async (_, { onResumeToken }) => {
      await onResumeToken("token 1");
      callCount++;
      return made;
    });
    await expect(keys.create("a", "ED25519")).rejects.toMatchObject({ reason: "STORE_UNAVAILABLE" });
    expect(callCount).toBe(0);
  });

  it("continues from its newest token, with the same seed", async () => {
    const store = memoryStore();
    const seeds: Uint8Array[] = [];
    const tokens: (string | undefined)[] = [];
    const keys = keysOf(store, async ({ seed }, { onResumeToken }, token) => {
      seeds.push(Uint8Array.from(seed));
      tokens.push(token);
      if (tokens.length === 3) return made;
      await onResumeToken(`token ${tokens.length}`);
      throw new TssError("UNREACHABLE", "gone", { resumeToken: `token ${tokens.length}` });
    });
    for (const _ of [1, 2])
      await expect(keys.create("a", "ED25519")).rejects.toMatchObject({ reason: "UNREACHABLE" });
    expect((await keys.create("a", "ED25519")).progress).toEqual(active);
    expect(tokens).toEqual([undefined, "token 1", "token 2"]);
    expect(new Set(seeds.map(String)).size).toBe(1);
  });

  it("begins again with the same seed and name if its session has failed for good", async () => {
    const store = memoryStore();
    const tokens: (string | undefined)[] = [];
    const keys = keysOf(store, async (_, { onResumeToken }, token) => {
      tokens.push(token);
      if (tokens.length === 2) return made;
      await onResumeToken("token of a dead session");
      throw new TssError("INSUFFICIENT_CREDIT", "no credit");
    });
    await expect(keys.create("a", "ED25519")).rejects.toMatchObject({ reason: "INSUFFICIENT_CREDIT" });
    const { seed } = store.find("a")!;
    expect((await keys.create("a", "ED25519")).seed).toEqual(seed);
    expect(tokens).toEqual([undefined, undefined]);
  });

  it("has one onboarding for concurrent callers, and another curve is refused at once", async () => {
    const latch = createLatch();
    let callCount = 0;
    const keys = keysOf(memoryStore(), async () => {
      callCount++;
      await latch.wait();
      return made;
    });
    const both = [keys.create("a", "ED25519"), keys.create("a", "ED25519")];
    await expect(keys.create("a", "SECP256K1")).rejects.toMatchObject({
      reason: "KEY_CURVE_DIFFERS",
      violations: [{ field: "curve" }],
    });
    await latch.entered;
    expect(() => keys.getActive("a")).toThrow(expect.objectContaining({ reason: "KEY_NOT_ACTIVE" }));
    latch.open();
    const [first, second] = await Promise.all(both);
    expect(first).toBe(second);
    await keys.create("a", "ED25519");
    expect(callCount).toBe(1);
  });

  it("of another seed at the service is refused by its name", async () => {
    const keys = keysOf(memoryStore(), async () => {
      throw new TssError("SHARE_UNVERIFIED", "another seed");
    });
    await expect(keys.create("a", "ED25519")).rejects.toMatchObject({
      reason: "VALIDATION",
      violations: [{ field: "name" }],
    });
  });

  it("has a different seed from every other", async () => {
    const store = memoryStore();
    const keys = keysOf(store, async () => made);
    for (const name of ["a", "b", "c"]) await keys.create(name, "ED25519");
    expect(new Set(store.list().map(({ seed }) => String(seed))).size).toBe(3);
  });
});

describe("a key of a user", () => {
  it("is made for this user alone, and is never returned for another one", async () => {
    const users: unknown[] = [];
    const store = memoryStore();
    const keys = keysOf(store, async (args) => {
      users.push(args.userReference);
      return made;
    });
    await keys.create("main", "ED25519", "user-1");
    expect(users).toEqual(["user-1"]);
    expect(store.find("main")).toMatchObject({ userReference: "user-1" });
    for (const other of ["user-2", undefined])
      await expect(keys.create("main", "ED25519", other)).rejects.toMatchObject({
        reason: "KEY_USER_DIFFERS",
        violations: [{ field: "user_reference" }],
      });
    expect((await keys.create("main", "ED25519", "user-1")).progress).toEqual(active);
  });
});

describe("a key in a store that several signers share", () => {
  it("continues with the seed that another signer has stored", async () => {
    const stored: StoredKey = {
      name: "a",
      curve: "ED25519",
      seed: new Uint8Array(32).fill(3),
      createTimeMs: 0,
      progress: { kind: "creating", resumeToken: "theirs" },
    };
    const store = memoryStore();
    const shared: KeyStore = { ...store, add: () => store.add(stored) };
    const seen: unknown[] = [];
    const keys = keysOf(shared, async ({ seed }, _, token) => {
      seen.push(seed[0], token);
      return made;
    });
    await keys.create("a", "ED25519");
    expect(seen).toEqual([3, "theirs"]);
  });

  it("is refused if it is on another curve there", async () => {
    const store = memoryStore();
    const shared: KeyStore = { ...store, add: (key) => store.add({ ...key, curve: "RISTRETTO" }) };
    const keys = keysOf(shared, async () => made);
    await expect(keys.create("a", "ED25519")).rejects.toMatchObject({ reason: "KEY_CURVE_DIFFERS" });
  });
});

describe("the seeds of a master seed", () => {
  const master = new Secret("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");

  it.each([
    [
      { curve: "ED25519", name: "payouts" },
      "9d3cdac3b1a53321e876269b022901b8cb851a7da0dece0f07734042bad4bf29",
    ],
    [
      { curve: "SECP256K1", name: "payouts" },
      "508153616aa48d7ca8e96cb5b67e76677b04f203e0b0317bb0e6f8287c9ea95f",
    ],
    [
      { curve: "SECP256K1", name: "main", userReference: "user/42" },
      "caffbcbfa41949be0c7d28a4b129faead04baa68352f7ce1da5e4fd35f22997a",
    ],
  ] as const)("are as documented for %j", (path, expected) => {
    expect(bytesToHex(masterSeeds(master)(path))).toBe(expected);
    expect(readSource("docs/signer-stores.md").text).toContain(expected);
  });

  it("are those of no two keys, whatever the user's reference has", () => {
    const seeds = masterSeeds(master);
    const paths = [
      { curve: "ED25519", name: "a" },
      { curve: "SECP256K1", name: "a" },
      { curve: "ED25519", name: "a", userReference: "b" },
      { curve: "ED25519", name: "a", userReference: "b/c" },
      { curve: "ED25519", name: "a", userReference: "/b" },
    ] as const;
    expect(new Set(paths.map((path) => bytesToHex(seeds(path)))).size).toBe(paths.length);
    expect(() => seeds({ curve: "ED25519", name: "a/b" })).toThrow("has a slash");
  });

  it("make the same key again when everything else is lost", async () => {
    const seen: string[] = [];
    for (const _ of [1, 2]) {
      const keys = keysOf(
        createMemoryKeyStore(),
        async ({ seed }) => {
          seen.push(bytesToHex(seed));
          return made;
        },
        undefined,
        { seeds: masterSeeds(master) },
      );
      await keys.create("payouts", "ED25519");
      await keys.create("other", "ED25519");
    }
    expect(seen.slice(0, 2)).toEqual(seen.slice(2));
    expect(new Set(seen).size).toBe(2);
  });
});

describe("the keys of a signer", () => {
  it("are bounded, and an existing one is still returned", async () => {
    const keys = keysOf(memoryStore(), async () => made, 2);
    for (const name of ["a", "b", "a"]) await keys.create(name, "ED25519");
    await expect(keys.create("c", "ED25519")).rejects.toMatchObject({
      reason: "TOO_MANY_KEYS",
      metadata: { maxCount: "2" },
    });
  });

  it("are bounded for a caller, and one that is begun finishes although the bound is lower by now", async () => {
    const callerWith = (maxKeys: number) => {
      const rules = { name: "a", socket: true, keys: ["*"], createKeys: true, maxKeys };
      const [only] = parseAccessList(JSON.stringify({ callers: [rules] }), "/");
      const bound = createSlidingBound(60_000, Date.now);
      return createCaller(only!, { minute: bound, day: bound }, silentLog);
    };
    let isReachable = false;
    const keys = keysOf(memoryStore(), async () => {
      if (isReachable) return made;
      throw new TssError("UNREACHABLE", "gone", { resumeToken: "t" });
    });
    for (const name of ["a", "b"])
      await expect(keys.create(name, "ED25519", undefined, callerWith(2))).rejects.toMatchObject({
        reason: "UNREACHABLE",
      });
    isReachable = true;
    expect((await keys.create("a", "ED25519", undefined, callerWith(1))).progress).toEqual(active);
    await expect(keys.create("c", "ED25519", undefined, callerWith(2))).rejects.toMatchObject({
      reason: "CALLER_NOT_ALLOWED",
    });
  });

  it("are bounded also while they are made", async () => {
    const latch = createLatch();
    const store = memoryStore();
    const slow: KeyStore = { ...store, add: (key) => latch.wait().then(() => store.add(key)) };
    const keys = keysOf(slow, async () => made, 2);
    const running = ["a", "b"].map((name) => keys.create(name, "ED25519"));
    await expect(keys.create("c", "ED25519")).rejects.toMatchObject({ reason: "TOO_MANY_KEYS" });
    latch.open();
    await Promise.all(running);
  });

  it("have 8 onboardings at a time, and another one is refused before it has a seed", async () => {
    const latch = createLatch();
    const store = memoryStore();
    const keys = keysOf(store, async () => {
      await latch.wait();
      return made;
    });
    const running = [1, 2, 3, 4, 5, 6, 7, 8].map((count) => keys.create(`key-${count}`, "ED25519"));
    await latch.entered;
    await expect(keys.create("ninth", "ED25519")).rejects.toMatchObject({ reason: "SIGNER_BUSY" });
    expect(store.find("ninth")).toBeUndefined();
    latch.open();
    await Promise.all(running);
    await keys.create("ninth", "ED25519");
  });

  it("end their onboardings when the signer stops, and keep the tokens", async () => {
    const store = memoryStore();
    const latch = createLatch();
    const keys = keysOf(store, async (_, { onResumeToken, signal }) => {
      await onResumeToken("token 1");
      void latch.wait();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      throw new TssError("ABORTED", "stopping", { resumeToken: "token 1" });
    });
    const creating = keys.create("a", "ED25519");
    const refused = expect(creating).rejects.toMatchObject({ reason: "ABORTED" });
    await latch.entered;
    await keys.stop();
    await refused;
    expect(store.find("a")?.progress).toEqual({ kind: "creating", resumeToken: "token 1" });
  });
});

interface Options {
  readonly signal: AbortSignal;
  readonly onResumeToken: (token: string) => Promise<void>;
}

type Onboard = (
  args: { readonly seed: Uint8Array; readonly userReference?: string | undefined },
  options: Options,
  token: string | undefined,
) => Promise<OnboardResult>;

/** Keys whose client behaves like `onboard`. Like the SDK, it wraps errors that are not its own. */
function keysOf(
  store: KeyStore,
  onboard: Onboard,
  maxCount?: number,
  more?: { readonly seeds?: SeedSource },
) {
  const act = async (...args: Parameters<Onboard>) => {
    try {
      return await onboard(...args);
    } catch (cause) {
      throw cause instanceof TssError
        ? cause
        : new TssError("INTERNAL", "unexpected", { cause, resumeToken: "t" });
    }
  };
  const client = {
    getOrCreate: (args, options) => act(args, options as Options, undefined),
    resume: async (token, args, options) => ({
      kind: "onboard",
      ...(await act(args as { seed: Uint8Array }, options as Options, token)),
    }),
  } satisfies Partial<Parameters<typeof createKeys>[0]["client"]>;
  const keys = createKeys({ store, client, log: silentLog, maxCount, ...more });
  return {
    ...keys,
    create: (name: string, curve: Curve, userReference?: string, caller: Caller = EVERYONE) =>
      keys.create({ name, curve, userReference }, caller),
  };
}

/** A store in memory that tells each write. */
function memoryStore({ onWritten = () => {} }: { onWritten?: (event: string) => void } = {}): KeyStore {
  const keys = new Map<string, StoredKey>();
  const nameOf = (progress: KeyProgress) =>
    progress.kind === "active" ? "active" : (progress.resumeToken ?? "reset");
  return {
    find: (name) => keys.get(name),
    list: () => [...keys.values()],
    async add(key) {
      await Promise.resolve();
      onWritten("added");
      keys.set(key.name, key);
      return key;
    },
    async setProgress(name, progress) {
      await Promise.resolve();
      onWritten(nameOf(progress));
      keys.set(name, { ...keys.get(name)!, progress });
    },
    close: async () => {},
  };
}
