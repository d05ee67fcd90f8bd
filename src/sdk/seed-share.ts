import { deriveUserShare } from "../crypto/derive-user-share.ts";
import type { SecretBytes } from "../crypto/secret-bytes.ts";
import type { Action } from "./action.ts";
import { readSessionDigest } from "./checks.ts";
import type { ClientContext } from "./context.ts";
import { TssError } from "./errors.ts";
import type { Curve } from "./names.ts";
import type { CompletedDWallet } from "./read-dwallet.ts";

/**
 * Derives the user's share of a dWallet from the seed and the DKG's session, and checks that the dWallet was made with
 * it. The source of the session digest does not matter: only the right digest yields the share, so a wrong one only
 * leads to a refusal.
 *
 * Throws SHARE_UNVERIFIED when a third party may have chosen the share, and when no digest is known.
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

/** A share that is derived from the seed, and the digest that it is derived from. The caller destroys the share. */
export interface SeedShare {
  readonly share: SecretBytes;
  /** 32 bytes. */
  readonly sessionDigest: Uint8Array;
}

export interface SeedShareRequest {
  readonly seed: Uint8Array;
  readonly curve: Curve;
  readonly dwallet: CompletedDWallet;
  readonly parameters: Uint8Array;
  /** The digest that the caller kept, in hex. Default: ask the service, then the chain. */
  readonly sessionDigestHex?: string | undefined;
}

/** Yields the digests to try, the likeliest first. If the caller gave a digest, yields only that one. */
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
  const row = await context.call(action, (options) =>
    context.raw.onboarding.getDWallet({ dwalletId }, options),
  );
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
  "the dWallet's share is not derived from the seed: a third party may have chosen it, or an older version made it";
const NO_DIGEST = "neither the service nor the chain names the DKG's session; pass sessionDigestHex";
