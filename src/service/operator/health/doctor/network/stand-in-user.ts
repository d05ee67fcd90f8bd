import { randomBytes } from "node:crypto";
import { concatBytes } from "@noble/hashes/utils.js";
import { deriveUserShare } from "../../../../../client/crypto/derive-user-share.ts";
import type { CryptoEngine, PreparedDkg } from "../../../../../client/crypto/engine.ts";
import { createInlineEngine } from "../../../../../client/crypto/engines/inline-engine.ts";
import { deriveUserKeys, signEncryptionKey } from "../../../../../client/crypto/user-keys.ts";
import { type AlgorithmTriple, type CurveName, curveNumber } from "../../../../../protocol/algorithms.ts";
import { byteReader, encodeVector } from "../../../../../protocol/bytes.ts";
import { sessionIdentifierDigest } from "../../../../../protocol/chain/session-identifier.ts";
import { decodeUserShare, parseDWalletOutput } from "../../../../../protocol/dwallet-output.ts";
import {
  buildProtocolParameters,
  NO_TABLES,
} from "../../../../../protocol/parameters/build-protocol-parameters.ts";
import { curveGroup } from "../../../../../protocol/signatures/curve-group.ts";
import type { ChainNetwork } from "../../../../chain/fullnodes/network.ts";
import { createNetworkReader, type NetworkReader } from "../../../../chain/reader.ts";

/**
 * Makes what a user sends, with the client's own cryptography and the secrets of a user who does not exist. Reads the
 * network's keys, and each only once.
 */
export function createStandInUser(network: ChainNetwork): StandInUser {
  const reader = createNetworkReader(network);
  const engine = createInlineEngine();
  const seed = randomBytes(32);
  const parametersOf = rememberParameters(reader);

  return {
    async requestDkg(curve) {
      const { id: networkEncryptionKeyId } = await reader.networkKey();
      const keys = deriveUserKeys(seed, curve);
      const sessionBytes = randomBytes(32);
      const sessionDigest = sessionIdentifierDigest(sessionBytes, network.senderAddress);
      const share = deriveUserShare({ seed, curve, networkEncryptionKeyId, sessionDigest });
      const { encryptionKey, signerPublicKey, signerAddress } = keys;
      const parameters = await parametersOf(curve, networkEncryptionKeyId);
      const input = { curve, sessionDigest, parameters, encryptionKey };
      const prepared = await engine.prepareDkg({ ...input, userSecretKeyShare: share });
      const signature = signEncryptionKey(keys);
      keys.destroy();
      return {
        ...prepared,
        networkEncryptionKeyId,
        sessionBytes,
        signature,
        encryptionKey,
        signerPublicKey,
        encryptionKeyAddress: signerAddress,
      };
    },
    async makeHalf({ triple, dwalletOutput, networkEncryptionKeyId, presign, message }) {
      const { curve } = triple;
      const share = deriveUserShare({ seed, curve, networkEncryptionKeyId, sessionDigest: seed });
      return engine.createSignMessage({
        triple,
        presign,
        message,
        userSecretKeyShare: share,
        parameters: await parametersOf(curve, networkEncryptionKeyId),
        dwalletOutput: withUserShare(curve, dwalletOutput, decodeUserShare(curve, share.reveal())),
      });
    },
    close: () => engine.close(),
  };
}

/** A user who does not exist. */
export interface StandInUser extends Pick<CryptoEngine, "close"> {
  /** Computes a DKG request. */
  requestDkg(curve: CurveName): Promise<StandInDkg>;
  /** Computes a half of a signature as if the share of this user belonged to the dWallet. */
  makeHalf(input: HalfInput): Promise<Uint8Array>;
}

/** A DKG request, and the registration of its encryption key. */
export interface StandInDkg extends PreparedDkg {
  readonly networkEncryptionKeyId: string;
  readonly sessionBytes: Uint8Array;
  readonly encryptionKey: Uint8Array;
  readonly encryptionKeyAddress: string;
  readonly signerPublicKey: Uint8Array;
  /** The signature over the encryption key. */
  readonly signature: Uint8Array;
}

/** The inputs of a half. */
export interface HalfInput {
  readonly triple: AlgorithmTriple;
  readonly dwalletOutput: Uint8Array;
  readonly networkEncryptionKeyId: string;
  readonly presign: Uint8Array;
  readonly message: Uint8Array;
}

function rememberParameters(reader: Pick<NetworkReader, "networkKeyOutput">) {
  const known = new Map<string, Promise<Uint8Array>>();
  return (curve: CurveName, keyId: string): Promise<Uint8Array> => {
    const name = `${curve} ${keyId}`;
    const built =
      known.get(name) ??
      reader
        .networkKeyOutput(keyId)
        .then((output) => buildProtocolParameters(curveNumber(curve), output, NO_TABLES));
    known.set(name, built);
    return built;
  };
}

/** Returns the output of a dWallet with another user's share, laid out as {@link parseDWalletOutput} says. */
function withUserShare(curve: CurveName, output: Uint8Array, share: bigint): Uint8Array {
  const { base, isSecp, pointBytes } = curveGroup(curve);
  const { networkPublicShare } = parseDWalletOutput(curve, output);
  const userPublicShare = base.multiply(share);
  const publicKey = networkPublicShare.add(userPublicShare).toBytes();
  const encoded = (point: Uint8Array): Uint8Array => (isSecp ? encodeVector(point) : point);
  const outer = byteReader(output.subarray(1), "dWallet output");
  outer.vector();
  const body = byteReader(outer.vector(), "dWallet output");
  const encodedBytes = pointBytes + (isSecp ? 1 : 0);
  const head = body.take(1 + encodedBytes);
  body.take(encodedBytes);
  const forms = [body.vector(256), body.vector(256)].map(encodeVector);
  body.take(encodedBytes);
  const rest = body.take(body.remaining);
  const made = concatBytes(head, encoded(publicKey), ...forms, encoded(userPublicShare.toBytes()), rest);
  return concatBytes(output.subarray(0, 1), encodeVector(publicKey), encodeVector(made));
}
