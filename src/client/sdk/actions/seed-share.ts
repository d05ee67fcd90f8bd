import { isObjectId } from "../../../protocol/chain/object-id.ts";
import { deriveUserShare } from "../../crypto/derive-user-share.ts";
import type { SecretBytes } from "../../crypto/secret-bytes.ts";
import type { Action } from "../action.ts";
import type { CompletedDWallet } from "../chain/read-dwallet.ts";
import { readSessionDigest } from "../checks.ts";
import type { ClientContext } from "../context.ts";
import { TssError } from "../errors.ts";
import type { Curve } from "../names.ts";
import { askIfReachable, askService } from "./ask-service.ts";
import { acceptedImport } from "./imports/accepted-import.ts";
import { type FoundBy, shareIdOnChain } from "./share-id.ts";

/**
 * Derives the user's share of a dWallet from the seed and the DKG's session, and checks that the dWallet was made with
 * it. The source of the session digest does not matter: only the right digest yields the share, so a wrong one only
 * leads to a refusal. Of an imported key, the seed's signer must have accepted the output, unless the caller gives the
 * public key.
 *
 * Throws SHARE_UNVERIFIED when a third party may have chosen the share, and when no digest is known.
 */
export async function openSeedShare(
  context: ClientContext,
  action: Action,
  request: SeedShareRequest,
): Promise<SeedShare> {
  const { dwallet } = request;
  const importedPublicKey =
    request.importedPublicKey ?? (await acceptedImport(context, action, dwallet, request));
  if (dwallet.isImportedKey && importedPublicKey === undefined)
    throw new TssError("SHARE_UNVERIFIED", NOT_ACCEPTED);
  let isKnown = false;
  for await (const sessionDigest of findDigests(context, action, request)) {
    isKnown = true;
    const share = await deriveIfOwn(context, action, { ...request, importedPublicKey }, sessionDigest);
    if (share !== undefined) return { share, sessionDigest };
  }
  throw new TssError("SHARE_UNVERIFIED", isKnown ? NOT_DERIVED : NO_DIGEST);
}

/** A share that is derived from the seed, and the digest that it is derived from. The caller destroys the share. */
interface SeedShare {
  readonly share: SecretBytes;
  /** 32 bytes. */
  readonly sessionDigest: Uint8Array;
}

interface SeedShareRequest extends FoundBy {
  readonly seed: Uint8Array;
  readonly curve: Curve;
  readonly dwallet: CompletedDWallet;
  readonly parameters: Uint8Array;
  /** The digest that the caller kept, in hex. Default: ask the service and the chain. */
  readonly sessionDigestHex?: string | undefined;
  /** The public key of the private key that the user imports. Default: what the chain shows that the user accepted. */
  readonly importedPublicKey?: Uint8Array | undefined;
}

/** Yields the digests to try, the likeliest first. If the caller gave a digest, yields only that one. */
async function* findDigests(
  context: ClientContext,
  action: Action,
  request: SeedShareRequest,
): AsyncGenerator<Uint8Array> {
  const { dwallet, sessionDigestHex } = request;
  if (sessionDigestHex !== undefined) {
    yield readSessionDigest(sessionDigestHex);
    return;
  }
  const asked = request.isChainFirst === true ? await shareIdForSession(context, action, request) : undefined;
  if (asked !== undefined) yield* context.chainSessions(action, dwallet, asked);
  const row =
    request.isChainFirst === true
      ? await askIfReachable(context, action, dwallet.id)
      : await askService(context, action, dwallet.id);
  if (row === undefined) return;
  if (row.sessionDigest.length === DIGEST_BYTES) yield row.sessionDigest;
  const { encryptedUserSecretKeyShareId } = row;
  if (encryptedUserSecretKeyShareId === asked || !isObjectId(encryptedUserSecretKeyShareId)) return;
  yield* context.chainSessions(action, dwallet, encryptedUserSecretKeyShareId);
}

/** Returns the id of the share whose entry names the DKG; undefined if no fullnode lists it. */
async function shareIdForSession(
  context: ClientContext,
  action: Action,
  request: SeedShareRequest,
): Promise<string | undefined> {
  if (request.encryptedUserSecretKeyShareId !== undefined) return request.encryptedUserSecretKeyShareId;
  try {
    return await shareIdOnChain(context, action, request, request.dwallet);
  } catch {
    // The digest is a hint: the service may know it, and the caller may give it.
    action.signal.throwIfAborted();
    return undefined;
  }
}

async function deriveIfOwn(
  context: ClientContext,
  { signal }: Action,
  request: SeedShareRequest,
  sessionDigest: Uint8Array,
): Promise<SecretBytes | undefined> {
  const { seed, curve, dwallet, parameters, importedPublicKey } = request;
  const { networkEncryptionKeyId, state } = dwallet;
  const share = deriveUserShare({ seed, curve, networkEncryptionKeyId, sessionDigest });
  let isOwn = false;
  try {
    const claim = { curve, parameters, userSecretKeyShare: share, dwalletOutput: state.publicOutput };
    isOwn = await context.engine.isOutputOfShare({ ...claim, importedPublicKey, signal });
    return isOwn ? share : undefined;
  } finally {
    if (!isOwn) share.destroy();
  }
}

const DIGEST_BYTES = 32;
const NOT_DERIVED =
  "the dWallet's share is not derived from the seed: a third party may have chosen it, or an older version made it";
const NOT_ACCEPTED = "the chain does not show that this seed's signer has accepted the imported key";
const NO_DIGEST = "neither the service nor the chain names the DKG's session; pass sessionDigestHex";
