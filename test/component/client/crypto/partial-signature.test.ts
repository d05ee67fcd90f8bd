import { describe, expect, test } from "vitest";
import { createSignMessage } from "../../../../src/client/crypto/create-sign-message.ts";
import { ALGORITHM_TRIPLES, type AlgorithmTriple } from "../../../../src/protocol/algorithms.ts";
import { runSteps } from "../../../../src/protocol/chain/read-errors.ts";
import { isEcdsa } from "../../../../src/protocol/signatures/signature-forms.ts";
import { parsePartialSignature } from "../../../../src/protocol/signatures/verify-partial-signature.ts";
import {
  isSigned,
  makeOwnDWallet,
  networkSignInput,
  type OwnDWallet,
  ownNetwork,
} from "../../../support/crypto/own-dwallet.ts";
import { flipBit, vectorOf } from "../../../support/crypto/signature-vectors.ts";

const network = ownNetwork(11);
const dwallets = new Map<number, OwnDWallet>();
const dwalletOn = (curve: number): OwnDWallet => {
  const dwallet = dwallets.get(curve) ?? makeOwnDWallet(network, curve);
  dwallets.set(curve, dwallet);
  return dwallet;
};
const text = (of: string) => new TextEncoder().encode(of);
const session = (byte: number) => new Uint8Array(32).fill(byte);
const nonceOf = (triple: AlgorithmTriple, userSignMessage: Uint8Array) =>
  parsePartialSignature(triple.curve, userSignMessage).nonce.toBytes();

describe.each(ALGORITHM_TRIPLES.filter((triple) => !isEcdsa(triple.signatureAlgorithm)))(
  "a half of $signatureAlgorithm",
  (triple) => {
    const dwallet = dwalletOn(triple.curveNumber);
    const request = dwallet.request(triple, session(1), text("a message"));
    const half = runSteps(createSignMessage(request));

    test("makes a signature that an outside library accepts", () => {
      // Covers both parities of the joint nonce, which BIP-340 treats differently.
      for (const message of ["a", "b", "c", "d", "e", "f"].map(text)) {
        const other = { ...request, message };
        expect(isSigned(network, other, runSteps(createSignMessage(other)))).toBe(true);
      }
    });

    test("is as long as the wasm's", () => {
      expect(half).toHaveLength(vectorOf(triple.signatureAlgorithm).userSignMessage!.length);
    });

    test("is deterministic", () => {
      expect(runSteps(createSignMessage(request))).toEqual(half);
    });

    test("has another nonce for any other message, presign, dWallet or share", () => {
      const otherDWallet = makeOwnDWallet(network, triple.curveNumber, 33);
      const others = [
        { ...request, message: flipBit(request.message, 0) },
        { ...request, message: text("") },
        dwallet.request(triple, session(2), request.message),
        { ...otherDWallet.request(triple, session(1), request.message), presign: request.presign },
        // A DKG is random: another run has another output for the same share.
        { ...makeOwnDWallet(network, triple.curveNumber).request(triple, session(1), request.message) },
      ];
      const nonces = [request, ...others].map((one) =>
        Buffer.from(nonceOf(triple, runSteps(createSignMessage(one)))).toString("hex"),
      );
      expect(new Set(nonces).size).toBe(nonces.length);
    });

    test("is rejected by the network with any bit flipped", () => {
      for (let byte = 0; byte < half.length; byte++) {
        const flipped = flipBit(half, 8 * byte + (byte % 8));
        expect(network.sign(networkSignInput(request, flipped)).kind, `byte ${byte}`).toBe("rejected");
      }
    });
  },
);
