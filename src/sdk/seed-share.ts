import { deriveUserShare } from "../crypto/derive-user-share.ts";
import type { SecretBytes } from "../crypto/secret-bytes.ts";
import type { Action } from "./action.ts";
import { call } from "./call.ts";
import { readSessionDigest } from "./checks.ts";
import type { ClientContext } from "./context.ts";
import { TssError } from "./errors.ts";
import type { Curve } from "./names.ts";
import type { CompletedDWallet } from "./read-dwallet.ts";

/** A dWallet whose share is to be derived. */
export interface SeedShareRequest {
  readonly seed: Uint8Array;
  readonly curve: Curve;
  readonly dwallet: CompletedDWallet;
  readonly parameters: Uint8Array;
  /** The digest that the caller kept, in hex; without it the service is asked, and then the chain. */
  readonly sessionDigestHex?: string | undefined;
}

/** A share that is the seed's, and what it was derived from. The caller destroys the share. */
export interface SeedShare {
  readonly share: SecretBytes;
  /** 32 bytes. */
  readonly sessionDigest: Uint8Array;
}

/**
 * The user's share of a dWallet, derived from the seed and the DKG's session, if it is the one that the dWallet was
 * made with. Where the digest of the session comes from does not matter: only the right one gives the share, so that
 * who names a wrong one gains a refusal and nothing else.
 *
 * Throws SHARE_UNVERIFIED for a dWallet whose share somebody else may have chosen, and when no digest is known.
 */
export async function openSeedShare(
  context: ClientContext,
  action: Action,
  request: SeedShareRequest,
): Promise<SeedShare> {
  let isKnown = false;
  for await (const sessionDigest of findDigests(context, action, request)) {
    isKnown = true;
    const share = await deriveIfOwn(context, action, request, sessionDigest);
    if (share !== undefined) return { share, sessionDigest };
  }
  throw new TssError("SHARE_UNVERIFIED", isKnown ? NOT_DERIVED : NO_DIGEST);
}

/** Digests to try, the likeliest first. The caller's is the only one when there is one. */
async function* findDigests(
  context: ClientContext,
  action: Action,
  { dwallet, sessionDigestHex }: SeedShareRequest,
): AsyncGenerator<Uint8Array> {
  if (sessionDigestHex !== undefined) {
    yield readSessionDigest(sessionDigestHex);
    return;
  }
  const { id: dwalletId } = dwallet;
  const row = await call(action, (options) => context.raw.onboarding.getDWallet({ dwalletId }, options));
  if (row.sessionDigest.length === DIGEST_BYTES) yield row.sessionDigest;
  const { encryptedUserSecretKeyShareId } = row;
  if (!OBJECT_ID.test(encryptedUserSecretKeyShareId)) return;
  const onChain = await context.chainSession(action, dwallet, encryptedUserSecretKeyShareId);
  if (onChain !== undefined) yield onChain;
}

async function deriveIfOwn(
  context: ClientContext,
  { signal }: Action,
  request: SeedShareRequest,
  sessionDigest: Uint8Array,
): Promise<SecretBytes | undefined> {
  const { seed, curve, dwallet, parameters } = request;
  const { networkEncryptionKeyId, state } = dwallet;
  const share = deriveUserShare({ seed, curve, networkEncryptionKeyId, sessionDigest });
  let isOwn = false;
  try {
    const claim = { curve, parameters, userSecretKeyShare: share, dwalletOutput: state.publicOutput };
    isOwn = await context.engine.isOutputOfShare({ ...claim, signal });
    return isOwn ? share : undefined;
  } finally {
    if (!isOwn) share.destroy();
  }
}

const DIGEST_BYTES = 32;
const OBJECT_ID = /^0x[0-9a-f]{64}$/;
const NOT_DERIVED =
  "the dWallet's share is not the one that the seed implies: somebody else may have chosen it, or an older version made it";
const NO_DIGEST = "neither the service nor the chain names the DKG's session; pass sessionDigestHex";
