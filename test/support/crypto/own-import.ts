import { deriveUserShare } from "../../../src/client/crypto/derive-user-share.ts";
import { encryptShare } from "../../../src/client/crypto/encrypt-share.ts";
import { createImportMessage } from "../../../src/client/crypto/imports/create-import-message.ts";
import type { SignRequest } from "../../../src/client/crypto/sign-request.ts";
import type { NetworkImportInput } from "../../../src/localnet/mpc/engine.ts";
import type { NetworkParty } from "../../../src/localnet/mpc/network-party.ts";
import { type AlgorithmTriple, CURVES } from "../../../src/protocol/algorithms.ts";
import { runSteps } from "../../../src/protocol/chain/read-errors.ts";
import { deriveClassGroupsKeypair } from "../../../src/protocol/class-groups/keypair.ts";
import { decodeUserShare } from "../../../src/protocol/dwallet-output.ts";
import { buildProtocolParameters } from "../../../src/protocol/parameters/build-protocol-parameters.ts";
import { curveByNumber } from "../../../src/protocol/proofs/curve.ts";
import { isEcdsa } from "../../../src/protocol/signatures/signature-forms.ts";
import { completed } from "./own-dwallet.ts";

/** A dWallet of a private key that this project's client has imported. */
export interface OwnImport {
  readonly parameters: Uint8Array;
  /** 00 | vec(scalar) */
  readonly share: Uint8Array;
  readonly input: NetworkImportInput;
  readonly output: Uint8Array;
  /** Returns the input of the user's half, with a presign of the session: for ECDSA one of this dWallet. */
  request(triple: AlgorithmTriple, sessionId: Uint8Array, message: Uint8Array): SignRequest;
}

/** Imports a private key, 32 bytes, to a network. */
export function importOwnKey(network: NetworkParty, curve: number, privateKey: Uint8Array): OwnImport {
  const name = CURVES[curve]!;
  const sessionId = new Uint8Array(32).fill(32);
  const share = deriveUserShare({
    seed: new Uint8Array(32).fill(31),
    curve: name,
    networkEncryptionKeyId: `0x${"22".repeat(32)}`,
    sessionDigest: sessionId,
  }).reveal();
  const tables = { degree: 1, long: false };
  const parameters = buildProtocolParameters(curve, network.networkDkgPublicOutput(), tables);
  const { encryptionKey } = deriveClassGroupsKeypair(curve, new Uint8Array(32).fill(12));
  const message = runSteps(createImportMessage(name, parameters, sessionId, share, privateKey));
  const scalar = decodeUserShare(name, share);
  const input = {
    curve,
    sessionId,
    userMessage: message.userDkgMessage,
    userPublicOutput: message.userPublicOutput,
    encryptedShareAndProof: runSteps(encryptShare(curveByNumber(curve), encryptionKey, scalar)),
    encryptionKey,
  };
  const output = completed(network.importKey(input));
  return {
    parameters,
    share,
    input,
    output,
    request(triple, presignSessionId, signed) {
      const { signatureAlgorithmNumber: signatureAlgorithm } = triple;
      const presign = network.presign({
        curve,
        signatureAlgorithm,
        sessionId: presignSessionId,
        dwalletPublicOutput: isEcdsa(triple.signatureAlgorithm) ? output : undefined,
      });
      return {
        triple,
        parameters,
        dwalletOutput: output,
        userSecretKeyShare: share,
        presign: completed(presign),
        message: signed,
      };
    },
  };
}
