/** This project's own import of a key, against the localnet's half of the protocol and recordings of ika-wasm. */
import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createSignMessage } from "../../../../src/client/crypto/create-sign-message.ts";
import { isOutputOfShare } from "../../../../src/client/crypto/decrypt-share.ts";
import { createImportMessage } from "../../../../src/client/crypto/imports/create-import-message.ts";
import { openSignRequest } from "../../../../src/client/crypto/sign-request.ts";
import { networkParty } from "../../../../src/localnet/mpc/network-party.ts";
import { ALGORITHM_TRIPLES, CURVES, findTriple } from "../../../../src/protocol/algorithms.ts";
import { runSteps } from "../../../../src/protocol/chain/read-errors.ts";
import { checkImportMessage } from "../../../../src/protocol/check-dkg-message.ts";
import {
  publicKeyFromDWalletOutput,
  userPublicOutputFromDWalletOutput,
} from "../../../../src/protocol/dwallet-output.ts";
import { completed, isSigned, makeOwnDWallet } from "../../../support/crypto/own-dwallet.ts";
import { importOwnKey, type OwnImport } from "../../../support/crypto/own-import.ts";
import { PRIVATE_KEYS } from "../../../support/crypto/private-keys.ts";
import { atNight } from "../../../support/environment.ts";
import { IMPORTS } from "../../../unit/localnet/mpc/recorded-imports.ts";
import { NETWORK_SEED } from "../../../unit/localnet/mpc/recorded-sessions.ts";

const party = networkParty(NETWORK_SEED, undefined);
const SESSION = new Uint8Array(32).fill(5);
const MESSAGE = new TextEncoder().encode("signed with a key that existed before the dWallet");
const imported = new Map<number, OwnImport>();

/** Imports the curve's private key once. */
function importOn(curve: number): OwnImport {
  const known = imported.get(curve) ?? importOwnKey(party, curve, PRIVATE_KEYS[CURVES[curve]!].privateKey);
  imported.set(curve, known);
  return known;
}

describe.each(atNight([0, 1, 2, 3], [0, 2]))("an import on curve %i", (curve) => {
  const name = CURVES[curve]!;
  const { publicKey } = PRIVATE_KEYS[name];

  it("passes the network's checks, and makes a dWallet with the private key's public key", () => {
    const { input, output } = importOn(curve);
    expect(publicKeyFromDWalletOutput(name, output)).toEqual(publicKey);
    expect(userPublicOutputFromDWalletOutput(name, output)).toEqual(input.userPublicOutput);
    const { userMessage: userDkgMessage, encryptedShareAndProof, userPublicOutput } = input;
    const parts = { userDkgMessage, encryptedUserShareAndProof: encryptedShareAndProof, userPublicOutput };
    expect(() => checkImportMessage(name, parts)).not.toThrow();
  });

  it("belongs to the user's share under this public key alone", () => {
    const { parameters, share, output } = importOn(curve);
    expect(isOutputOfShare(name, parameters, share, output, publicKey)).toBe(true);
    expect(isOutputOfShare(name, parameters, share, output)).toBe(false);
    const other = publicKey.with(5, publicKey[5]! ^ 1);
    expect(isOutputOfShare(name, parameters, share, output, other as Uint8Array)).toBe(false);
    const otherShare = share.with(20, share[20]! ^ 1) as Uint8Array;
    expect(isOutputOfShare(name, parameters, otherShare, output, publicKey)).toBe(false);
  });

  it("is refused in another session", () => {
    const { input } = importOn(curve);
    expect(party.importKey({ ...input, sessionId: new Uint8Array(32).fill(9) }).kind).toBe("rejected");
  });

  const triples = ALGORITHM_TRIPLES.filter(({ curveNumber }) => curveNumber === curve);
  it.each(atNight(triples, triples.slice(0, 1)))("signs with $signatureAlgorithm and $hash", (triple) => {
    const request = importOn(curve).request(triple, SESSION, MESSAGE);
    expect(isSigned(party, request, runSteps(createSignMessage(request)))).toBe(true);
  });
});

it("two messages of one key differ, and have one output and the length of the wasm's", () => {
  const { parameters, share, input } = importOn(0);
  const { privateKey } = PRIVATE_KEYS.SECP256K1;
  const again = runSteps(createImportMessage("SECP256K1", parameters, input.sessionId, share, privateKey));
  expect(again.userDkgMessage).not.toEqual(input.userMessage);
  expect(again.userPublicOutput).toEqual(input.userPublicOutput);
  const [recorded] = IMPORTS;
  expect(again.userDkgMessage).toHaveLength(recorded!.input.userMessage.length);
});

it.each(IMPORTS)("a share of the wasm belongs to the wasm's import on curve $input.curve", (recording) => {
  const { input, publicKey, userShare } = recording;
  const { parameters } = importOn(input.curve);
  const output = completed(party.importKey(input));
  expect(isOutputOfShare(CURVES[input.curve]!, parameters, userShare, output, publicKey)).toBe(true);
});

describe("a presign for one dWallet", () => {
  const triple = findTriple("SECP256K1", "ECDSASecp256k1", "KECCAK256")!;

  it("is refused by the prover of another dWallet, before it draws a number", () => {
    const request = importOn(0).request(triple, SESSION, MESSAGE);
    const other = importOwnKey(party, 0, new Uint8Array(randomBytes(32)));
    const { share: userSecretKeyShare, output: dwalletOutput } = other;
    expect(() => openSignRequest({ ...request, userSecretKeyShare, dwalletOutput })).toThrow(
      "the presign belongs to another dWallet",
    );
  });

  it("is refused for a dWallet of a DKG, and an imported key refuses a global presign", () => {
    const own = importOn(0).request(triple, SESSION, MESSAGE);
    const derived = makeOwnDWallet(party, 0).request(triple, SESSION, MESSAGE);
    expect(() => openSignRequest({ ...derived, presign: own.presign })).toThrow("not of the ECDSA kind");
    expect(() => openSignRequest({ ...own, presign: derived.presign })).toThrow("not for one dWallet");
  });
});

it("a dWallet of a DKG is no import, whatever public key the caller names", () => {
  const { parameters, share, output, publicKey } = makeOwnDWallet(party, 2);
  expect(isOutputOfShare("ED25519", parameters, share, output)).toBe(true);
  expect(isOutputOfShare("ED25519", parameters, share, output, publicKey)).toBe(false);
});
