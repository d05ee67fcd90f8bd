import { createHash, createPublicKey, verify } from "node:crypto";
import {
  ALGORITHM_TRIPLES,
  type AlgorithmTriple,
  findSignatureAlgorithm,
} from "../../protocol/algorithms.ts";
import { UsageError } from "../command-line/command.ts";

/** The demo's algorithm, under the names of the contract. */
export interface DemoArguments {
  readonly curve?: string | undefined;
  readonly algorithm?: string | undefined;
  readonly hash?: string | undefined;
}

/**
 * Completes the algorithm with the first combination that fits. The default is SECP256K1, ECDSASecp256k1, SHA256.
 * Throws a UsageError that lists the combinations.
 */
export function chooseTriple(values: DemoArguments): AlgorithmTriple {
  const fitting = fittingTriples(values);
  return fitting.find((each) => each.hash === "SHA256") ?? fitting[0];
}

/** Returns every combination that fits. Throws a UsageError that lists the combinations if there is none. */
export function fittingTriples({
  curve,
  algorithm,
  hash,
}: DemoArguments): readonly [AlgorithmTriple, ...AlgorithmTriple[]] {
  const wanted = algorithm && (findSignatureAlgorithm(algorithm) ?? algorithm);
  const [first, ...others] = ALGORITHM_TRIPLES.filter(
    (triple) =>
      (curve ?? triple.curve) === triple.curve &&
      (wanted ?? triple.signatureAlgorithm) === triple.signatureAlgorithm &&
      (hash ?? triple.hash) === triple.hash,
  );
  if (first === undefined) throw new UsageError(`no such combination; use one of\n${listTriples()}`);
  return [first, ...others];
}

function listTriples(): string {
  return ALGORITHM_TRIPLES.map(
    ({ curve, signatureAlgorithm, hash }) =>
      `  --curve ${curve} --algorithm ${signatureAlgorithm} --hash ${hash}`,
  ).join("\n");
}

/** Creates a clock that writes a stage's name when it begins, and its time when it ends. */
export function createStageClock(write: (text: string) => void): StageClock {
  const stages: StageTime[] = [];
  let current: { name: string; start: number } | undefined;
  const end = (): void => {
    if (current === undefined) return;
    const durationMs = Math.round(performance.now() - current.start);
    stages.push({ name: current.name, durationMs });
    write(`${`${durationMs} ms`.padStart(10)}\n`);
    current = undefined;
  };
  return {
    begin(name) {
      end();
      current = { name, start: performance.now() };
      write(`  ${name.padEnd(24)}`);
    },
    end,
    stages,
  };
}

/** The duration of a stage. */
export interface StageTime {
  readonly name: string;
  readonly durationMs: number;
}

/** Prints one line per stage with its time, and records it. */
export interface StageClock {
  /** Ends the previous stage and begins this one. */
  begin(name: string): void;
  /** Ends the last stage. */
  end(): void;
  readonly stages: readonly StageTime[];
}

/**
 * Verifies a signature with a library that neither the service nor the client signs or verifies with: OpenSSL for
 * Ed25519 and P-256, libsecp256k1 (tiny-secp256k1) for ECDSA and Schnorr on secp256k1, and Polkadot's own for
 * Schnorrkel. For secp256k1 the key is also recovered from r, s and v. These libraries are for development only and
 * are loaded when they are needed.
 */
export async function verifyOutside({
  triple,
  publicKey,
  message,
  signature,
}: OutsideClaim): Promise<boolean> {
  switch (triple.signatureAlgorithm) {
    case "ECDSASecp256k1": {
      const secp = await import("tiny-secp256k1");
      const digest = await digestOf(triple, message);
      const compact = signature.subarray(0, 64);
      const recovered = secp.recover(digest, compact, recoveryId(signature), true);
      const isSame = recovered !== null && Buffer.from(recovered).equals(publicKey);
      return isSame && secp.verify(digest, publicKey, compact, true);
    }
    case "Taproot": {
      const secp = await import("tiny-secp256k1");
      return secp.verifySchnorr(sha256(message), publicKey.subarray(1), signature);
    }
    case "ECDSASecp256r1": {
      const key = openSslKey(P256_SPKI_PREFIX, publicKey);
      return verify("sha256", message, { key, dsaEncoding: "ieee-p1363" }, signature.subarray(0, 64));
    }
    case "EdDSA":
      return verify(null, message, openSslKey(ED25519_SPKI_PREFIX, publicKey), signature);
    case "Schnorrkel": {
      const { sr25519Verify } = await import("@polkadot/util-crypto");
      return sr25519Verify(message, signature, publicKey);
    }
  }
}

/** A signature with its message and key. */
interface OutsideClaim {
  readonly triple: AlgorithmTriple;
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

async function digestOf({ hash }: AlgorithmTriple, message: Uint8Array): Promise<Uint8Array> {
  if (hash === "KECCAK256") {
    const { getBytes, keccak256 } = await import("ethers");
    return getBytes(keccak256(message));
  }
  return hash === "DoubleSHA256" ? sha256(sha256(message)) : sha256(message);
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}

function recoveryId(signature: Uint8Array): 0 | 1 | 2 | 3 {
  const id = signature[64];
  if (id === 0 || id === 1 || id === 2 || id === 3) return id;
  throw new Error("the signature has no recovery id");
}

function openSslKey(spkiPrefixHex: string, publicKey: Uint8Array): ReturnType<typeof createPublicKey> {
  const key = Buffer.concat([Buffer.from(spkiPrefixHex, "hex"), publicKey]);
  return createPublicKey({ key, format: "der", type: "spki" });
}

/** SubjectPublicKeyInfo up to the key: id-Ed25519 (RFC 8410). */
const ED25519_SPKI_PREFIX = "302a300506032b6570032100";
/** SubjectPublicKeyInfo up to a compressed point: id-ecPublicKey, prime256v1 (RFC 5480). */
const P256_SPKI_PREFIX = "3039301306072a8648ce3d020106082a8648ce3d030107032200";
