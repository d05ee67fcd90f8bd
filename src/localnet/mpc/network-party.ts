import {
  encodeNetworkKeyOutput,
  type NetworkKeyShares,
} from "../../protocol/parameters/network-key-output.ts";
import { pointBytes } from "../../protocol/proofs/curve.ts";
import { RejectedInput, rejectionReason } from "../../protocol/proofs/rejected-input.ts";
import { openDWalletOutput, runDkg } from "./dkg.ts";
import type { MpcOutcome, NetworkDkgInput, NetworkPresignInput, NetworkSignInput } from "./engine.ts";
import { tableSource } from "./fixed-base.ts";
import { type CurveNetworkKey, networkKey } from "./network-key.ts";
import { makePresign, openPresign } from "./presign.ts";
import { type EcdsaHash, signEcdsa } from "./sign-ecdsa.ts";
import { type SchnorrScheme, signSchnorr } from "./sign-schnorr.ts";

/**
 * Plays all parties of the network with keys derived from a 32-byte seed. Derives a curve's key at its first use.
 * `cacheDirectory` is the folder for exponentiation tables; without it none are stored.
 */
export function networkParty(seed: Uint8Array, cacheDirectory: string | undefined): NetworkParty {
  const tables = tableSource(cacheDirectory);
  const keys = new Map<number, CurveNetworkKey>();
  const keyOf = (curve: number): CurveNetworkKey => {
    const key = keys.get(curve) ?? networkKey(seed, curve, tables);
    keys.set(curve, key);
    return key;
  };
  return {
    networkDkgPublicOutput: () => {
      const of = ([0, 1, 2, 3] as const).map(keyOf) as [
        CurveNetworkKey,
        CurveNetworkKey,
        CurveNetworkKey,
        CurveNetworkKey,
      ];
      const [k1, r1, ed25519, ristretto] = of;
      return encodeNetworkKeyOutput({
        shares: [published(k1), published(r1), published(ed25519), published(ristretto)],
        encryptionKeys: [k1.encryptionKey, r1.encryptionKey, ed25519.encryptionKey, ristretto.encryptionKey],
      });
    },
    dkg: (input) => outcome(() => runDkg(keyOf(input.curve), input)),
    presign: ({ curve, signatureAlgorithm, sessionId }) =>
      outcome(() => {
        const { family } = signatureScheme(curve, signatureAlgorithm, undefined);
        return makePresign(keyOf(curve), family, sessionId);
      }),
    sign: (input) =>
      outcome(() => {
        const scheme = signatureScheme(input.curve, input.signatureAlgorithm, input.hashScheme);
        return sign(keyOf(input.curve), scheme, input);
      }),
  };
}

/** The network's half of the protocol. Every call blocks its thread for up to a second. */
export interface NetworkParty {
  networkDkgPublicOutput(): Uint8Array;
  dkg(input: NetworkDkgInput): MpcOutcome;
  presign(input: NetworkPresignInput): MpcOutcome;
  sign(input: NetworkSignInput): MpcOutcome;
}

function sign(key: CurveNetworkKey, scheme: SignatureScheme, input: NetworkSignInput): Uint8Array {
  const dwallet = openDWalletOutput(key, input.dwalletPublicOutput);
  const presign = openPresign(key, scheme.family, input.presign);
  const { message, userSignMessage } = input;
  switch (scheme.family) {
    case "ecdsa":
      return signEcdsa(key, scheme.hash, dwallet, presign, message, userSignMessage);
    case "schnorr":
      return signSchnorr(key, scheme.name, scheme.hash, dwallet, presign, message, userSignMessage);
  }
}

function published(key: CurveNetworkKey): NetworkKeyShares {
  const [first, second] = key.publicShares;
  return { encryptedShares: key.encryptedShares, publicShares: [pointBytes(first), pointBytes(second)] };
}

/** Turns a rejection of the input into an outcome. A bug in this code stays an error. */
function outcome(run: () => Uint8Array): MpcOutcome {
  try {
    return { kind: "completed", output: run() };
  } catch (error) {
    const reason = rejectionReason(error);
    if (reason === undefined) throw error;
    return { kind: "rejected", reason };
  }
}

/**
 * Returns the scheme of the chain's integers: algorithms are numbered per curve, hashes per algorithm. Without a hash,
 * as for a presign, uses the algorithm's first hash. Rejects a combination that the network does not support.
 */
export function signatureScheme(
  curve: number,
  signatureAlgorithm: number,
  hashScheme: number | undefined,
): SignatureScheme {
  const scheme = SCHEMES[curve]?.[signatureAlgorithm]?.[hashScheme ?? 0];
  if (scheme === undefined) {
    const hash = hashScheme === undefined ? "" : `, hash ${hashScheme}`;
    throw new RejectedInput(`curve ${curve} does not support algorithm ${signatureAlgorithm}${hash}`);
  }
  return scheme;
}

/** The scheme of a curve's algorithm: its family, and the name of the hash in its transcripts. */
export type SignatureScheme =
  | { readonly family: "ecdsa"; readonly hash: EcdsaHash }
  | { readonly family: "schnorr"; readonly name: SchnorrScheme; readonly hash: string };

const SCHEMES: readonly (readonly (readonly SignatureScheme[])[])[] = [
  [
    [
      { family: "ecdsa", hash: "KECCAK256" },
      { family: "ecdsa", hash: "SHA256" },
      { family: "ecdsa", hash: "DoubleSHA256" },
    ],
    [{ family: "schnorr", name: "Taproot", hash: "SHA256" }],
  ],
  [[{ family: "ecdsa", hash: "SHA256" }]],
  [[{ family: "schnorr", name: "EdDSA", hash: "SHA512" }]],
  [[{ family: "schnorr", name: "Schnorrkel", hash: "Merlin" }]],
];
