import { concatBytes } from "@noble/hashes/utils.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MpcOutcome, NetworkSignInput } from "../../../../src/localnet/mpc/engine.ts";
import { networkParty } from "../../../../src/localnet/mpc/network-party.ts";
import { isValidSignature } from "../../../support/crypto/signature-verifiers.ts";
import {
  NETWORK_SEED,
  type RecordedSession,
  type RecordedSign,
  SESSIONS,
} from "../../../unit/localnet/mpc/recorded-sessions.ts";

const party = networkParty(NETWORK_SEED, undefined);

function output(outcome: MpcOutcome): Uint8Array {
  if (outcome.kind === "rejected") throw new Error(`rejected: ${outcome.reason}`);
  return outcome.output;
}

function signInput({ curve, dkg }: RecordedSession, sign: RecordedSign): NetworkSignInput {
  const { signatureAlgorithm, hashScheme, presignSessionId, message, userSignMessage } = sign;
  return {
    curve,
    signatureAlgorithm,
    hashScheme,
    message,
    userSignMessage,
    dwalletPublicOutput: output(party.dkg(dkg)),
    presign: output(party.presign({ curve, signatureAlgorithm, sessionId: presignSessionId })),
  };
}

/** The chain has v before r and s; the test's verifier has it after them. */
function verifiedForm(signature: Uint8Array): Uint8Array {
  return signature.length === 65 ? concatBytes(signature.subarray(1), signature.subarray(0, 1)) : signature;
}

/** Damages bytes in ways that make a stranger's bytes unreadable. */
const damage = (bytes: Uint8Array): fc.Arbitrary<Uint8Array> =>
  fc.oneof(
    fc.nat(bytes.length - 1).map((length) => bytes.slice(0, length)),
    fc.uint8Array({ minLength: 1, maxLength: 40 }).map((tail) => concatBytes(bytes, tail)),
    fc
      .integer({ min: 1, max: 255 })
      .map((change) => concatBytes(Uint8Array.of(bytes[0]! ^ change), bytes.subarray(1))),
    fc.uint8Array({ maxLength: 2000 }),
  );

describe.each(SESSIONS)("on curve $curve the network", (session) => {
  const [sign] = session.signs as [RecordedSign];
  const input = signInput(session, sign);

  it("completes the recorded DKG with the dWallet's public key", () => {
    const dwalletOutput = Buffer.from(input.dwalletPublicOutput);
    expect(dwalletOutput.includes(Buffer.from(session.publicKey))).toBe(true);
  });

  it("makes the same signature each time, which an outside library accepts", () => {
    const { algorithm, hash, message, signature } = sign;
    expect(output(party.sign(input))).toEqual(signature);
    const claim = { signatureAlgorithm: algorithm, hash, message, publicKey: session.publicKey };
    expect(isValidSignature({ ...claim, signature: verifiedForm(signature) })).toBe(true);
  });

  it.each([
    "userDkgMessage",
    "userPublicOutput",
    "encryptedShareAndProof",
    "encryptionKey",
    "sessionId",
  ] as const)("rejects a malformed %s, with a reason", (field) => {
    fc.assert(
      fc.property(damage(session.dkg[field]), (bytes) => {
        const outcome = party.dkg({ ...session.dkg, [field]: bytes });
        expect(outcome).toEqual({ kind: "rejected", reason: expect.stringMatching(/./) });
      }),
      { numRuns: 8 },
    );
  });

  it.each(["dwalletPublicOutput", "presign", "userSignMessage"] as const)(
    "rejects a malformed %s, with a reason",
    (field) => {
      fc.assert(
        fc.property(damage(input[field]), (bytes) => {
          const outcome = party.sign({ ...input, [field]: bytes });
          expect(outcome).toEqual({ kind: "rejected", reason: expect.stringMatching(/./) });
        }),
        { numRuns: 12 },
      );
    },
  );

  it("rejects messages of another curve", () => {
    const other = SESSIONS[(session.curve + 1) % 4]!;
    expect(party.dkg({ ...other.dkg, curve: session.curve }).kind).toBe("rejected");
    const foreign = { ...signInput(other, other.signs[0]!), curve: session.curve };
    expect(party.sign({ ...foreign, signatureAlgorithm: 0, hashScheme: 0 }).kind).toBe("rejected");
  });
});

describe("combinations that the network does not support", () => {
  it.each([
    [4, 0, 0],
    [-1, 0, 0],
    [0.5, 0, 0],
    [0, 2, 0],
    [0, 0, 3],
    [1, 1, 0],
    [2, 0, 1],
  ])("are rejected: curve %d, algorithm %d, hash %d", (curve, signatureAlgorithm, hashScheme) => {
    const nothing = new Uint8Array();
    const sign = {
      message: nothing,
      presign: nothing,
      userSignMessage: nothing,
      dwalletPublicOutput: nothing,
    };
    const outcome = party.sign({ curve, signatureAlgorithm, hashScheme, ...sign });
    expect(outcome).toMatchObject({ kind: "rejected", reason: expect.stringContaining("does not support") });
    expect(party.dkg({ ...SESSIONS[0]!.dkg, curve: 9 })).toMatchObject({ reason: "unknown curve 9" });
  });
});

it("a presign and a dWallet of another network are rejected", () => {
  const session = SESSIONS[2]!;
  const [sign] = session.signs as [RecordedSign];
  const input = signInput(session, sign);
  const stranger = networkParty(new Uint8Array(32).fill(8), undefined);
  const { curve, signatureAlgorithm } = input;
  const presign = output(stranger.presign({ curve, signatureAlgorithm, sessionId: sign.presignSessionId }));
  expect(party.sign({ ...input, presign })).toMatchObject({
    kind: "rejected",
    reason: "presign is bound to another network key",
  });
  expect(stranger.sign(input)).toMatchObject({
    kind: "rejected",
    reason: "dWallet is bound to another network key",
  });
});
