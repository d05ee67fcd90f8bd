import { Code } from "@connectrpc/connect";
import { bytesToHex } from "@noble/hashes/utils.js";
import { beforeEach, expect, test } from "vitest";
import { type SignManyItem, signMany } from "../../../../src/client/sdk/actions/signing/sign-many.ts";
import { TssError } from "../../../../src/client/sdk/errors.ts";
import {
  createFakeService,
  DWALLET,
  DWALLET_ID,
  type FakeService,
  MESSAGE,
  SEED,
  serviceError,
} from "./fake-service.ts";

const item: SignManyItem = {
  seed: SEED,
  dwalletId: DWALLET_ID,
  curve: "ED25519",
  signatureAlgorithm: "EdDSA",
  hashScheme: "SHA512",
  message: MESSAGE,
  userSecretKeyShareHex: bytesToHex(DWALLET.userSecretKeyShare),
};

let service: FakeService;
beforeEach(() => {
  service = createFakeService();
  service.script.dwalletState = () => ({ Active: DWALLET.output });
});

test("the results have the order of the items, and a failed one does not affect the others", async () => {
  service.script.before = (method, { requestHeader }) => {
    if (method === "reserveSign" && requestHeader.get("idempotency-key") === "poor")
      throw serviceError(Code.FailedPrecondition, "INSUFFICIENT_CREDIT");
  };
  const items = [item, { ...item, idempotencyKey: "poor" }, { ...item, dwalletId: "none" }, item];
  const results = await signMany(service.context, items);
  expect(results.map((result) => (result.status === "fulfilled" ? "signed" : result.reason.reason))).toEqual([
    "signed",
    "INSUFFICIENT_CREDIT",
    "VALIDATION",
    "signed",
  ]);
  expect(results.every((result) => result.status === "fulfilled" || result.reason instanceof TssError)).toBe(
    true,
  );
});

test("at most the requested number of signatures run at once, and all of them complete", async () => {
  const open = new Set<number>();
  let most = 0;
  const onProgress = (index: number, stage: string) => {
    if (stage === "done") open.delete(index);
    else open.add(index);
    most = Math.max(most, open.size);
  };
  const results = await signMany(service.context, Array(7).fill(item), { concurrency: 3, onProgress });
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(7);
  expect(most).toBe(3);
});

test("an abort ends all signatures, even those that have not started", async () => {
  const abort = new AbortController();
  const onProgress = (_: number, stage: string) => {
    if (stage === "submit") abort.abort();
  };
  const results = await signMany(service.context, Array(4).fill(item), {
    concurrency: 2,
    onProgress,
    signal: abort.signal,
  });
  expect(results.map((result) => result.status === "rejected" && result.reason.reason)).toEqual(
    Array(4).fill("ABORTED"),
  );
});

test.each([0, 65, 1.5, Number.NaN])("a concurrency of %s is refused by name", async (concurrency) => {
  await expect(signMany(service.context, [item], { concurrency })).rejects.toMatchObject({
    reason: "VALIDATION",
    message: expect.stringContaining("concurrency"),
  });
});

test("an item that is not an object fails alone, and the error names its place", async () => {
  const results = await signMany(service.context, [undefined as never, item]);
  expect(results).toMatchObject([
    { status: "rejected", reason: { reason: "VALIDATION", message: expect.stringContaining("items[0]") } },
    { status: "fulfilled" },
  ]);
});
