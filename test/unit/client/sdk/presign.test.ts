/** How the client checks the presign that the service hands out. */
import { Code, ConnectError } from "@connectrpc/connect";
import { beforeEach, describe, expect, it } from "vitest";
import { SignRequest_Status } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import {
  createMadeHalves,
  type HalfPurpose,
} from "../../../../src/client/sdk/actions/signing/made-halves.ts";
import { sign } from "../../../../src/client/sdk/actions/signing/sign.ts";
import { presignSession } from "../../../support/chain/chain-bytes.ts";
import { vectorOf } from "../../../support/crypto/signature-vectors.ts";
import {
  createFakeService,
  DWALLET_ID,
  EDDSA,
  type FakeService,
  MESSAGE,
  PRESIGN_ID,
  SEED,
} from "./fake-service.ts";

const PRESIGN = vectorOf("EdDSA").presign!;
const ARGS = {
  seed: SEED,
  dwalletId: DWALLET_ID,
  curve: "ED25519",
  signatureAlgorithm: "EdDSA",
  hashScheme: "SHA512",
  message: MESSAGE,
} as const;
const OTHER_ID = `0x${"9".repeat(64)}`;
const ANOTHER = new TextEncoder().encode("another message");

let service: FakeService;
beforeEach(() => {
  service = createFakeService();
  service.script.dwalletState = () => ({ Active: service.script.made.output });
  service.script.signStatuses = [SignRequest_Status.completed];
});

const halves = () => service.engineCalls.filter((call) => call === "createSignMessage").length;

describe("a presign", () => {
  it.each([
    ["with one other bit", () => PRESIGN.map((byte, at) => (at === 100 ? byte ^ 1 : byte))],
    ["without its end", () => PRESIGN.slice(0, -1)],
    ["of no bytes", () => new Uint8Array()],
  ])("%s than the chain's gets no half", async (_, forge) => {
    service.script.presign = forge();
    await expect(sign(service.context, ARGS)).rejects.toMatchObject({ reason: "PRESIGN_MISMATCH" });
    expect(halves()).toBe(0);
    expect(service.counts()).not.toHaveProperty("submitSign");
  });

  it.each([
    ["is another object's", () => presignSession(OTHER_ID, { Completed: PRESIGN }, EDDSA)],
    ["is on another curve", () => presignSession(PRESIGN_ID, { Completed: PRESIGN }, { ...EDDSA, curve: 0 })],
    [
      "is of another algorithm",
      () => presignSession(PRESIGN_ID, { Completed: PRESIGN }, { ...EDDSA, signatureAlgorithm: 9 }),
    ],
    [
      "is another dWallet's",
      () => presignSession(PRESIGN_ID, { Completed: PRESIGN }, { ...EDDSA, dwalletId: OTHER_ID }),
    ],
    ["the network refused", () => presignSession(PRESIGN_ID, { NetworkRejected: true }, EDDSA)],
    ["is gone, as a signature was asked for with it", () => undefined],
  ])("that %s gets no half", async (_, onChain) => {
    service.script.chainPresign = onChain;
    await expect(sign(service.context, ARGS)).rejects.toMatchObject({ reason: "PRESIGN_MISMATCH" });
    expect(halves()).toBe(0);
  });

  it("with version 3 is refused by its version or its algorithm before a half is computed", async () => {
    const version3 = PRESIGN.with(0, 2);
    service.script.presign = version3;
    service.script.chainPresign = () => presignSession(PRESIGN_ID, { Completed: version3 }, EDDSA);
    await expect(sign(service.context, ARGS)).rejects.toMatchObject({
      reason: "NETWORK_UNSUPPORTED",
      message: "the presign is of version 3, and this client signs with version 2 alone",
    });
    const vss = { ...EDDSA, signatureAlgorithm: 1 };
    service.script.chainPresign = () => presignSession(PRESIGN_ID, { Completed: version3 }, vss);
    await expect(sign(service.context, ARGS)).rejects.toMatchObject({
      reason: "UNSUPPORTED_ALGORITHM",
      message: expect.stringContaining("EdDSAVSS"),
    });
    expect(halves()).toBe(0);
  });

  it("that the fullnode shows a moment later is accepted", async () => {
    let looks = 0;
    const completed = presignSession(PRESIGN_ID, { Completed: PRESIGN }, EDDSA);
    const answers = [undefined, presignSession(PRESIGN_ID, { Requested: true }, EDDSA), completed];
    service.script.chainPresign = () => answers[looks++];
    await sign(service.context, ARGS);
    expect(looks).toBe(3);
  });

  it("that the service offers again for another message, as after an expiry, gets another half", async () => {
    service.script.before = (method) => {
      if (method === "submitSign") throw new ConnectError("the connection was cut", Code.Internal);
    };
    const another = sign(service.context, { ...ARGS, message: ANOTHER });
    await expect(another).rejects.toMatchObject({ reason: "INTERNAL" });
    service.script.before = () => {};
    await sign(service.context, ARGS);
    expect(halves()).toBe(2);
    expect(service.counts()["submitSign"]).toBe(2);
  });

  it("that the service offers again for another message gets no half of an engine whose halves are random", async () => {
    const context = { ...service.context, madeHalves: createMadeHalves({}) };
    await sign(context, ARGS);
    await expect(sign(context, { ...ARGS, message: ANOTHER })).rejects.toMatchObject({
      reason: "PRESIGN_REUSED",
    });
    expect(halves()).toBe(1);
    expect(service.counts()["submitSign"]).toBe(1);
  });

  it("that the service returns again for the same message gets the same half", async () => {
    await sign(service.context, ARGS);
    await sign(service.context, ARGS);
    expect(halves()).toBe(1);
    const sent = service.seen.filter(({ method }) => method === "submitSign").map(({ request }) => request);
    expect(sent).toHaveLength(2);
    expect(sent[1]).toEqual(sent[0]);
  });
});

describe("the halves of a client", () => {
  /** Of an engine that derives no randomness. */
  const createHalves = (maxCount?: number) => createMadeHalves({}, maxCount);
  const purpose = (text: string): HalfPurpose => ({
    dwalletId: DWALLET_ID,
    triple: vectorOf("EdDSA").triple,
    message: new TextEncoder().encode(text),
  });
  const presign = (at: number) => Uint8Array.of(at);

  it("are computed once for two simultaneous callers", async () => {
    const made = createHalves();
    let count = 0;
    const make = async () => Uint8Array.of(++count);
    const [one, two] = await Promise.all([
      made.for(presign(1), purpose("a"), make),
      made.for(presign(1), purpose("a"), make),
    ]);
    expect(two).toBe(one);
    await expect(made.for(presign(1), purpose("b"), make)).rejects.toMatchObject({
      reason: "PRESIGN_REUSED",
    });
    expect(count).toBe(1);
  });

  it.each([
    ["dWallet", { dwalletId: OTHER_ID }],
    ["message", { message: new TextEncoder().encode("b") }],
    ["curve, algorithm and hash", { triple: vectorOf("Taproot").triple }],
  ])("are not reused for another %s", async (_, other) => {
    const made = createHalves();
    await made.for(presign(1), purpose("a"), async () => Uint8Array.of(1));
    await expect(
      made.for(presign(1), { ...purpose("a"), ...other }, async () => Uint8Array.of(2)),
    ).rejects.toMatchObject({ reason: "PRESIGN_REUSED" });
    const derived = createMadeHalves({ derivesRandomness: true });
    await derived.for(presign(1), purpose("a"), async () => Uint8Array.of(1));
    const half = derived.for(presign(1), { ...purpose("a"), ...other }, async () => Uint8Array.of(2));
    await expect(half).resolves.toEqual(Uint8Array.of(2));
  });

  it("are computed once for each message and presign if the engine derives their randomness", async () => {
    const made = createMadeHalves({ derivesRandomness: true });
    const make = (text: string) => async () => new TextEncoder().encode(text);
    for (const text of ["a", "b", "a", "b"]) {
      const half = await made.for(presign(1), purpose(text), make(text));
      expect(half).toEqual(await make(text)());
      // The cache has it.
      await expect(made.for(presign(1), purpose(text), () => Promise.reject(new Error(text)))).resolves.toBe(
        half,
      );
    }
  });

  it("are computed by the waiting caller if the first caller aborts", async () => {
    const made = createHalves();
    let abort = (_reason: Error): void => {};
    const begun = new Promise<Uint8Array>((_, reject) => {
      abort = reject;
    });
    const first = made.for(presign(1), purpose("a"), () => begun);
    const second = made.for(presign(1), purpose("a"), async () => Uint8Array.of(2));
    abort(new Error("aborted"));
    await expect(first).rejects.toThrow("aborted");
    await expect(second).resolves.toEqual(Uint8Array.of(2));
    await expect(made.for(presign(1), purpose("b"), async () => Uint8Array.of(3))).rejects.toThrow(
      /one half for each presign/,
    );
  });

  it("are cached up to a limit, without failed computations", async () => {
    const made = createHalves(2);
    const failing = made.for(presign(1), purpose("a"), () => Promise.reject(new Error("no")));
    await expect(failing).rejects.toThrow("no");
    const make = async () => Uint8Array.of(1);
    for (const at of [1, 2, 3]) await made.for(presign(at), purpose("b"), make);
    await expect(made.for(presign(2), purpose("c"), make)).rejects.toThrow(/one half for each presign/);
    // The oldest half has been evicted.
    expect(await made.for(presign(1), purpose("c"), make)).toEqual(Uint8Array.of(1));
  });
});
