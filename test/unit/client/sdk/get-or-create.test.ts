import { Code } from "@connectrpc/connect";
import { beforeEach, describe, expect, test } from "vitest";
import type { CreateDWalletRequest } from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { getOrCreate } from "../../../../src/client/sdk/actions/onboard.ts";
import { resume } from "../../../../src/client/sdk/actions/resume.ts";
import { TssError } from "../../../../src/client/sdk/errors.ts";
import { makeDWallet } from "../../../support/crypto/made-dwallet.ts";
import {
  createFakeService,
  DWALLET,
  DWALLET_ID,
  type FakeService,
  SEED,
  SESSION_DIGEST,
  serviceError,
  shareOf,
} from "./fake-service.ts";

const args = { seed: SEED, curve: "ED25519", name: "treasury" } as const;
const NAMED = [{ name: "treasury" }];

let service: FakeService;
beforeEach(() => {
  service = createFakeService();
});

const requestOf = (method: string) => ({
  userReference: undefined,
  ...(service.seen.find((call) => call.method === method)?.request as object),
});

describe("a name", () => {
  test("without a dWallet is given to a new dWallet", async () => {
    const { dwallet } = await getOrCreate(service.context, args);
    expect(dwallet.id).toBe(DWALLET_ID);
    const find = (method: string) => service.seen.find((call) => call.method === method)?.request;
    expect(find("listDWallets")).toMatchObject({ name: "treasury" });
    expect((find("createDWallet") as CreateDWalletRequest).name).toBe("treasury");
  });

  test("is looked up among the dWallets of the named user, or of none, and the new dWallet belongs to that user", async () => {
    await getOrCreate(service.context, args);
    expect(requestOf("listDWallets")).toMatchObject({ userReference: "" });
    expect(requestOf("createDWallet")).toMatchObject({ userReference: undefined });
    service = createFakeService();
    await getOrCreate(service.context, { ...args, userReference: "user/42" });
    for (const method of ["listDWallets", "registerEncryptionKey", "createDWallet"])
      expect(requestOf(method)).toMatchObject({ userReference: "user/42" });
  });

  test("of an existing dWallet returns that dWallet and requests no other", async () => {
    service.script.named = () => NAMED;
    service.script.dwalletState = () => ({ Active: service.script.made.output });
    const { dwallet } = await getOrCreate(service.context, args);
    expect(dwallet.id).toBe(DWALLET_ID);
    expect(service.counts()).toEqual({ listDWallets: 1, getDWallet: 2 });
  });

  test("that another caller takes at the same time returns the other caller's dWallet", async () => {
    const answers = [[], [{ name: "treasury", dwalletId: "" }], NAMED];
    service.script.named = () => answers.shift() ?? NAMED;
    let isAccepted = false;
    service.script.before = (method) => {
      if (method === "createDWallet") throw serviceError(Code.AlreadyExists, "DWALLET_NAME_TAKEN");
      isAccepted ||= method === "acceptDWallet";
    };
    const { output } = DWALLET;
    service.script.dwalletState = () =>
      isAccepted ? { Active: output } : { AwaitingKeyHolderSignature: output };
    const { dwallet } = await getOrCreate(service.context, args);
    expect(dwallet.id).toBe(DWALLET_ID);
    expect(service.counts()).toMatchObject({ listDWallets: 3, createDWallet: 1, acceptDWallet: 1 });
  });

  test("never returns a dWallet of another seed, curve or name", async () => {
    service.script.named = () => NAMED;
    const other = makeDWallet(shareOf(new Uint8Array(32).fill(66), SESSION_DIGEST));
    service.script.dwalletState = () => ({ Active: other.output });
    await expect(getOrCreate(service.context, args)).rejects.toMatchObject({ reason: "SHARE_UNVERIFIED" });
    service.script.dwalletState = () => ({ Active: service.script.made.output });
    await expect(getOrCreate(service.context, { ...args, curve: "SECP256K1" })).rejects.toMatchObject({
      reason: "OUTPUT_MISMATCH",
    });
    service.script.named = () => [{ name: "petty cash" }];
    await expect(getOrCreate(service.context, args)).rejects.toMatchObject({ reason: "OUTPUT_MISMATCH" });
    expect(service.counts()["acceptDWallet"]).toBeUndefined();
  });

  test("is in the token with its user, so that a resumed action also has both", async () => {
    service.script.before = (method) => {
      if (method === "getNetwork") throw serviceError(Code.Internal, "INTERNAL");
    };
    const error = await getOrCreate(service.context, { ...args, userReference: "user/42" }).catch(
      (cause: unknown) => cause,
    );
    service.script.before = () => {};
    if (!(error instanceof TssError) || error.resumeToken === undefined) throw new Error("no token");
    await resume(service.context, error.resumeToken, { seed: SEED });
    const created = service.seen.find(({ method }) => method === "createDWallet")?.request;
    expect(created).toMatchObject({ name: "treasury", userReference: "user/42" });
  });

  test.each([
    ["an empty one", ""],
    ["one that begins with a space", " treasury"],
    ["one with a line break", "trea\nsury"],
    ["one of 129 characters", "n".repeat(129)],
    ["half a character", "n\ud800"],
  ])("is refused before any call: %s", async (_what, name) => {
    await expect(getOrCreate(service.context, { ...args, name })).rejects.toMatchObject({
      reason: "VALIDATION",
      metadata: { field: "name" },
    });
    expect(service.seen).toEqual([]);
  });
});

test.each(["", "\n", "é", "n".repeat(129)])(
  "the user %j is refused before any call",
  async (userReference) => {
    await expect(getOrCreate(service.context, { ...args, userReference })).rejects.toMatchObject({
      reason: "VALIDATION",
      metadata: { field: "userReference" },
    });
    expect(service.seen).toEqual([]);
  },
);
