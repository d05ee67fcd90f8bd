import { sha256 } from "@noble/hashes/sha2.js";
import { expect, it } from "vitest";
import { Curve, Hash, SignatureAlgorithm } from "../../../../gen/client/tss/v1/types_pb.ts";
import type { Action } from "../../../../src/client/sdk/action.ts";
import { readResumeToken } from "../../../../src/client/sdk/actions/resume-token.ts";
import type { SignStage } from "../../../../src/client/sdk/actions/signing/sign-within.ts";
import { resumeSignWithin } from "../../../../src/client/sdk/actions/signing/sign-within.ts";
import type { ClientContext } from "../../../../src/client/sdk/context.ts";

const ID = "0198c0de-0000-7000-8000-000000000001";
const MESSAGE = Uint8Array.of(1, 2, 3);

/** Resumes a request whose dWallet no fullnode shows. Returns the resume tokens of the action and its end. */
async function resume(change: object = {}) {
  const tokens: string[] = [];
  const action = {
    ...{ facts: {}, stage() {}, signal: new AbortController().signal },
    resumeAt: async (token: string) => void tokens.push(token),
  };
  const request = {
    ...{ dwalletId: `0x${"4".repeat(64)}`, message: MESSAGE },
    ...{ curve: Curve.ED25519, signatureAlgorithm: SignatureAlgorithm.EdDSA, hashScheme: Hash.SHA512 },
    ...change,
  };
  const context = {
    network: "localnet",
    call: (_: unknown, perform: (options: object) => unknown) => perform({}),
    raw: { signing: { getSign: async () => request } },
  };
  const end = await resumeSignWithin(
    context as unknown as ClientContext,
    action as unknown as Action<SignStage>,
    ID,
  ).catch((error: unknown) => error);
  return { tokens, end, facts: action.facts };
}

it("a resumed signature can be resumed again, with the request and the message's digest", async () => {
  const { tokens, facts } = await resume();
  expect(facts).toMatchObject({ signRequestId: ID });
  expect(tokens.map((token) => readResumeToken(token, "localnet"))).toMatchObject([
    { kind: "sign", network: "localnet", signRequestId: ID, messageDigest: sha256(MESSAGE) },
  ]);
});

it("a service that names no dWallet gets no token, and an unknown algorithm is refused", async () => {
  expect((await resume({ dwalletId: "" })).tokens).toEqual([]);
  expect((await resume({ hashScheme: 99 })).end).toMatchObject({ reason: "UNSUPPORTED_ALGORITHM" });
});
