import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify, type LocalJWKSet } from "jose";
import { ServiceError } from "../../platform/errors/service-error.ts";

/**
 * Reads the issuer that a token names, without checking the token. Throws TOKEN_INVALID for a text that cannot be an ID
 * token, such as one with an algorithm that no provider may use.
 */
export function readUncheckedToken(token: string): UncheckedToken {
  if (token.length > TOKEN_MAX_LENGTH) throw tokenInvalid("malformed", "the ID token is too long");
  let header: ReturnType<typeof decodeProtectedHeader>;
  let claims: JWTPayload;
  try {
    header = decodeProtectedHeader(token);
    claims = decodeJwt(token);
  } catch {
    throw tokenInvalid("malformed", "the ID token is not a signed JSON Web Token");
  }
  const { alg, kid, crit, typ } = header;
  if (!ID_TOKEN_ALGORITHMS.some((name) => name === alg))
    throw tokenInvalid("algorithm", "the ID token has an algorithm that is not accepted");
  // This service implements no extension, so each one that must be understood is a reason to refuse.
  if (crit !== undefined) throw tokenInvalid("malformed", "the ID token has critical header parameters");
  // Access tokens, logout tokens and proofs are signed with the same keys and are no ID tokens.
  if (typ !== undefined && (typeof typ !== "string" || !/^(?:application\/)?jwt$/i.test(typ)))
    throw tokenInvalid("type", "the token is not an ID token");
  if (kid !== undefined && (typeof kid !== "string" || kid.length > KID_MAX_LENGTH))
    throw tokenInvalid("malformed", "the ID token has no valid `kid`");
  // PostgreSQL, which is asked for the issuer, does not take every text.
  if (typeof claims.iss !== "string" || !ISSUER_FORM.test(claims.iss))
    throw tokenInvalid("issuer", "the ID token names no issuer");
  return { issuer: claims.iss, kid };
}

/** What a token says about itself before anything of it is checked. */
export interface UncheckedToken {
  readonly issuer: string;
  readonly kid: string | undefined;
}

/**
 * Verifies an ID token (OpenID Connect Core 1.0, section 3.1.3.7) by a provider's rules and keys, and returns the
 * reference of its user. `findKey` must have only keys of this provider. Throws TOKEN_INVALID, whose metadata `fault`
 * says which check failed.
 */
export async function verifyIdToken(
  token: string,
  provider: IdTokenRules,
  findKey: LocalJWKSet,
  nowMs: number,
): Promise<VerifiedIdToken> {
  readUncheckedToken(token);
  const claims = await verifiedClaims(token, provider, findKey, nowMs);
  // Of logout tokens (RFC 8417), which older providers mark by nothing else.
  if (claims["events"] !== undefined) throw tokenInvalid("type", "the token is not an ID token");
  const { aud, azp, exp, iat } = claims;
  const audiences = typeof aud === "string" ? [aud] : (aud ?? []);
  // A token for several parties says which one asked for it. Without that, one of the others could use it here.
  if (azp === undefined ? audiences.length > 1 : !isAudience(azp, provider))
    throw tokenInvalid("authorized_party", "the ID token was issued to another party");
  const reference = claims[provider.referenceClaim];
  if (typeof reference !== "string" || !REFERENCE_FORM.test(reference))
    throw tokenInvalid(
      "reference",
      "the ID token's claim for the user is not 1 to 128 printable ASCII characters",
    );
  // Some providers let their users write any address into this claim. Some send the confirmation as a text.
  if (provider.referenceClaim === "email" && String(claims["email_verified"]) !== "true")
    throw tokenInvalid("reference", "the provider has not verified the ID token's e-mail address");
  return {
    userReference: reference,
    issuedAt: new Date(Number(iat) * 1_000),
    expiresAt: new Date(Number(exp) * 1_000),
  };
}

/** What a provider's ID tokens must have. */
export interface IdTokenRules {
  readonly issuer: string;
  /** At least one. A token needs one of them. */
  readonly audiences: readonly string[];
  /** The claim with the user's reference. With `email`, a token also needs `email_verified`. */
  readonly referenceClaim: string;
  readonly algorithms: readonly IdTokenAlgorithm[];
  /** The maximum time since a token was issued. */
  readonly tokenMaxAgeSeconds: number;
}

/** What a verified token says. */
export interface VerifiedIdToken {
  readonly userReference: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/** The algorithms that a provider may use: signatures with a public key. */
export const ID_TOKEN_ALGORITHMS = [
  ...(["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] as const),
  ...(["ES256", "ES384", "ES512", "EdDSA", "Ed25519"] as const),
] as const;

/** One of {@link ID_TOKEN_ALGORITHMS}. */
export type IdTokenAlgorithm = (typeof ID_TOKEN_ALGORITHMS)[number];

/** The error for an ID token that is not accepted. `fault` is one of few words, and the message has nothing of the token. */
export function tokenInvalid(fault: TokenFault, message: string): ServiceError {
  return new ServiceError("TOKEN_INVALID", message, { metadata: { fault } });
}

/** The check that an ID token has failed. */
export type TokenFault =
  | "malformed"
  | "algorithm"
  | "type"
  | "issuer"
  | "audience"
  | "authorized_party"
  | "key"
  | "signature"
  | "expired"
  | "not_yet_valid"
  | "reference"
  | "revoked";

const TOKEN_MAX_LENGTH = 16_384;
const KID_MAX_LENGTH = 256;
const CLOCK_TOLERANCE_SECONDS = 60;
/** No provider's token needs to live longer, and a number near infinity is refused. */
const LIFETIME_MAX_SECONDS = 7 * 86_400;
/** As the contract allows for a provider's issuer. */
const ISSUER_FORM = /^[!-~]{1,512}$/;
/** As for deposit addresses. */
const REFERENCE_FORM = /^[ -~]{1,128}$/;

async function verifiedClaims(
  token: string,
  { issuer, audiences, algorithms, tokenMaxAgeSeconds }: IdTokenRules,
  findKey: LocalJWKSet,
  nowMs: number,
): Promise<JWTPayload> {
  let claims: JWTPayload;
  try {
    const verified = await jwtVerify(token, findKey, {
      issuer,
      audience: [...audiences],
      algorithms: [...algorithms],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      maxTokenAge: tokenMaxAgeSeconds,
      requiredClaims: ["exp", "iat"],
      currentDate: new Date(nowMs),
    });
    claims = verified.payload;
  } catch (error) {
    throw faultOf(error);
  }
  const { exp, iat } = claims;
  if (Number(exp) - Number(iat) > LIFETIME_MAX_SECONDS)
    throw tokenInvalid("expired", "the ID token lives longer than seven days");
  return claims;
}

function isAudience(azp: unknown, { audiences }: IdTokenRules): boolean {
  return typeof azp === "string" && audiences.includes(azp);
}

/** Translates an error of `jose`. Any other error is this service's own mistake. */
function faultOf(error: unknown): unknown {
  if (error instanceof errors.JWTExpired)
    return tokenInvalid("expired", "the ID token has expired, or is too old");
  if (error instanceof errors.JWTClaimValidationFailed)
    return tokenInvalid(
      CLAIM_FAULTS[error.claim] ?? "malformed",
      `the ID token's claim \`${claimName(error)}\` is not valid`,
    );
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return tokenInvalid("signature", "the ID token's signature is not valid");
  if (error instanceof errors.JOSEAlgNotAllowed)
    return tokenInvalid("algorithm", "the ID token has an algorithm that is not accepted");
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
    return tokenInvalid("key", "the provider has no key, or more than one, for the ID token's `kid`");
  if (error instanceof errors.JOSEError) return tokenInvalid("malformed", "the ID token is not valid");
  return error;
}

const CLAIM_FAULTS: Readonly<Record<string, TokenFault>> = {
  iss: "issuer",
  aud: "audience",
  exp: "expired",
  iat: "not_yet_valid",
  nbf: "not_yet_valid",
};

/** Echoes only names that this service checks. */
function claimName({ claim }: errors.JWTClaimValidationFailed): string {
  return claim in CLAIM_FAULTS ? claim : "typ";
}
