// @vitest-environment happy-dom
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Activity, type ActivityProps, createElement, type ReactElement, useEffect, useState } from "react";
import { describe, expect, it } from "vitest";
import { useOnboard, useResume, useSign } from "../../../../src/client/react/index.ts";
import type { TssClient } from "../../../../src/client/sdk/client.ts";
import { TssError } from "../../../../src/client/sdk/errors.ts";
import { heldClient } from "./held-client.ts";
import { renderHook } from "./render.ts";

const SIGN = {
  dwalletId: `0x${"ab".repeat(32)}`,
  seed: new Uint8Array(32).fill(7),
  message: new Uint8Array([1]),
  curve: "ED25519",
  signatureAlgorithm: "EdDSA",
  hashScheme: "SHA512",
} as const;
const SIGNED = {
  signature: new Uint8Array(64),
  signRequestId: "r",
  signSessionId: "s",
  txDigest: null,
};
const SHARE = "5ec2e7".repeat(10);
const KEY = {
  dwallet: { id: SIGN.dwalletId, curve: "ED25519" },
  addresses: [],
  userSecretKeyShareHex: SHARE,
};

describe("a mutation", () => {
  it("shows the SDK's own progress, and then the result", async () => {
    const { client, calls } = heldClient();
    const hook = await renderHook(client, useSign);
    expect(hook.result).toMatchObject({ status: "idle", isIdle: true, data: undefined, error: undefined });
    const seen: unknown[] = [];
    await hook.settle(() =>
      hook.result.mutate(SIGN, {
        idempotencyKey: "once",
        onProgress: (...progress) => seen.push(progress),
        onSuccess: (data) => seen.push(data),
      }),
    );
    expect(calls).toMatchObject([{ method: "sign", args: [SIGN], options: { idempotencyKey: "once" } }]);
    expect(hook.result).toMatchObject({ status: "pending", isPending: true, progress: undefined });
    await hook.settle(() => calls[0]!.options.onProgress?.("reserve", 5));
    expect(hook.result).toMatchObject({ isPending: true, progress: { stage: "reserve", elapsedMs: 5 } });
    await hook.settle(() => {
      calls[0]!.options.onProgress?.("done", 9);
      calls[0]!.resolve(SIGNED);
    });
    expect(hook.result).toMatchObject({ status: "success", isSuccess: true, progress: { stage: "done" } });
    expect(hook.result.data).toBe(SIGNED);
    expect(seen).toEqual([["reserve", 5], ["done", 9], SIGNED]);
  });

  it("shows the SDK's error, rejects mutateAsync with it, and forgets it on reset", async () => {
    const { client, calls } = heldClient();
    const hook = await renderHook(client, useSign);
    const error = new TssError("INSUFFICIENT_CREDIT", "too little");
    const seen: unknown[] = [];
    let outcome: Promise<unknown> = Promise.resolve();
    await hook.settle(() => {
      outcome = hook.result
        .mutateAsync(SIGN, { onError: (shown) => seen.push(shown) })
        .catch((thrown: unknown) => thrown);
    });
    await hook.settle(() => calls[0]!.reject(error));
    expect(await outcome).toBe(error);
    expect(hook.result).toMatchObject({ status: "error", isError: true, data: undefined });
    expect(hook.result.error).toBe(error);
    expect(seen).toEqual([error]);
    await hook.settle(() => hook.result.reset());
    expect(hook.result).toMatchObject({ status: "idle", error: undefined });
  });

  it("begins nothing while an earlier call runs, which continues", async () => {
    const { client, calls } = heldClient();
    const hook = await renderHook(client, useSign);
    const refused: unknown[] = [];
    await hook.settle(async () => {
      hook.result.mutate(SIGN);
      hook.result.mutate(SIGN, { onError: ({ reason }) => refused.push(reason) });
      await expect(hook.result.mutateAsync(SIGN)).rejects.toMatchObject({ reason: "ALREADY_RUNNING" });
    });
    expect(refused).toEqual(["ALREADY_RUNNING"]);
    expect(calls).toHaveLength(1);
    expect(calls[0]!.options.signal?.aborted).toBe(false);
    expect(hook.result).toMatchObject({ status: "pending", error: undefined });
    await hook.settle(() => calls[0]!.resolve(SIGNED));
    expect(hook.result.data).toBe(SIGNED);
    await hook.settle(() => hook.result.mutate(SIGN));
    expect(calls).toHaveLength(2);
  });

  it("begins once in an effect that strict mode runs twice", async () => {
    const { client, calls } = heldClient();
    const hook = await renderHook(client, () => {
      const sign = useSign();
      const { mutate } = sign;
      useEffect(() => mutate(SIGN), [mutate]);
      return sign;
    });
    expect(calls).toHaveLength(1);
    expect(calls[0]!.options.signal?.aborted).toBe(false);
    await hook.settle(() => calls[0]!.resolve(SIGNED));
    expect(hook.result.data).toBe(SIGNED);
  });

  it("aborts with abort(), and shows the error with its token", async () => {
    const { client, calls } = heldClient();
    const hook = await renderHook(client, useSign);
    await hook.settle(() => hook.result.mutate(SIGN));
    await hook.settle(() => hook.result.abort("the user left"));
    expect(calls[0]!.options.signal?.reason).toBe("the user left");
    expect(hook.result).toMatchObject({
      isError: true,
      error: { reason: "ABORTED", resumeToken: "resume_1" },
    });
  });

  it("aborts by the caller's signal, beside its own", async () => {
    const { client, calls } = heldClient();
    const hook = await renderHook(client, useSign);
    const controller = new AbortController();
    await hook.settle(() => hook.result.mutate(SIGN, { signal: controller.signal }));
    await hook.settle(() => hook.result.reset());
    expect(calls[0]!.options.signal?.aborted).toBe(true);
    await hook.settle(() => hook.result.mutate(SIGN, { signal: controller.signal }));
    await hook.settle(() => controller.abort());
    expect(hook.result.error).toMatchObject({ reason: "ABORTED" });
  });

  it("aborts on reset, and shows nothing more of that action while the next one runs", async () => {
    const { client, calls } = heldClient();
    const hook = await renderHook(client, useSign);
    const seen: unknown[] = [];
    await hook.settle(() => hook.result.mutate(SIGN, { onError: (error) => seen.push(error) }));
    await hook.settle(() => {
      hook.result.reset();
      hook.result.mutate(SIGN);
    });
    expect(calls[0]!.options.signal?.aborted).toBe(true);
    await hook.settle(() => calls[0]!.options.onProgress?.("verify", 1));
    expect(hook.result).toMatchObject({ status: "pending", progress: undefined });
    expect(seen).toEqual([]);
  });
});

describe("a component that is gone", () => {
  it("has aborted its action, calls nothing and begins nothing", async () => {
    const { client, calls } = heldClient();
    const hook = await renderHook(client, useSign);
    const seen: unknown[] = [];
    let outcome: Promise<unknown> = Promise.resolve();
    const onError = (error: unknown) => seen.push(error);
    await hook.settle(() => {
      outcome = hook.result.mutateAsync(SIGN, { onError }).catch((thrown: unknown) => thrown);
    });
    const { mutate, mutateAsync } = hook.result;
    const renders = hook.results.length;
    await hook.unmount();
    expect(calls[0]!.options.signal?.aborted).toBe(true);
    expect(await outcome).toMatchObject({ reason: "ABORTED", resumeToken: "resume_1" });
    mutate(SIGN, { onError });
    await expect(mutateAsync(SIGN)).rejects.toMatchObject({ reason: "ABORTED" });
    expect(calls).toHaveLength(1);
    expect(seen).toEqual([]);
    expect(hook.results).toHaveLength(renders);
  });

  it("shows nothing of the action when it is there again", async () => {
    const { client, calls } = heldClient();
    let setMode: SetMode = () => {};
    const onMode = (set: SetMode) => {
      setMode = set;
    };
    const hook = await renderHook(client, useSign, (element) =>
      createElement(Tab, { onMode, shown: element }),
    );
    await hook.settle(() => hook.result.mutate(SIGN));
    await hook.settle(() => setMode("hidden"));
    expect(calls[0]!.options.signal?.aborted).toBe(true);
    await hook.settle(() => {
      calls[0]!.options.onProgress?.("verify", 1);
      calls[0]!.resolve(SIGNED);
    });
    await hook.settle(() => setMode("visible"));
    expect(hook.result).toMatchObject({ status: "idle", data: undefined, progress: undefined });
    await hook.settle(() => hook.result.mutate(SIGN));
    expect(calls).toHaveLength(2);
  });
});

describe("another client", () => {
  it("ends the action of the former one, and shows nothing of it", async () => {
    const [alice, bob] = [heldClient(), heldClient()];
    const hook = await renderHook(alice.client, useSign);
    await hook.settle(() => hook.result.mutate(SIGN));
    const { mutate } = hook.result;
    await hook.render(bob.client);
    expect(alice.calls[0]!.options.signal?.aborted).toBe(true);
    await hook.settle(() => alice.calls[0]!.resolve(SIGNED));
    expect(hook.result).toMatchObject({ status: "idle", data: undefined });
    await hook.settle(() => mutate(SIGN));
    expect(alice.calls).toHaveLength(1);
    await hook.settle(() => hook.result.mutate(SIGN));
    expect(bob.calls).toHaveLength(1);
  });
});

describe("secrets", () => {
  it("are in no state, neither while the call runs nor after it", async () => {
    const { client, calls } = heldClient();
    const hook = await renderHook(client, useOnboard);
    const seed = new Uint8Array(32).fill(9);
    await hook.settle(() => hook.result.mutate({ seed, curve: "ED25519" }));
    const fiber = Object.entries(hook.container).find(([name]) => name.startsWith("__reactContainer$"))![1];
    const held = () => reachableFrom(fiber);
    // The search finds what the state does hold.
    expect(held().has("pending")).toBe(true);
    expect(held().has(seed)).toBe(false);
    await hook.settle(() => calls[0]!.resolve(KEY));
    expect(hook.result.data).toEqual({ dwallet: KEY.dwallet, addresses: [] });
    expect(held().has(SIGN.dwalletId)).toBe(true);
    expect(held().has(SHARE)).toBe(false);
    expect(held().has(seed)).toBe(false);
  });

  it("are released when the call has ended, and the component stays", async () => {
    let end: (result: typeof SIGNED) => void = () => {};
    const client = {
      sign: () =>
        new Promise((resolve) => {
          end = resolve;
        }),
    } as unknown as TssClient;
    const hook = await renderHook(client, useSign);
    const begin = () => {
      const seed = new Uint8Array(32);
      hook.result.mutate({ ...SIGN, seed });
      return new WeakRef(seed);
    };
    let seed: WeakRef<Uint8Array> | undefined;
    await hook.settle(() => {
      seed = begin();
    });
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const collectGarbage = async () => {
      await new Promise(setImmediate);
      collect();
    };
    await hook.settle(() => end(SIGNED));
    await collectGarbage();
    expect(hook.result.data).toBe(SIGNED);
    expect(seed?.deref()).toBeUndefined();
  });
});

describe("an onboarding", () => {
  it("with a name finds the dWallet of that name", async () => {
    const { client, calls } = heldClient();
    const hook = await renderHook(client, useOnboard);
    const variables = { seed: SIGN.seed, curve: "ED25519", name: "main" } as const;
    await hook.settle(() => hook.result.mutate(variables));
    expect(calls).toMatchObject([{ method: "getOrCreate", args: [variables] }]);
  });
});

describe("a resumed action", () => {
  it.each([
    ["onboard", { kind: "onboard", ...KEY }, { kind: "onboard", dwallet: KEY.dwallet, addresses: [] }],
    ["sign", { kind: "sign", ...SIGNED }, { kind: "sign", ...SIGNED }],
  ])("of the kind %s shows its result without the share", async (_, result, shown) => {
    const { client, calls } = heldClient();
    const hook = await renderHook(client, useResume);
    await hook.settle(() => hook.result.mutate({ token: "resume_1", seed: SIGN.seed }));
    expect(calls).toMatchObject([{ method: "resume", args: ["resume_1", { seed: SIGN.seed }] }]);
    await hook.settle(() => calls[0]!.resolve(result));
    expect(hook.result.data).toEqual(shown);
  });
});

type SetMode = (mode: "visible" | "hidden") => void;

/** Shows an element, or hides it and keeps its state. */
function Tab({ onMode, shown }: { readonly onMode: (set: SetMode) => void; readonly shown: ReactElement }) {
  const [mode, setMode] = useState<"visible" | "hidden">("visible");
  useEffect(() => onMode(setMode), [onMode]);
  return createElement(Activity, { mode } as ActivityProps, shown);
}

/** Everything that the properties of a value lead to, without the page's elements. */
function reachableFrom(root: unknown): Set<unknown> {
  const found = new Set<unknown>();
  const waiting = [root];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (found.has(value)) continue;
    found.add(value);
    const isNested = (typeof value === "object" && value !== null) || typeof value === "function";
    if (!isNested || value instanceof Uint8Array || value instanceof Node) continue;
    for (const { value: next } of Object.values(Object.getOwnPropertyDescriptors(value))) waiting.push(next);
    if (value instanceof Map) waiting.push(...value.keys(), ...value.values());
    if (value instanceof Set) waiting.push(...value);
  }
  return found;
}
