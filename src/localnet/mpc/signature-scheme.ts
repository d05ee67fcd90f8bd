import { RejectedInput } from "../../protocol/proofs/rejected-input.ts";
import type { EcdsaHash } from "./sign-ecdsa.ts";
import type { SchnorrScheme } from "./sign-schnorr.ts";

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
