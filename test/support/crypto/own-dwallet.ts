import { concatBytes } from "@noble/hashes/utils.js";
import { createDkgMessage } from "../../../src/client/crypto/create-dkg-message.ts";
import { deriveUserShare } from "../../../src/client/crypto/derive-user-share.ts";
import { encryptShare } from "../../../src/client/crypto/encrypt-share.ts";
import type { SignRequest } from "../../../src/client/crypto/sign-request.ts";
import type { MpcOutcome, NetworkSignInput } from "../../../src/localnet/mpc/engine.ts";
import { type NetworkParty, networkParty } from "../../../src/localnet/mpc/network-party.ts";
import { type AlgorithmTriple, CURVES } from "../../../src/protocol/algorithms.ts";
import { runSteps } from "../../../src/protocol/chain/read-errors.ts";
import { deriveClassGroupsKeypair } from "../../../src/protocol/class-groups/keypair.ts";
import { decodeUserShare, publicKeyFromDWalletOutput } from "../../../src/protocol/dwallet-output.ts";
import { buildProtocolParameters } from "../../../src/protocol/parameters/build-protocol-parameters.ts";
import { curveByNumber } from "../../../src/protocol/proofs/curve.ts";
import { isValidSignature } from "./signature-verifiers.ts";

/** A dWallet with this project's user half, and its network. */
export interface OwnDWallet {
  readonly curve: number;
  readonly parameters: Uint8Array;
  readonly output: Uint8Array;
  readonly publicKey: Uint8Array;
  /** 00 | vec(scalar). */
  readonly share: Uint8Array;
  readonly keypair: { readonly encryptionKey: Uint8Array; readonly decryptionKey: Uint8Array };
  readonly encryptedShareAndProof: Uint8Array;
  /** Returns the input of the user's half, with a presign of the session. */
  request(triple: AlgorithmTriple, sessionId: Uint8Array, message: Uint8Array): SignRequest;
}

/** Creates a network from a seed. */
export const ownNetwork = (seed: number): NetworkParty =>
  networkParty(new Uint8Array(32).fill(seed), undefined);

/** Makes a dWallet of a network on a curve. */
export function makeOwnDWallet(network: NetworkParty, curve: number, seed = 31): OwnDWallet {
  const name = CURVES[curve]!;
  const sessionDigest = new Uint8Array(32).fill(32);
  const share = deriveUserShare({
    seed: new Uint8Array(32).fill(seed),
    curve: name,
    networkEncryptionKeyId: `0x${"22".repeat(32)}`,
    sessionDigest,
  }).reveal();
  const parameters = buildProtocolParameters(curve, network.networkDkgPublicOutput(), {
    degree: 1,
    long: false,
  });
  const keypair = deriveClassGroupsKeypair(curve, new Uint8Array(32).fill(12));
  const dkg = runSteps(createDkgMessage(name, parameters, sessionDigest, share));
  const scalar = decodeUserShare(name, share);
  const encryptedShareAndProof = runSteps(encryptShare(curveByNumber(curve), keypair.encryptionKey, scalar));
  const output = completed(
    network.dkg({
      curve,
      sessionId: sessionDigest,
      ...dkg,
      encryptedShareAndProof,
      encryptionKey: keypair.encryptionKey,
    }),
  );
  return {
    curve,
    parameters,
    output,
    publicKey: publicKeyFromDWalletOutput(name, output),
    share,
    keypair,
    encryptedShareAndProof,
    request: (triple, sessionId, message) => ({
      triple,
      parameters,
      dwalletOutput: output,
      userSecretKeyShare: share,
      presign: presignOf(network, triple, sessionId),
      message,
    }),
  };
}

/** The network's presign of a session. */
export function presignOf(network: NetworkParty, triple: AlgorithmTriple, sessionId: Uint8Array): Uint8Array {
  const { curveNumber: curve, signatureAlgorithmNumber: signatureAlgorithm } = triple;
  return completed(network.presign({ curve, signatureAlgorithm, sessionId }));
}

/** Returns the network's input for a request. */
export function networkSignInput(request: SignRequest, userSignMessage: Uint8Array): NetworkSignInput {
  const { triple, dwalletOutput, presign, message } = request;
  return {
    curve: triple.curveNumber,
    signatureAlgorithm: triple.signatureAlgorithmNumber,
    hashScheme: triple.hashNumber,
    dwalletPublicOutput: dwalletOutput,
    presign,
    message,
    userSignMessage,
  };
}

/** Whether an outside library accepts the network's signature of a message. */
export function isSigned(network: NetworkParty, request: SignRequest, userSignMessage: Uint8Array): boolean {
  const signature = completed(network.sign(networkSignInput(request, userSignMessage)));
  const { signatureAlgorithm, hash, curve } = request.triple;
  return isValidSignature({
    signatureAlgorithm,
    hash,
    publicKey: publicKeyFromDWalletOutput(curve, request.dwalletOutput),
    message: request.message,
    // The chain stores v before r and s; the verifier expects it after them.
    signature:
      signature.length === 65 ? concatBytes(signature.subarray(1), signature.subarray(0, 1)) : signature,
  });
}

/** Returns the output of a completed session. */
export function completed(outcome: MpcOutcome): Uint8Array {
  if (outcome.kind === "rejected") throw new Error(`rejected: ${outcome.reason}`);
  return outcome.output;
}
