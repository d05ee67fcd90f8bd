import { ed25519 } from "@noble/curves/ed25519.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { bigIntFromLittleEndian, bigIntToLittleEndian, encodeVector } from "../../../src/protocol/bytes.ts";
import { classGroupOfCurve } from "../../../src/protocol/class-groups/class-group.ts";
import { decodeUserShare, userPublicOutputFromDWalletOutput } from "../../../src/protocol/dwallet-output.ts";
import { buildProtocolParameters } from "../../../src/protocol/parameters/build-protocol-parameters.ts";
import { encodeNetworkKeyOutput } from "../../../src/protocol/parameters/network-key-output.ts";
import { curveByNumber } from "../../../src/protocol/proofs/curve.ts";
import { readNetworkKeyParts } from "../../../src/protocol/proofs/network-key-parts.ts";

/** An ED25519 dWallet whose whole key a test knows. It signs without a protocol. */
export interface MadeDWallet {
  readonly userSecretKeyShare: Uint8Array;
  /** The network's public output, 781 bytes. */
  readonly output: Uint8Array;
  readonly userPublicOutput: Uint8Array;
  readonly publicKey: Uint8Array;
  /** An EdDSA signature, 64 bytes. */
  sign(message: Uint8Array): Uint8Array;
}

const { Point } = ed25519;
const ORDER = Point.Fn.ORDER;
const SHARES = [11n, 13n] as const;
const RANDOMIZERS = [3n, 5n, 7n] as const;
const NETWORK_SHARE = 3n * 11n + 5n * 13n + 7n;

/** The protocol parameters of ED25519 under the test's network key, with unusably small tables. */
export const MADE_PARAMETERS: Uint8Array = makeParameters();

/** The dWallet that a DKG with this user's share makes. `networkShare` replaces the network key's share. */
export function makeDWallet(
  userSecretKeyShare: Uint8Array,
  networkShare: bigint = NETWORK_SHARE,
): MadeDWallet {
  const { commitment } = readNetworkKeyParts(curveByNumber(2), MADE_PARAMETERS);
  return madeOf(userSecretKeyShare, networkShare, [
    ...RANDOMIZERS.map((randomizer) => encodeVector(bigIntToLittleEndian(randomizer, 32))),
    encodeVector(commitment),
  ]);
}

/** The dWallet of a private key, an Ed25519 seed, of which the user keeps this share. */
export function makeImportedDWallet(userSecretKeyShare: Uint8Array, privateKey: Uint8Array): MadeDWallet {
  const { scalar } = ed25519.utils.getExtendedPublicKey(privateKey);
  const share = decodeUserShare("ED25519", userSecretKeyShare);
  return madeOf(userSecretKeyShare, (scalar - share + ORDER) % ORDER, undefined);
}

/** Makes a dWallet whose output ends with its derivation from the network key, or is that of an imported key. */
function madeOf(
  userSecretKeyShare: Uint8Array,
  networkShare: bigint,
  derivation: readonly Uint8Array[] | undefined,
): MadeDWallet {
  const share = decodeUserShare("ED25519", userSecretKeyShare);
  const secret = (share + networkShare) % ORDER;
  const publicKey = Point.BASE.multiply(secret).toBytes();
  const emptyForm = encodeVector(new Uint8Array(256));
  const body = concatBytes(
    Uint8Array.of(derivation === undefined ? 0 : 1),
    Point.BASE.multiply(networkShare).toBytes(),
    publicKey,
    emptyForm,
    emptyForm,
    Point.BASE.multiply(share).toBytes(),
    ...(derivation ?? []),
  );
  const output = concatBytes(Uint8Array.of(1), encodeVector(publicKey), encodeVector(body));
  return {
    userSecretKeyShare,
    output,
    userPublicOutput: userPublicOutputFromDWalletOutput("ED25519", output),
    publicKey,
    sign(message) {
      const nonce = (bigIntFromLittleEndian(sha512(message)) % (ORDER - 1n)) + 1n;
      const commitmentPoint = Point.BASE.multiply(nonce).toBytes();
      const challenge =
        bigIntFromLittleEndian(sha512(concatBytes(commitmentPoint, publicKey, message))) % ORDER;
      return concatBytes(commitmentPoint, bigIntToLittleEndian((nonce + challenge * secret) % ORDER, 32));
    },
  };
}

function makeParameters(): Uint8Array {
  const [k1, r1, ed] = [0, 1, 2].map((number) => {
    const { group, base } = curveByNumber(number);
    const ciphertext = [group.h, group.h] as const;
    const points = SHARES.map((scalar) => base.multiply(scalar).toBytes(true));
    return {
      encryptedShares: [ciphertext, ciphertext] as const,
      publicShares: points as unknown as readonly [Uint8Array, Uint8Array],
    };
  }) as [NonNullable<Shares>, NonNullable<Shares>, NonNullable<Shares>];
  const keys = [0, 1, 2, 3].map((number) => classGroupOfCurve(number).h) as unknown as Keys;
  const output = encodeNetworkKeyOutput({ shares: [k1, r1, ed, ed], encryptionKeys: keys });
  return buildProtocolParameters(2, output, { degree: 1, long: false });
}

type NetworkOutput = Parameters<typeof encodeNetworkKeyOutput>[0];
type Shares = NetworkOutput["shares"][0];
type Keys = NetworkOutput["encryptionKeys"];
