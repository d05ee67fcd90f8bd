/** A rehearsal of an exit: what it asks the fullnodes, and what it makes of their answers. */
import type { ClientWithCoreApi } from "@mysten/sui/client";
import { SimulationError } from "@mysten/sui/client";
import { Transaction } from "@mysten/sui/transactions";
import { beforeEach, expect, it } from "vitest";
import type { ClientContext } from "../../../../src/client/sdk/context.ts";
import { createCustodyActions } from "../../../../src/client/sdk/custody/custody-actions.ts";
import { treasuryConsentBytes } from "../../../../src/protocol/chain/treasury-custody.ts";
import { verifyEd25519 } from "../../../../src/protocol/signatures/verify-ed25519.ts";
import { treasuryContent } from "../../../support/chain/treasury-bytes.ts";
import { createFakeService, DWALLET_ID, type FakeService, SEED, TREASURY_ID } from "./fake-service.ts";

const OTHER = `0x${"e".repeat(64)}`;
const PACKAGE = `0x${"a".repeat(64)}`;
const abort = (module: string, code: string) => ({
  $kind: "MoveAbort",
  message: `${module} aborts with ${code}`,
  MoveAbort: { abortCode: code, location: { module } },
});
const BAD_SIGNATURE = failed(abort("custody", "7"));

let fake: FakeService;
let simulated: { readonly bytes: Uint8Array; readonly options: object }[];
let answers: (() => unknown)[];

beforeEach(() => {
  fake = createFakeService();
  simulated = [];
  answers = [() => BAD_SIGNATURE];
});

/** The answer of a fullnode on which the execution failed. */
function failed(error: object) {
  return { FailedTransaction: { status: { success: false, error } } };
}

function fullnode(answer: () => unknown): ClientWithCoreApi {
  const object = {
    type: `${PACKAGE}::treasury::Treasury`,
    content: treasuryContent(TREASURY_ID),
    owner: { Shared: { initialSharedVersion: "3" } },
  };
  return {
    core: {
      getObjects: async () => ({ objects: [object] }),
      async simulateTransaction({ transaction, ...options }: { transaction: Uint8Array }) {
        simulated.push({ bytes: transaction, options });
        return answer();
      },
    },
  } as unknown as ClientWithCoreApi;
}

function rehearse(more: object = {}) {
  const context: ClientContext = { ...fake.context, fullnodeClients: async () => answers.map(fullnode) };
  const args = { seed: Uint8Array.from(SEED), dwalletId: DWALLET_ID, ...more };
  return createCustodyActions(context).rehearseLeave(args);
}

/** The arguments of the simulated call, and the function. */
function simulatedCall() {
  const { commands, inputs } = Transaction.from(simulated[0]!.bytes).getData();
  const pure = inputs.map(({ Pure }) => (Pure === undefined ? undefined : Buffer.from(Pure.bytes, "base64")));
  const { package: packageId, module, function: name } = commands[0]!.MoveCall!;
  return { target: `${packageId}::${module}::${name}`, pure };
}

it("succeeds if every fullnode refuses nothing but the signature", async () => {
  answers.push(() => BAD_SIGNATURE);
  expect(await rehearse()).toEqual({
    dwalletId: DWALLET_ID,
    treasuryId: TREASURY_ID,
    owner: fake.script.custodyOwner,
    epoch: "0",
    checkedAt: expect.any(Date),
  });
  expect(simulated.length).toBe(2);
  expect(simulatedCall().target).toBe(`${PACKAGE}::treasury::leave`);
  expect(simulated[0]!.options).toMatchObject({ checksEnabled: false, doGasSelection: false });
});

it("gives no fullnode a signature that the Treasury would accept", async () => {
  await rehearse();
  const { pure } = simulatedCall();
  const [, dwalletId, chain, recipient, nonce, expiresEpoch, publicKey, signature] = pure;
  // The owner itself would get the capability.
  expect(`0x${recipient!.toString("hex")}`).toBe(fake.script.custodyOwner);
  const consent = {
    action: "leave" as const,
    chain: chain!.subarray(1),
    treasuryId: TREASURY_ID,
    dwalletId: `0x${dwalletId!.toString("hex")}`,
    recipient: `0x${recipient!.toString("hex")}`,
    nonce: nonce!.readBigUInt64LE(),
    expiresEpoch: expiresEpoch!.readBigUInt64LE(),
  };
  expect(signature!.length).toBe(65);
  expect(verifyEd25519(publicKey!.subarray(1), treasuryConsentBytes(consent), signature!.subarray(1))).toBe(
    false,
  );
});

it.each([
  ["an upgraded package", () => failed(abort("treasury", "1")), "AUTHORIZATION_REFUSED", "treasury:1"],
  ["a capability that is gone", () => failed(abort("custody", "1")), "AUTHORIZATION_REFUSED", "custody:1"],
  [
    "another module's abort of the same code",
    () => failed(abort("consent", "7")),
    "AUTHORIZATION_REFUSED",
    "consent:7",
  ],
  [
    "an error of another kind",
    () => failed({ $kind: "Unknown", message: "no" }),
    "AUTHORIZATION_REFUSED",
    undefined,
  ],
  [
    "a Treasury that takes any signature",
    () => ({ Transaction: { status: { success: true } } }),
    "TREASURY_MISMATCH",
    undefined,
  ],
  [
    "no answer",
    () => {
      throw new Error("away");
    },
    "CHAIN_UNAVAILABLE",
    undefined,
  ],
])("reports %s, also of one fullnode among others", async (_, answer, reason, code) => {
  answers.push(answer);
  const error = await rehearse().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ reason });
  if (code !== undefined) expect(error).toMatchObject({ metadata: { abort: code } });
});

it("takes an error of the simulation for its answer", async () => {
  answers = [
    () => {
      throw new SimulationError("refused", { executionError: abort("custody", "7") as never });
    },
  ];
  expect(await rehearse()).toMatchObject({ dwalletId: DWALLET_ID });
});

it("asks nobody if another seed owns the dWallet, or the Treasury does not hold it", async () => {
  fake.script.custodyOwner = OTHER;
  await expect(rehearse()).rejects.toMatchObject({ reason: "NOT_OWNER" });
  fake.script.custodyOwner = undefined;
  await expect(rehearse()).rejects.toMatchObject({ reason: "DWALLET_LEFT" });
  expect(simulated).toEqual([]);
});

it("asks nobody if the engine signs wrongly", async () => {
  const { engine } = fake.context;
  const signsWrongly = { ...engine, signAsUser: async () => new Uint8Array(64) };
  fake = { ...fake, context: { ...fake.context, engine: signsWrongly } };
  await expect(rehearse()).rejects.toMatchObject({ reason: "INTERNAL" });
  expect(simulated).toEqual([]);
});

it("signs with its own copy of the seed, and destroys it", async () => {
  const seed = Uint8Array.from(SEED);
  const rehearsed = rehearse({ seed });
  seed.fill(0);
  expect(await rehearsed).toMatchObject({ owner: fake.script.custodyOwner });
});

it("takes the newest package from the caller", async () => {
  await rehearse({ packageId: OTHER });
  expect(simulatedCall().target).toBe(`${OTHER}::treasury::leave`);
  await expect(rehearse({ packageId: "0x2" })).rejects.toMatchObject({ reason: "VALIDATION" });
});
