import { createHash } from "node:crypto";
import { decodeProtectedHeader, errors, importJWK, type JWK, type JWTPayload, jwtVerify } from "jose";
import { RecentMap } from "../../platform/coordination/recent-map.ts";
import { ServiceError } from "../../platform/errors/service-error.ts";
import type { ProofNonces } from "./proof-nonces.ts";
import type { SeenProofs } from "./seen-proofs.ts";

/**
 * Creates a check of DPoP proofs (RFC 9449), by which a caller shows with each call that it has the private key of its
 * device. A proof is for one HTTP method, one URL without its query, and one token, and counts once.
 *
 * The scheme and the host of the URL count only if the public URLs are configured, because a proxy may have changed them.
 * The token's hash in the proof excludes other services in any case, as they never see the token.
 */
export function createProofCheck({ nonces, seenProofs, publicUrls = [] }: ProofCheckOptions): ProofCheck {
  const keys = new RecentMap<string, Promise<ImportedKey>>(KEYS_MAX_COUNT);
  const isTarget = createTargetCheck(publicUrls);

  /** Imports a key once, because that takes longer than a verification. */
  function importKey(thumbprint: string, jwk: JWK, alg: string): Promise<ImportedKey> {
    const known = keys.get(thumbprint);
    if (known !== undefined) return known;
    const imported = importJWK(jwk, alg);
    keys.set(thumbprint, imported);
    imported.catch(() => keys.delete(thumbprint));
    return imported;
  }

  return async ({ proof, method, url, token, thumbprint, nowMs, beforeNoting }) => {
    if (proof === undefined) throw proofInvalid("missing", "the header `DPoP` is missing");
    const { alg, jwk } = readHeader(proof);
    const actual = thumbprintOf(jwk);
    // Before the costly steps, which only the owner of the session's key can then cause.
    if (thumbprint !== undefined && actual !== thumbprint)
      throw proofInvalid("key", "the proof is of another key than the session's");
    const key = await importKey(actual, jwk, alg).catch(() => {
      throw proofInvalid("key", "the proof has no valid public key");
    });
    const claims = await verifiedClaims(proof, key, alg);
    if (claims["htm"] !== method) throw proofInvalid("method", "the proof is for another HTTP method");
    if (!isTarget(claims["htu"], url)) throw proofInvalid("url", "the proof is for another URL");
    if (claims["ath"] !== (token === undefined ? undefined : hashOf(token)))
      throw proofInvalid("token", "the proof is for another token");
    checkTime(claims, { isNonceNeeded: token !== undefined, nonces, nowMs });
    await beforeNoting?.();
    if (!(await seenProofs.isFirst(`${actual}.${claims.jti}`)))
      throw proofInvalid("replayed", "the proof was used before");
    const nonce = nonces.current(nowMs);
    return { thumbprint: actual, newNonce: claims["nonce"] === nonce ? undefined : nonce };
  };
}

/**
 * Checks a proof and returns the thumbprint of its key. Throws PROOF_INVALID, whose metadata `fault` says which check
 * failed, and PROOF_NONCE_REQUIRED with a nonce in the header `dpop-nonce`.
 */
export type ProofCheck = (call: ProvedCall) => Promise<CheckedProof>;

/** A proof that was accepted. */
export interface CheckedProof {
  readonly thumbprint: string;
  /** The nonce for the next proof; undefined if this proof has it. */
  readonly newNonce: string | undefined;
}

/** A call with its proof. */
export interface ProvedCall {
  /** The header `DPoP`. Several headers are joined by commas, which no proof contains. */
  readonly proof: string | undefined;
  /** The HTTP method: always POST over gRPC and gRPC-web, POST or GET over Connect, any over REST. */
  readonly method: string;
  /** The URL of the request. Its query does not count. */
  readonly url: string;
  /** The token that the call uses. Undefined for a call that asks for one, whose proof needs no nonce. */
  readonly token: string | undefined;
  /** The thumbprint (RFC 7638) of the key that the token is bound to. Undefined for any key. */
  readonly thumbprint: string | undefined;
  readonly nowMs: number;
  /**
   * Called for a proof that fits, before it is noted as used, which is a statement without Redis. Its rejection refuses
   * the call. Default: every such proof is noted.
   */
  readonly beforeNoting?: () => Promise<void> | undefined;
}

/** Options of {@link createProofCheck}. */
export interface ProofCheckOptions {
  readonly nonces: ProofNonces;
  readonly seenProofs: SeenProofs;
  /** The URLs at which callers reach the service, each with the path that its proxy removes. Default: unknown. */
  readonly publicUrls?: readonly string[];
}

/** The algorithms of proofs. */
export const PROOF_ALGORITHMS = ["ES256", "EdDSA", "Ed25519"] as const;

type ImportedKey = Awaited<ReturnType<typeof importJWK>>;

const KEYS_MAX_COUNT = 10_000;
const PROOF_MAX_LENGTH = 4_096;
const JTI_FORM = /^[!-~]{8,128}$/;
/** Without a nonce, the clock of the caller decides whether a proof is new. */
const ISSUED_WINDOW_SECONDS = 60;

function readHeader(proof: string): { readonly alg: string; readonly jwk: JWK } {
  if (proof.length > PROOF_MAX_LENGTH) throw proofInvalid("malformed", "the proof is too long");
  let header: ReturnType<typeof decodeProtectedHeader>;
  try {
    header = decodeProtectedHeader(proof);
  } catch {
    throw proofInvalid("malformed", "the proof is not a signed JSON Web Token");
  }
  const { alg, typ, jwk, crit } = header;
  if (typ !== "dpop+jwt" || crit !== undefined)
    throw proofInvalid("malformed", "the proof needs the type `dpop+jwt` and no critical header parameters");
  if (!PROOF_ALGORITHMS.some((name) => name === alg))
    throw proofInvalid("algorithm", `the proof needs one of the algorithms ${PROOF_ALGORITHMS.join(", ")}`);
  return { alg: alg as string, jwk: publicKeyOf(jwk) };
}

/** Returns the required members of the key alone, in the order that the thumbprint (RFC 7638) needs. */
function publicKeyOf(jwk: unknown): JWK {
  if (typeof jwk !== "object" || jwk === null) throw proofInvalid("key", "the proof has no `jwk`");
  if ("d" in jwk || "k" in jwk) throw proofInvalid("key", "the proof contains a private key");
  const { kty, crv, x, y } = jwk as Readonly<Record<string, unknown>>;
  const isEc = kty === "EC" && crv === "P-256" && typeof y === "string";
  if (typeof x !== "string" || !(isEc || (kty === "OKP" && crv === "Ed25519")))
    throw proofInvalid("key", "the proof needs a key on P-256 or Ed25519");
  return (isEc ? { crv, kty, x, y } : { crv, kty, x }) as JWK;
}

function thumbprintOf(jwk: JWK): string {
  return hashOf(JSON.stringify(jwk));
}

async function verifiedClaims(proof: string, key: ImportedKey, alg: string): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(proof, key, {
      algorithms: [alg],
      typ: "dpop+jwt",
      requiredClaims: ["jti", "iat", "htm", "htu"],
      // The nonce or `iat` decides about the time, below.
      currentDate: new Date(0),
      clockTolerance: Number.MAX_SAFE_INTEGER,
    });
    if (typeof payload.jti !== "string" || !JTI_FORM.test(payload.jti) || typeof payload.iat !== "number")
      throw proofInvalid("malformed", "the proof needs `jti` of 8 to 128 characters, and `iat`");
    return payload;
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed)
      throw proofInvalid("signature", "the proof's signature is not valid");
    if (error instanceof errors.JOSEError || error instanceof TypeError)
      throw proofInvalid("malformed", "the proof is not a valid JSON Web Token, or lacks a claim");
    throw error;
  }
}

/** A nonce of the service says when a proof was made, so the clock of the caller does not matter. */
function checkTime(
  { nonce, iat }: JWTPayload,
  {
    isNonceNeeded,
    nonces,
    nowMs,
  }: Pick<ProofCheckOptions, "nonces"> & { isNonceNeeded: boolean; nowMs: number },
): void {
  if (typeof nonce === "string" && nonces.accepts(nonce, nowMs)) return;
  if (isNonceNeeded || nonce !== undefined) {
    throw new ServiceError(
      "PROOF_NONCE_REQUIRED",
      "make the proof again with the nonce of the header `dpop-nonce`",
      {
        headers: {
          "dpop-nonce": nonces.current(nowMs),
          "www-authenticate": 'DPoP error="use_dpop_nonce"',
        },
      },
    );
  }
  if (Math.abs(nowMs / 1_000 - Number(iat)) > ISSUED_WINDOW_SECONDS)
    throw proofInvalid("time", "the proof was not made within the last minute");
}

/**
 * Creates a comparison of a proof's `htu` with the URL of a request. Both lose query and fragment, and are normalized as
 * RFC 3986 specifies.
 */
function createTargetCheck(publicUrls: readonly string[]): (target: unknown, url: string) => boolean {
  const prefixes = publicUrls.map((text) => {
    const { origin, pathname } = new URL(text);
    return `${origin}${pathname.replace(/\/$/, "")}`;
  });
  return (target, url) => {
    if (typeof target !== "string" || !URL.canParse(target) || !URL.canParse(url)) return false;
    const { origin, pathname } = new URL(target);
    const path = new URL(url).pathname;
    if (prefixes.length === 0) return pathname === path;
    return prefixes.some((prefix) => `${origin}${pathname}` === `${prefix}${path}`);
  };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

/** The error for a proof that is not accepted. `fault` is one of few words, and the message has nothing of the proof. */
function proofInvalid(fault: ProofFault, message: string): ServiceError {
  return new ServiceError("PROOF_INVALID", message, {
    metadata: { fault },
    headers: { "www-authenticate": 'DPoP error="invalid_dpop_proof"' },
  });
}

type ProofFault =
  | "missing"
  | "malformed"
  | "algorithm"
  | "key"
  | "signature"
  | "method"
  | "url"
  | "token"
  | "time"
  | "replayed";
