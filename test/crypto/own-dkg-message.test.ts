/** This project's own DKG message, against the unmodified Ika SDK and the localnet's half of the protocol. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Curve,
  createUserSignMessageWithPublicOutput,
  prepareDKG,
  publicKeyFromDWalletOutput,
  verifyUserShare,
} from "@ika.xyz/sdk";
import { concatBytes } from "@noble/hashes/utils.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isOutputOfShare } from "../../src/client/crypto/decrypt-share.ts";
import { deriveUserShare } from "../../src/client/crypto/derive-user-share.ts";
import type { PreparedDkg } from "../../src/client/crypto/engine.ts";
import { createInlineEngine } from "../../src/client/crypto/engines/inline-engine.ts";
import { createReferenceEngine } from "../../src/client/crypto/engines/reference-engine.ts";
import { SecretBytes } from "../../src/client/crypto/secret-bytes.ts";
import { createNetworkMpc } from "../../src/localnet/mpc/create-network-mpc.ts";
import type { MpcOutcome, NetworkDkgInput, NetworkMpc } from "../../src/localnet/mpc/engine.ts";
import { ALGORITHM_TRIPLES, CURVES } from "../../src/protocol/algorithms.ts";
import { sessionIdentifierDigest } from "../../src/protocol/chain/session-identifier.ts";
import { deriveClassGroupsKeypair } from "../../src/protocol/class-groups/keypair.ts";
import { userPublicOutputFromDWalletOutput } from "../../src/protocol/dwallet-output.ts";
import { buildProtocolParameters } from "../../src/protocol/parameters/build-protocol-parameters.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { atNight, environment } from "../support/environment.ts";

const engine = createInlineEngine();
const reference = createReferenceEngine();
const sender = `0x${"11".repeat(32)}`;
const networkEncryptionKeyId = `0x${"22".repeat(32)}`;
const seed = new Uint8Array(32).fill(31);
const sessionIdentifier = new Uint8Array(32).fill(32);
const sessionDigest = sessionIdentifierDigest(sessionIdentifier, sender);
const REJECTED = { kind: "rejected", reason: expect.stringMatching(/./) };

let directory: string;
let mpc: NetworkMpc;
let networkOutput: Uint8Array;
let otherNetworkOutput: Uint8Array;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "own-dkg-"));
  mpc = await createNetworkMpc({ seed: new Uint8Array(32).fill(11), cacheDirectory: directory });
  networkOutput = await mpc.networkDkgPublicOutput();
  const other = await createNetworkMpc({ seed: new Uint8Array(32).fill(14), cacheDirectory: directory });
  otherNetworkOutput = await other.networkDkgPublicOutput();
  await other.close();
});
afterAll(async () => {
  await mpc.close();
  await engine.close();
  rmSync(directory, { recursive: true, force: true });
});

// The curves differ in little, and other tests run a DKG on each of them.
describe.each(atNight([0, 1, 2, 3], [0]))("on curve %i", (number) => {
  const curve = CURVES[number]!;
  const { encryptionKey, decryptionKey } = deriveClassGroupsKeypair(number, new Uint8Array(32).fill(12));
  const userSecretKeyShare = deriveUserShare({ seed, curve, networkEncryptionKeyId, sessionDigest });
  const share = userSecretKeyShare.reveal();
  let parameters: Uint8Array;
  let first: PreparedDkg;
  let second: PreparedDkg;
  let output: Uint8Array;

  const inputOf = (dkg: PreparedDkg): NetworkDkgInput => ({
    curve: number,
    sessionId: sessionDigest,
    userDkgMessage: dkg.userDkgMessage,
    userPublicOutput: dkg.userPublicOutput,
    encryptedShareAndProof: dkg.encryptedUserShareAndProof,
    encryptionKey,
  });

  beforeAll(async () => {
    parameters = buildProtocolParameters(number, networkOutput);
    const input = { curve, userSecretKeyShare, sessionDigest, parameters, encryptionKey };
    first = await engine.prepareDkg(input);
    second = await engine.prepareDkg(input);
    output = completed(await mpc.dkg(inputOf(first)));
  });

  it("the network completes a DKG with the output that the user computed", () => {
    expect(userPublicOutputFromDWalletOutput(curve, output)).toEqual(first.userPublicOutput);
  });

  it("two messages for one share and session differ in everything else, and both encode the share", async () => {
    expect(second.userDkgMessage).not.toEqual(first.userDkgMessage);
    expect(second.userPublicOutput).not.toEqual(first.userPublicOutput);
    const other = completed(await mpc.dkg(inputOf(second)));
    expect(userPublicOutputFromDWalletOutput(curve, other)).toEqual(second.userPublicOutput);
    expect(isOutputOfShare(curve, parameters, share, other)).toBe(true);
  });

  it("the SDK finds the share in the dWallet", async () => {
    expect(await verifyUserShare(curve as Curve, share, output, parameters)).toBe(true);
  });

  it("the output matches the share under this network key with any tables, and under no other key", async () => {
    expect(isOutputOfShare(curve, parameters, share, output)).toBe(true);
    const otherTables = buildProtocolParameters(number, networkOutput, { degree: 2, long: true });
    expect(isOutputOfShare(curve, otherTables, share, output)).toBe(true);
    const otherParameters = buildProtocolParameters(number, otherNetworkOutput);
    expect(isOutputOfShare(curve, otherParameters, share, output)).toBe(false);
  });

  it("the network rejects the message in another session, and with another output", async () => {
    const input = inputOf(first);
    expect(await mpc.dkg({ ...input, sessionId: new Uint8Array(32).fill(9) })).toEqual(REJECTED);
    expect(await mpc.dkg({ ...input, userPublicOutput: second.userPublicOutput })).toEqual(REJECTED);
  });

  // The wasm takes up to half a minute per curve for these.
  if (number !== 0 && !environment.isReference) return;

  it("the message has the lengths of the wasm's message", async () => {
    const wasm = await prepareDKG(parameters, curve as Curve, encryptionKey, sessionIdentifier, sender);
    const lengths = (dkg: { readonly [key: string]: unknown }, names: readonly string[]): unknown[] =>
      names.map((name) => (dkg[name] as Uint8Array).length);
    const rest = ["userPublicOutput", "encryptedUserShareAndProof"];
    expect([first.userDkgMessage.length, ...lengths({ ...first }, rest)]).toEqual(
      lengths({ ...wasm }, ["userDKGMessage", ...rest]),
    );
    expect(share).toHaveLength(wasm.userSecretKeyShare.length);
  });

  it("the wasm decrypts this project's encryption of the share, and this project decrypts the wasm's", async () => {
    const key = new SecretBytes(decryptionKey);
    const wasm = await reference.prepareDkg({
      curve,
      userSecretKeyShare,
      sessionDigest,
      parameters,
      encryptionKey,
    });
    const outputOfWasm = completed(await mpc.dkg(inputOf(wasm)));
    const opened = await reference.decryptShare({
      curve,
      parameters,
      decryptionKey: key,
      dwalletOutput: output,
      encryptedShareAndProof: first.encryptedUserShareAndProof,
    });
    expect(opened.reveal()).toEqual(share);
    const openedHere = await engine.decryptShare({
      curve,
      parameters,
      decryptionKey: key,
      dwalletOutput: outputOfWasm,
      encryptedShareAndProof: wasm.encryptedUserShareAndProof,
    });
    expect(openedHere.reveal()).toEqual(share);
  });

  const triple = ALGORITHM_TRIPLES.filter((candidate) => candidate.curveNumber === number).at(-1)!;
  it(`a message that the wasm makes with its share signs: ${triple.signatureAlgorithm}`, async () => {
    const { signatureAlgorithm, signatureAlgorithmNumber, hash, hashNumber } = triple;
    const message = new TextEncoder().encode("signed with a share of our own");
    const presign = completed(
      await mpc.presign({ curve: number, signatureAlgorithm: signatureAlgorithmNumber, sessionId: seed }),
    );
    const sdkName = signatureAlgorithm === "Schnorrkel" ? "SchnorrkelSubstrate" : signatureAlgorithm;
    const userSignMessage = await createUserSignMessageWithPublicOutput(
      ...([parameters, output, share, presign, message] as const),
      ...([hash, sdkName, curve] as never as [never, never, never]),
    );
    const signature = completed(
      await mpc.sign({
        curve: number,
        signatureAlgorithm: signatureAlgorithmNumber,
        hashScheme: hashNumber,
        dwalletPublicOutput: output,
        presign,
        message,
        userSignMessage,
      }),
    );
    const encoded =
      signature.length === 65 ? concatBytes(signature.subarray(1), signature.subarray(0, 1)) : signature;
    const publicKey = await publicKeyFromDWalletOutput(curve as Curve, output);
    expect(isValidSignature({ signatureAlgorithm, hash, publicKey, message, signature: encoded })).toBe(true);
  });
});

function completed(outcome: MpcOutcome): Uint8Array {
  if (outcome.kind === "rejected") throw new Error(`rejected: ${outcome.reason}`);
  return outcome.output;
}
