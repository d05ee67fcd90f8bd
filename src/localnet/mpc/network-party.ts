import {
  encodeNetworkKeyOutput,
  type NetworkKeyShares,
} from "../../protocol/parameters/network-key-output.ts";
import { pointBytes } from "../../protocol/proofs/curve.ts";
import { RejectedInput, rejectionReason, rejectUnless } from "../../protocol/proofs/rejected-input.ts";
import { runDkg } from "./dkg.ts";
import { openDWalletOutput } from "./dwallet-shares.ts";
import type {
  MpcOutcome,
  NetworkDkgInput,
  NetworkEncryptedShareInput,
  NetworkImportInput,
  NetworkPresignInput,
  NetworkPublicShareInput,
  NetworkSignInput,
} from "./engine.ts";
import { tableSource } from "./fixed-base.ts";
import { importKey } from "./import-key.ts";
import { type CurveNetworkKey, networkKey } from "./network-key.ts";
import { makeDwalletPresign, makePresign, openPresign } from "./presign.ts";
import { checkEncryptedShare, checkPublicShare } from "./share-checks.ts";
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
  const signed = (input: NetworkSignInput): Uint8Array => {
    const scheme = signatureScheme(input.curve, input.signatureAlgorithm, input.hashScheme);
    return sign(keyOf(input.curve), scheme, input);
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
    dkg: (input) => {
      const { curve } = input;
      const made = outcome(() => runDkg(keyOf(curve), input));
      const { sign: request } = input;
      if (made.kind === "rejected" || request === undefined) return made;
      const sign = outcome(() => signed({ ...request, curve, dwalletPublicOutput: made.output }));
      return sign.kind === "rejected" ? sign : { ...made, signature: sign.output };
    },
    importKey: (input) => outcome(() => importKey(keyOf(input.curve), input)),
    presign: ({ curve, signatureAlgorithm, sessionId, dwalletPublicOutput }) =>
      outcome(() => {
        const { family } = signatureScheme(curve, signatureAlgorithm, undefined);
        const key = keyOf(curve);
        if (dwalletPublicOutput === undefined) return makePresign(key, family, sessionId);
        rejectUnless(family === "ecdsa", "only ECDSA has presigns for one dWallet");
        return makeDwalletPresign(key, openDWalletOutput(key, dwalletPublicOutput), sessionId);
      }),
    sign: (input) => outcome(() => signed(input)),
    checkUserSignature: (input) =>
      outcome(() => {
        signed(input);
        return NOTHING;
      }),
    checkEncryptedShare: (input) =>
      outcome(() => {
        const key = keyOf(input.curve);
        const { userPublicShare } = openDWalletOutput(key, input.dwalletPublicOutput);
        checkEncryptedShare(key.curve, userPublicShare, input);
        return NOTHING;
      }),
    checkPublicShare: (input) =>
      outcome(() => {
        const key = keyOf(input.curve);
        const { userPublicShare } = openDWalletOutput(key, input.dwalletPublicOutput);
        checkPublicShare(key.curve, userPublicShare, input.publicUserShare);
        return NOTHING;
      }),
  };
}

/** The network's half of the protocol. Every call blocks its thread for up to a second. */
export interface NetworkParty {
  networkDkgPublicOutput(): Uint8Array;
  dkg(input: NetworkDkgInput): MpcOutcome;
  importKey(input: NetworkImportInput): MpcOutcome;
  presign(input: NetworkPresignInput): MpcOutcome;
  sign(input: NetworkSignInput): MpcOutcome;
  /** Makes the signature and drops it: a half that does not lead to a signature is rejected. */
  checkUserSignature(input: NetworkSignInput): MpcOutcome;
  checkEncryptedShare(input: NetworkEncryptedShareInput): MpcOutcome;
  checkPublicShare(input: NetworkPublicShareInput): MpcOutcome;
}

/** The output of a check, which only completes or is rejected. */
const NOTHING = new Uint8Array(0);

function sign(key: CurveNetworkKey, scheme: SignatureScheme, input: NetworkSignInput): Uint8Array {
  const dwallet = openDWalletOutput(key, input.dwalletPublicOutput);
  const presign = openPresign(key, scheme.family, dwallet, input.presign);
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
