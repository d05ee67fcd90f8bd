import { inspect } from "node:util";
import { expect, test } from "vitest";
import { createDkgMessage } from "../../../../src/client/crypto/create-dkg-message.ts";
import { isOutputOfShare } from "../../../../src/client/crypto/decrypt-share.ts";
import { EngineError } from "../../../../src/client/crypto/engine.ts";
import { createInlineEngine } from "../../../../src/client/crypto/engines/inline-engine.ts";
import { SecretBytes } from "../../../../src/client/crypto/secret-bytes.ts";
import { hexToBytes } from "../../../../src/protocol/bytes.ts";
import { runSteps } from "../../../../src/protocol/chain/read-errors.ts";
import { MADE_PARAMETERS, makeDWallet } from "../../../support/crypto/made-dwallet.ts";
import { vectorOf } from "../../../support/crypto/signature-vectors.ts";

test("a refusal of the protocol is an EngineError that shows no secret", async () => {
  const engine = createInlineEngine();
  await engine.ready();
  const { triple, dwalletOutput, presign, message, userSecretKeyShareHex } = vectorOf("EdDSA");
  const refused = engine.createSignMessage({
    triple,
    parameters: new Uint8Array(100),
    dwalletOutput,
    userSecretKeyShare: new SecretBytes(hexToBytes(userSecretKeyShareHex)),
    presign: presign!,
    message,
  });
  const error = await refused.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(error).toBeInstanceOf(EngineError);
  expect(inspect(error, { depth: 9 })).not.toContain(userSecretKeyShareHex.slice(8, 24));
});

test("an algorithm whose names contradict its numbers gets no half", async () => {
  const { triple, dwalletOutput, presign, message, userSecretKeyShareHex } = vectorOf("EdDSA");
  const refused = createInlineEngine().createSignMessage({
    triple: { ...triple, hash: "SHA256" },
    parameters: MADE_PARAMETERS,
    dwalletOutput,
    userSecretKeyShare: new SecretBytes(hexToBytes(userSecretKeyShareHex)),
    presign: presign!,
    message,
  });
  await expect(refused).rejects.toThrow("the algorithm's names do not match its numbers");
});

test.each([
  ["a session digest of 31 bytes", { sessionDigest: new Uint8Array(31) }, "session digest"],
  [
    "a share of another form",
    { userSecretKeyShare: new SecretBytes(new Uint8Array(34).fill(0xab)) },
    "share",
  ],
  ["parameters of another form", { parameters: new Uint8Array(100) }, "public share"],
])("%s makes no DKG message, and the error shows no secret", async (_what, change, text) => {
  const engine = createInlineEngine();
  const input = {
    curve: "ED25519",
    userSecretKeyShare: new SecretBytes(Uint8Array.from([0, 32, ...new Array(31).fill(0xab), 1])),
    sessionDigest: new Uint8Array(32),
    parameters: MADE_PARAMETERS,
    encryptionKey: new Uint8Array(),
  } as const;
  const error = await engine.prepareDkg({ ...input, ...change }).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(EngineError);
  expect((error as EngineError).message).toContain(text);
  expect(inspect(error, { depth: 9 })).not.toContain("abababab");
});

test("a fault of the code is not told as a refusal of the protocol", () => {
  const digest = new Uint8Array(32);
  const share = Uint8Array.from([0, 32, ...new Array(31).fill(0xab), 1]);
  const { output } = makeDWallet(share);
  const lacking = undefined as unknown as Uint8Array;
  const malformed = new Uint8Array(34).fill(0xab);
  const dkg = (of: Uint8Array) => runSteps(createDkgMessage("ED25519", MADE_PARAMETERS, digest, of));
  const fits = (of: Uint8Array) => isOutputOfShare("ED25519", MADE_PARAMETERS, of, output);
  for (const call of [dkg, fits]) {
    expect(() => call(malformed)).toThrow(EngineError);
    expect(() => call(lacking)).toThrow(TypeError);
  }
});

test("a closed engine refuses calls", async () => {
  const engine = createInlineEngine();
  await engine.close();
  await expect(engine.ready()).rejects.toBeInstanceOf(EngineError);
  await expect(engine.deriveUserKeys({ seed: new Uint8Array(32), curve: "ED25519" })).rejects.toThrow(
    "closed",
  );
});

test("secret bytes are redacted however they are printed, and are gone after destroy", () => {
  const bytes = Uint8Array.of(222, 173, 190, 239);
  const secret = new SecretBytes(bytes);
  for (const text of [String(secret), JSON.stringify({ secret }), inspect(secret)]) {
    expect(text).not.toMatch(/222|173|deadbeef/);
  }
  expect(secret.reveal()).toBe(bytes);
  secret.destroy();
  secret.destroy();
  expect(bytes).toEqual(new Uint8Array(4));
  expect(() => secret.reveal()).toThrow("destroyed");
});
