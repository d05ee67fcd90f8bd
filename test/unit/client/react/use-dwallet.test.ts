// @vitest-environment happy-dom
import { useState } from "react";
import { describe, expect, it } from "vitest";
import { useDWallet } from "../../../../src/client/react/index.ts";
import { TssError } from "../../../../src/client/sdk/errors.ts";
import { heldClient } from "./held-client.ts";
import { renderHook } from "./render.ts";

const [ID, OTHER] = [`0x${"ab".repeat(32)}`, `0x${"cd".repeat(32)}`];
const DWALLET = { dwalletId: ID };

describe("a dWallet's query", () => {
  it("reads once in strict mode and for two components, and shows the reply in both", async () => {
    const { client, calls } = heldClient();
    const hook = await renderHook(client, () => [
      useDWallet({ dwalletId: ID }),
      useDWallet({ dwalletId: ID }),
    ]);
    expect(hook.result).toMatchObject([
      { status: "pending", isPending: true, isFetching: true, data: undefined },
      { status: "pending" },
    ]);
    expect(calls).toMatchObject([{ method: "getDWallet", args: [{ dwalletId: ID }] }]);
    await hook.settle(() => calls[0]!.resolve(DWALLET));
    for (const query of hook.result) {
      expect(query).toMatchObject({ status: "success", isSuccess: true, isFetching: false });
      expect(query.data).toBe(DWALLET);
    }
    expect(calls).toHaveLength(1);
  });

  it("shows a failure of the first read, and the reply of a refetch", async () => {
    const { client, calls } = heldClient();
    const hook = await renderHook(client, () => useDWallet({ dwalletId: ID }));
    const error = new TssError("DWALLET_NOT_FOUND", "unknown");
    await hook.settle(() => calls[0]!.reject(error));
    expect(hook.result).toMatchObject({ status: "error", isError: true, data: undefined, isFetching: false });
    expect(hook.result.error).toBe(error);
    let refetched: unknown;
    await hook.settle(() => {
      void hook.result.refetch().then((state) => {
        refetched = state;
      });
    });
    expect(hook.result.isFetching).toBe(true);
    await hook.settle(() => calls[1]!.resolve(DWALLET));
    expect(hook.result).toMatchObject({ status: "success", error: undefined, isFetching: false });
    expect(refetched).toMatchObject({ status: "success", data: DWALLET });
  });

  it("keeps its data when a refetch fails, and joins a running refetch", async () => {
    const { client, calls } = heldClient();
    const hook = await renderHook(client, () => useDWallet({ dwalletId: ID }));
    await hook.settle(() => calls[0]!.resolve(DWALLET));
    await hook.settle(() => {
      void hook.result.refetch();
      void hook.result.refetch();
    });
    expect(calls).toHaveLength(2);
    await hook.settle(() => calls[1]!.reject(new TssError("UNREACHABLE", "gone")));
    expect(hook.result).toMatchObject({ status: "error", error: { reason: "UNREACHABLE" } });
    expect(hook.result.data).toBe(DWALLET);
  });

  it("without an id reads nothing", async () => {
    const { client, calls } = heldClient();
    const hook = await renderHook(client, () => useDWallet({ dwalletId: undefined }));
    expect(hook.result).toMatchObject({ status: "pending", isFetching: false });
    expect(await hook.result.refetch()).toMatchObject({ status: "pending" });
    expect(calls).toEqual([]);
  });

  it("aborts the read of an id that is no longer shown, and ignores its reply", async () => {
    const { client, calls } = heldClient();
    let show: (id: string) => void = () => {};
    const hook = await renderHook(client, () => {
      const [dwalletId, setId] = useState<string | undefined>(ID);
      show = setId;
      return useDWallet({ dwalletId });
    });
    await hook.settle(() => show(OTHER!));
    expect(calls.map(({ options }) => options.signal?.aborted)).toEqual([true, false]);
    await hook.settle(() => calls[0]!.resolve(DWALLET));
    expect(hook.result).toMatchObject({ status: "pending", data: undefined });
    await hook.settle(() => show(ID!));
    expect(calls).toHaveLength(3);
  });

  it("aborts its read when the component is gone, and then reads nothing", async () => {
    const { client, calls } = heldClient();
    const hook = await renderHook(client, () => useDWallet({ dwalletId: ID }));
    const renders = hook.results.length;
    await hook.unmount();
    expect(calls[0]!.options.signal?.aborted).toBe(true);
    await hook.result.refetch();
    expect(calls).toHaveLength(1);
    expect(hook.results).toHaveLength(renders);
  });

  it("of another client shows nothing of the former one's", async () => {
    const [alice, bob] = [heldClient(), heldClient()];
    const hook = await renderHook(alice.client, () => useDWallet({ dwalletId: ID }));
    await hook.settle(() => alice.calls[0]!.resolve(DWALLET));
    await hook.render(bob.client);
    expect(hook.result).toMatchObject({ status: "pending", data: undefined });
    expect(bob.calls).toHaveLength(1);
  });
});
