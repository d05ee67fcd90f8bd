import { bytesToHex } from "@noble/hashes/utils.js";
import { describe, expect, test } from "vitest";
import { checkEcdsaMessage } from "../../src/client/crypto/check-ecdsa-message.ts";
import { createSignMessage } from "../../src/client/crypto/create-sign-message.ts";
import { transcriptBinding } from "../../src/client/crypto/prove-points.ts";
import { openSignRequest, type SignRequest, signContext } from "../../src/client/crypto/sign-request.ts";
import { networkParty } from "../../src/localnet/mpc/network-party.ts";
import { ALGORITHM_TRIPLES, type AlgorithmTriple, CURVES } from "../../src/protocol/algorithms.ts";
import { bigIntFromBigEndian } from "../../src/protocol/bytes.ts";
import { runSteps } from "../../src/protocol/chain/read-errors.ts";
import type { Form } from "../../src/protocol/class-groups/forms.ts";
import { bitLength } from "../../src/protocol/class-groups/integers.ts";
import { parseDWalletOutput } from "../../src/protocol/dwallet-output.ts";
import { buildProtocolParameters } from "../../src/protocol/parameters/build-protocol-parameters.ts";
import { type CurveArithmetic, curveByNumber, decodePoint } from "../../src/protocol/proofs/curve.ts";
import { nonceRandomizers } from "../../src/protocol/proofs/dkg-transcripts.ts";
import { maskedKeyShareTerms, maskedNonceShareTerms } from "../../src/protocol/proofs/ecdsa-equations.ts";
import { decodeEcdsaSignMessage, encodeEcdsaSignMessage } from "../../src/protocol/proofs/ecdsa-message.ts";
import {
  DISPLACED_NONCE_PROOF,
  evaluationTranscript,
  imageJson,
} from "../../src/protocol/proofs/linear-evaluation.ts";
import { combineCiphertexts } from "../../src/protocol/proofs/message-parts.ts";
import { readNetworkKeyParts } from "../../src/protocol/proofs/network-key-parts.ts";
import { readPresign } from "../../src/protocol/proofs/presign.ts";
import { appendMasks, proofChallenge, type SignContext } from "../../src/protocol/proofs/transcript.ts";
import { isEcdsa } from "../../src/protocol/signatures/signature-forms.ts";
import { messageDigest } from "../../src/protocol/signatures/verify-signature.ts";
import { ECDSA_PARTS } from "../support/crypto/ecdsa-parts.ts";
import {
  completed,
  isSigned,
  makeOwnDWallet,
  networkSignInput,
  ownNetwork,
} from "../support/crypto/own-dwallet.ts";
import { flipBit, vectorOf } from "../support/crypto/signature-vectors.ts";
import { atNight } from "../support/environment.ts";
import { NETWORK_SEED, SESSIONS } from "../unit/localnet/mpc/recorded-sessions.ts";

const network = ownNetwork(11);
const DWALLETS = [makeOwnDWallet(network, 0), makeOwnDWallet(network, 1)];
const text = (of: string) => new TextEncoder().encode(of);
const session = (byte: number) => new Uint8Array(32).fill(byte);

const ECDSA_TRIPLES = ALGORITHM_TRIPLES.filter(({ signatureAlgorithm }) => isEcdsa(signatureAlgorithm));
const requestOf = (triple: AlgorithmTriple) =>
  DWALLETS[triple.curveNumber]!.request(triple, session(1), text("a message"));
/** The half of the same message and presign under each hash, with the number of pauses during its computation. */
const HALVES = new Map(ECDSA_TRIPLES.map((triple) => [triple, makeCounting(requestOf(triple))]));

describe.each(ECDSA_TRIPLES)("a half of $signatureAlgorithm with $hash", (triple) => {
  const request = requestOf(triple);
  const { half, pauses } = HALVES.get(triple)!;
  const opened = openSignRequest(request);
  const { curve } = opened;
  const message = decodeEcdsaSignMessage(curve, half);

  test("passes the network's eight proofs, and an outside library accepts the signature", () => {
    expect(isSigned(network, request, half)).toBe(true);
  });

  test("has the wasm's length and layout", () => {
    expect(half).toHaveLength(vectorOf(triple.signatureAlgorithm).userSignMessage!.length);
    expect(encodeEcdsaSignMessage(curve, message)).toEqual(half);
  });

  test("is deterministic, and differs for the same message under another hash", () => {
    expect(runSteps(createSignMessage(request))).toEqual(half);
    const ofAlgorithm = ECDSA_TRIPLES.filter(
      (other) => other.signatureAlgorithm === triple.signatureAlgorithm,
    );
    const commitments = ofAlgorithm.map((other) => bytesToHex(HALVES.get(other)!.half.subarray(71, 207)));
    expect(new Set(commitments).size).toBe(ofAlgorithm.length);
  });

  test("offers a pause every few milliseconds of its work", () => {
    // Twelve thousand products of forms, and 32 steps of the Fischlin proof.
    expect(pauses).toBeGreaterThan(180);
  });

  // The hash does not affect the proofs, so one hash is enough for each curve. By day each part flips on one curve.
  const parts = atNight(
    ECDSA_PARTS,
    ECDSA_PARTS.filter((_, index) => index % 2 === triple.curveNumber),
  );
  test.each(triple.hash === "SHA256" ? parts : [])(
    "is refused by the network and by its own check with one bit flipped in %s",
    (_, at) => {
      const flipped = flipBit(half, 8 * at);
      expect(network.sign(networkSignInput(request, flipped)).kind).toBe("rejected");
      const digest = bigIntFromBigEndian(messageDigest(triple.hash, request.message)) % curve.order;
      const { encryptionKey } = opened.key;
      expect(() => runCheck(signContext(opened), encryptionKey, flipped, digest)).toThrow("failed its check");
    },
  );
});

/** Halves of one message for four presigns. */
const MASKED = [1, 2, 3, 4].map((byte) => {
  const request = DWALLETS[0]!.request(ECDSA_TRIPLES[0]!, session(byte), text("masks"));
  const opened = openSignRequest(request);
  const message = decodeEcdsaSignMessage(opened.curve, runSteps(createSignMessage(request)));
  return { request, opened, message };
});

describe("the masks of an ECDSA half", () => {
  const proofs = MASKED.slice(0, 3).flatMap(({ message }) => [
    message.proofPartialSignature,
    message.proofDisplacedNonceShare,
  ]);
  const longest = (responses: readonly bigint[]) => Math.max(...responses.map(bitLength));

  // A response is as long as its mask: 64 bits longer than challenge times secret. The masks of all responses begin
  // with 24 zero bits only once in 2^144 runs or less.
  test("for coefficients have 1198 bits, 192 more than the blinded coefficients' 1006", () => {
    const length = longest(proofs.flatMap(({ coefficientResponses }) => coefficientResponses));
    expect(length).toBeGreaterThan(1198 - 24);
    expect(length).toBeLessThanOrEqual(1199);
  });

  test("for encryption randomness have 941 bits, 192 more than the randomness' 749", () => {
    const length = longest(proofs.map(({ randomnessResponse }) => randomnessResponse));
    expect(length).toBeGreaterThan(941 - 24);
    expect(length).toBeLessThanOrEqual(942);
  });

  test("differ between any two messages for one presign", () => {
    const masks = [
      MASKED[0]!.message,
      decodeEcdsaSignMessage(MASKED[0]!.opened.curve, HALVES.get(ECDSA_TRIPLES[0]!)!.half),
    ];
    const seen = masks.flatMap((message) => [
      ...message.proofBeta.masks.map((mask) => bytesToHex(mask.toBytes(true))),
      ...[
        message.proofK,
        message.proofAlpha,
        message.proofKx,
        message.proofNonce,
        message.proofDisplacedNonce,
      ]
        .flatMap(({ masks: points }) => points)
        .map((mask) => bytesToHex(mask.toBytes(true))),
      ...[message.proofPartialSignature, message.proofDisplacedNonceShare].flatMap((proof) => [
        ...proof.maskCiphertext.map(({ a }) => a.toString(16)),
        ...proof.maskCommitments.map((mask) => bytesToHex(mask.toBytes(true))),
      ]),
    ]);
    expect(new Set(seen).size).toBe(seen.length);
  });
});

test("coefficients are blinded with 749 bits times the order before they are masked", () => {
  const blinded = MASKED.map(({ request, opened, message }) => {
    const { curve, key, randomness, presign } = opened;
    const context = signContext(opened);
    const maskedKeyShare = combineCiphertexts(curve, maskedKeyShareTerms(context));
    const digest = bigIntFromBigEndian(messageDigest(request.triple.hash, request.message)) % curve.order;
    const weights = nonceRandomizers(context, message, digest, maskedKeyShare);
    const maskedNonceShare = combineCiphertexts(curve, maskedNonceShareTerms(context, weights));
    const transcript = evaluationTranscript(context, key.encryptionKey, DISPLACED_NONCE_PROOF, {
      ciphertext: message.displacedNonceShare,
      inputs: [presign.ciphertexts[0]!, maskedNonceShare],
      commitments: [message.commitBeta, message.commitAlpha],
    });
    const proof = message.proofDisplacedNonceShare;
    const mask = randomness.integer("pi_ctab/coefficient mask/1", 1198, transcriptBinding(transcript));
    appendMasks(transcript, [imageJson(context, proof.maskCiphertext, proof.maskCommitments)]);
    const challenge = proofChallenge(transcript);
    const answered = proof.coefficientResponses[1] - mask;
    expect(answered % challenge === 0n).toBe(true);
    expect((answered / challenge) % curve.order === randomness.scalar("alpha")).toBe(true);
    return bitLength(answered / challenge);
  });
  expect(Math.max(...blinded)).toBeGreaterThan(1005 - 24);
  expect(Math.max(...blinded)).toBeLessThanOrEqual(1006);
});

describe("a half of the wasm", () => {
  const party = networkParty(NETWORK_SEED, undefined);
  const recorded = SESSIONS.slice(0, 2).flatMap((recording) =>
    recording.signs
      .filter(({ algorithm }) => isEcdsa(algorithm))
      .map((sign) => ({ recording, sign, name: `${sign.algorithm} with ${sign.hash}` })),
  );

  test.each(recorded)("passes the prover's own check: $name", ({ recording, sign }) => {
    const curve = curveByNumber(recording.curve);
    const key = readNetworkKeyParts(
      curve,
      buildProtocolParameters(recording.curve, party.networkDkgPublicOutput(), { degree: 1, long: false }),
    );
    const output = parseDWalletOutput(CURVES[recording.curve]!, completed(party.dkg(recording.dkg)));
    const presign = completed(
      party.presign({
        curve: recording.curve,
        signatureAlgorithm: sign.signatureAlgorithm,
        sessionId: sign.presignSessionId,
      }),
    );
    const context: SignContext = {
      curve,
      dwallet: {
        publicKey: decodePoint(curve, output.publicKey, "public key"),
        userPublicShare: decodePoint(curve, output.userPublicShare.toBytes(), "public share"),
        randomizers: output.derivation!.randomizers,
      },
      presign: readPresign(curve, "ecdsa", presign),
    };
    const digest = bigIntFromBigEndian(messageDigest(sign.hash, sign.message)) % curve.order;
    const passes = (bytes: Uint8Array) => runCheck(context, key.encryptionKey, bytes, digest);
    expect(() => passes(sign.userSignMessage)).not.toThrow();
    expect(() => passes(flipBit(sign.userSignMessage, 8 * 4000))).toThrow("failed its check");
  });
});

function makeCounting(request: SignRequest): { readonly half: Uint8Array; readonly pauses: number } {
  const steps = createSignMessage(request);
  for (let pauses = 0; ; pauses++) {
    const step = steps.next();
    if (step.done === true) return { half: step.value, pauses };
  }
}

/** The prover's own check, on the derived ciphertexts as the network computes them, without ladders. */
function runCheck(context: SignContext, encryptionKey: Form, bytes: Uint8Array, digest: bigint): void {
  const { curve } = context;
  const maskedKeyShare = combineCiphertexts(curve, maskedKeyShareTerms(context));
  const message = decodeOrUndefined(curve, bytes);
  const weights =
    message === undefined
      ? ([1n, 1n, 1n] as const)
      : nonceRandomizers(context, message, digest, maskedKeyShare);
  const maskedNonceShare = combineCiphertexts(curve, maskedNonceShareTerms(context, weights));
  const state = { maskedKeyShare, maskedNonceShare, ladders: [], parts: [0, 1] as const };
  runSteps(checkEcdsaMessage(context, encryptionKey, bytes, digest, state));
}

function decodeOrUndefined(curve: CurveArithmetic, bytes: Uint8Array) {
  try {
    return decodeEcdsaSignMessage(curve, bytes);
  } catch {
    return undefined;
  }
}
