import { describe, expect, it } from "vitest";
import type { MpcOutcome, NetworkSignInput } from "../../../../src/localnet/mpc/engine.ts";
import { networkParty } from "../../../../src/localnet/mpc/network-party.ts";
import { isValidSignature } from "../../../support/crypto/signature-verifiers.ts";
import { IMPORTS, type RecordedImport } from "../../../unit/localnet/mpc/recorded-imports.ts";
import { NETWORK_SEED, SESSIONS } from "../../../unit/localnet/mpc/recorded-sessions.ts";

const party = networkParty(NETWORK_SEED, undefined);

function completed(outcome: MpcOutcome): Uint8Array {
  if (outcome.kind === "rejected") throw new Error(`rejected: ${outcome.reason}`);
  return outcome.output;
}

const flip = (bytes: Uint8Array, index: number) => bytes.with(index, bytes[index]! ^ 1);

/** Where each part of the user's message ends. The message has a header of 3 bytes. */
function partsOf(curve: number): Record<string, number> {
  const [point, scalar] = curve < 2 ? [34, 33] : [32, 32];
  const sizes: [string, number][] = [
    ["knowledge mask", point],
    ["knowledge response", scalar],
    ["first ciphertext", 516],
    ["share mask", point],
    ["share response", scalar],
    ["randomness response", 194],
    ["ciphertext", 516],
    ["user's share", point],
    ["network's share", point],
  ];
  const ends: Record<string, number> = {};
  let end = 3;
  for (const [name, size] of sizes) {
    end += size;
    ends[name] = end;
  }
  return ends;
}

describe.each(IMPORTS)("an imported key on curve $input.curve", ({ input, ...recording }: RecordedImport) => {
  const { curve } = input;
  const output = completed(party.importKey(input));
  const presignOf = (dwalletPublicOutput: Uint8Array) =>
    party.presign({
      curve,
      signatureAlgorithm: 0,
      sessionId: recording.presignSessionId,
      dwalletPublicOutput: curve === 0 ? dwalletPublicOutput : undefined,
    });
  const sign = (changes: Partial<NetworkSignInput> = {}) =>
    party.sign({
      curve,
      signatureAlgorithm: 0,
      hashScheme: 0,
      dwalletPublicOutput: output,
      presign: completed(presignOf(output)),
      message: recording.message,
      userSignMessage: recording.userSignMessage,
      ...changes,
    });

  it("signs under the key that its owner brought", () => {
    const raw = completed(sign());
    const signature = curve === 0 ? Uint8Array.of(...raw.subarray(1), raw[0]!) : raw;
    const [signatureAlgorithm, hash] =
      curve === 0 ? (["ECDSASecp256k1", "KECCAK256"] as const) : (["EdDSA", "SHA512"] as const);
    const claim = { signatureAlgorithm, hash, message: recording.message, publicKey: recording.publicKey };
    expect(isValidSignature({ ...claim, signature })).toBe(true);
  });

  it.each(Object.entries(partsOf(curve)))("is rejected with another %s", (_part, end) => {
    const { length } = input.userMessage;
    expect(Object.values(partsOf(curve)).at(-1)).toBe(length);
    expect(party.importKey({ ...input, userMessage: flip(input.userMessage, end - 2) }).kind).toBe(
      "rejected",
    );
  });

  it("is rejected in another session, or with another output, encrypted share or encryption key", () => {
    const verdict = (changes: Partial<typeof input>) => party.importKey({ ...input, ...changes });
    expect(verdict({ sessionId: new Uint8Array(32).fill(1) })).toMatchObject({
      reason: "imported key: the share's knowledge is not proved",
    });
    const userPublicOutput = flip(input.userPublicOutput, input.userPublicOutput.length - 1);
    expect(verdict({ userPublicOutput })).toMatchObject({
      reason: "user public output does not follow from the message",
    });
    const { encryptedShareAndProof } = SESSIONS[curve]!.dkg;
    expect(verdict({ encryptedShareAndProof })).toMatchObject({ kind: "rejected" });
    expect(verdict({ encryptionKey: SESSIONS[curve]!.dkg.encryptionKey })).toMatchObject({
      kind: "rejected",
    });
  });

  it("does not sign with another presign, nor for another network", () => {
    const other = party.presign({ curve, signatureAlgorithm: 0, sessionId: new Uint8Array(32).fill(8) });
    expect(sign({ presign: completed(other) }).kind).toBe("rejected");
    const stranger = networkParty(new Uint8Array(32).fill(8), undefined);
    expect(stranger.importKey(input).kind).toBe("rejected");
    expect(
      stranger.sign({
        curve,
        signatureAlgorithm: 0,
        hashScheme: 0,
        dwalletPublicOutput: output,
        presign: completed(presignOf(output)),
        message: recording.message,
        userSignMessage: recording.userSignMessage,
      }).kind,
    ).toBe("rejected");
  });

  it("has its public share checked, as other dWallets do", () => {
    const check = (publicUserShare: Uint8Array) =>
      party.checkPublicShare({ curve, dwalletPublicOutput: output, publicUserShare }).kind;
    expect(check(recording.userShare)).toBe("completed");
    expect(check(flip(recording.userShare, 20))).toBe("rejected");
  });
});

it("an ECDSA presign of one dWallet serves no other, and there is none for a dWallet of a DKG", () => {
  const [own] = IMPORTS as [RecordedImport];
  const output = completed(party.importKey(own.input));
  const derived = completed(party.dkg(SESSIONS[0]!.dkg));
  const sessionId = own.presignSessionId;
  const presign = { curve: 0, signatureAlgorithm: 0, sessionId };
  expect(party.presign({ ...presign, dwalletPublicOutput: derived })).toMatchObject({
    reason: "only an imported key has presigns of its own",
  });
  expect(party.presign({ ...presign, signatureAlgorithm: 1, dwalletPublicOutput: output })).toMatchObject({
    reason: "only ECDSA has presigns for one dWallet",
  });
  const bound = completed(party.presign({ ...presign, dwalletPublicOutput: output }));
  const { message, userSignMessage } = own;
  const request = { curve: 0, signatureAlgorithm: 0, hashScheme: 0, message, userSignMessage };
  expect(party.sign({ ...request, dwalletPublicOutput: derived, presign: bound })).toMatchObject({
    reason: "presign is not of the ECDSA kind",
  });
  const foreign = bound.with(bound.length - 1, bound.at(-1)! ^ 1);
  expect(party.sign({ ...request, dwalletPublicOutput: output, presign: foreign }).kind).toBe("rejected");
});
