import { fromBase58 } from "@mysten/sui/utils";
import sql from "sql-template-tag";
import type { AdoptDWalletRequest } from "../../../gen/proto/tss/v1/onboarding_pb.ts";
import { curveOfNumber } from "../../protocol/algorithms.ts";
import { equalBytes, MalformedBytesError } from "../../protocol/bytes.ts";
import { adoptionConsentBytes } from "../../protocol/chain/adoption-consent.ts";
import { parseDWallet, parseEncryptedShare } from "../../protocol/chain/chain-objects.ts";
import { publicKeyFromDWalletOutput } from "../../protocol/dwallet-output.ts";
import { auditInsert } from "../audit/audit-event.ts";
import { refuseWhileDraining } from "../chain/network-drain.ts";
import { readForeignUses } from "../chain/submit/lane-table.ts";
import { invalidField, ServiceError } from "../platform/errors/service-error.ts";
import { execute, newId, type Queryable } from "../platform/store/database.ts";
import { ensureActiveUser } from "../users/ensure-user.ts";
import { isWithinReach, userToMakeFor } from "../users/reach.ts";
import { checkQuota, lockForQuota } from "./check-quota.ts";
import { hasLeft, readCustody } from "./custody/custody-state.ts";
import { dwalletEventInsert } from "./dwallet-event.ts";
import type { DWalletKindName } from "./dwallet-kind.ts";
import { type DWalletRow, findDWalletOfObject, nameTaken, readDWallet } from "./dwallet-row.ts";
import { type EncryptionKeyRow, findKeyByObject, verifyUserSignature } from "./encryption-keys.ts";
import type { OnboardingCaller, OnboardingDeps } from "./onboarding-deps.ts";

/**
 * Takes a dWallet into the caller's project that the Treasury holds and no row has, with its owner's consent. It sends
 * nothing and charges nothing. A dWallet that the project and the user have already is returned as it is. Throws
 * DWALLET_TAKEN, DWALLET_NAME_TAKEN, DWALLET_NOT_FOUND, DWALLET_NOT_ACTIVE, DWALLET_LEFT, ENCRYPTION_KEY_NOT_FOUND,
 * VALIDATION, which names the field, BAD_SIGNATURE, DATABASE_BEHIND_CHAIN, WRONG_STATE while a DKG of the same owner is
 * being requested, QUOTA_EXCEEDED, NETWORK_DRAINING, OUT_OF_REACH, USER_FROZEN, USER_DELETED, TOO_MANY_USERS,
 * CHAIN_READS_EXHAUSTED and CHAIN_UNAVAILABLE.
 */
export async function adoptDWallet(
  deps: OnboardingDeps,
  caller: OnboardingCaller,
  request: AdoptDWalletRequest,
): Promise<DWalletRow> {
  const userReference = userToMakeFor(caller, request.userReference);
  const { database, network } = deps;
  const { dwalletId } = request;
  const find = () => findDWalletOfObject(database, network.name, dwalletId);
  const isOwn = (row: DWalletRow) =>
    isWithinReach(caller, row) && row.userReference === (userReference ?? null);
  const known = await find();
  if (known !== null && isOwn(known)) return requireActive(await readDWallet(deps, caller, dwalletId));
  // Only the owner learns whether someone else has the dWallet.
  await store(deps, caller, await checkRequest(deps, caller, request, userReference));
  const row = await find();
  if (row === null) throw nameTaken(request.name ?? "");
  if (isOwn(row)) return row;
  throw new ServiceError("DWALLET_TAKEN", "another project or user has this dWallet", {
    metadata: { dwalletId },
  });
}

/** Returns the row. Throws if the project has the dWallet, and cannot sign with it. */
function requireActive(row: DWalletRow): DWalletRow {
  const { state, objectId: dwalletId } = row;
  if (state === "Active") return row;
  if (state === "Leaving" || state === "Left") throw hasLeft(dwalletId ?? "", state);
  throw notActive(dwalletId ?? "", state);
}

function notActive(dwalletId: string, state: string): ServiceError {
  return new ServiceError("DWALLET_NOT_ACTIVE", `the dWallet is ${state}`, {
    metadata: { dwalletId, state },
  });
}

/** Compares the request with the chain and the owner's signature. Returns the row to store. */
async function checkRequest(
  { database, network, readerFor }: OnboardingDeps,
  { projectId }: OnboardingCaller,
  request: AdoptDWalletRequest,
  userReference: string | undefined,
): Promise<AdoptedDWallet> {
  const { dwalletId, encryptedUserSecretKeyShareId: shareId, sessionDigest, expiresEpoch } = request;
  const { treasuryId } = network.treasury;
  const key = await findKeyByObject(database, {
    projectId,
    objectId: request.encryptionKeyId,
    userReference,
  });
  if (!key)
    throw new ServiceError(
      "ENCRYPTION_KEY_NOT_FOUND",
      "the project or the user has no encryption key with this id",
      { metadata: { encryptionKeyId: request.encryptionKeyId } },
    );
  if (request.treasuryId !== treasuryId)
    throw invalidField("treasury_id", `is not this service's Treasury ${treasuryId}`);
  if (request.projectId !== projectId) throw invalidField("project_id", "is not the caller's project");
  const reader = readerFor(projectId);
  const chain = fromBase58(await reader.chainIdentifier());
  if (!equalBytes(request.chain, chain)) throw invalidField("chain", "belongs to another chain");
  const { epoch } = await reader.epoch();
  if (expiresEpoch < epoch)
    throw invalidField("expires_epoch", `is ${expiresEpoch}, but the epoch is ${epoch}`);
  const consent = {
    chain,
    treasuryId,
    dwalletId,
    encryptedUserSecretKeyShareId: shareId,
    sessionDigest,
    projectId,
    userReference,
    expiresEpoch,
  };
  if (!verifyUserSignature(key.signerPublicKey, adoptionConsentBytes(consent), request.signature))
    throw new ServiceError(
      "BAD_SIGNATURE",
      "signature: is not the encryption key's signer's, or is over another adoption",
    );
  const objects = await reader.getObjects([dwalletId, shareId]);
  const content = objects.get(dwalletId);
  if (content === undefined)
    throw new ServiceError("DWALLET_NOT_FOUND", "the chain has no such dWallet", { metadata: { dwalletId } });
  // Only this makes the object a dWallet of Ika: the Treasury accepts nothing but Ika's capabilities.
  const { held } = await readCustody(reader, treasuryId, dwalletId);
  if (held === undefined) throw hasLeft(dwalletId, "Left");
  if (held.owner !== key.signerAddress)
    throw invalidField("encryption_key_id", "is not the key of the dWallet's owner");
  return {
    ...onChain(key, content, objects.get(shareId), request),
    projectId,
    network: network.name,
    userReference,
  };
}

/** What the chain and the owner say of a dWallet to adopt. */
interface AdoptedDWallet extends FactsOnChain {
  readonly projectId: string;
  readonly network: string;
  readonly userReference: string | undefined;
}

interface FactsOnChain {
  readonly key: EncryptionKeyRow;
  readonly request: AdoptDWalletRequest;
  /** As the chain records it. Only ECDSA of an imported key signs with presigns of this dWallet. */
  readonly kind: DWalletKindName;
  readonly networkEncryptionKeyId: string;
  readonly capId: string;
  readonly publicOutput: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly userOutputSignature: Uint8Array;
}

/** Compares the dWallet and the owner's share on the chain with the request. */
function onChain(
  key: EncryptionKeyRow,
  dwalletContent: Uint8Array,
  shareContent: Uint8Array | undefined,
  request: AdoptDWalletRequest,
): FactsOnChain {
  const { dwalletId } = request;
  const dwallet = parseDWallet(dwalletContent);
  const { state } = dwallet;
  if (state.kind !== "Active") throw notActive(dwalletId, state.kind);
  const curve = curveOfNumber(dwallet.curveNumber);
  if (curve === undefined || dwallet.curveNumber !== key.curve)
    throw invalidField("encryption_key_id", "is a key of another curve than the dWallet's");
  const share = readShare(shareContent);
  const isOwn =
    share?.dwalletId === dwalletId &&
    share.encryptionKeyAddress === key.signerAddress &&
    share.state.kind === "KeyHolderSigned" &&
    verifyUserSignature(key.signerPublicKey, state.publicOutput, share.state.userOutputSignature);
  if (!isOwn)
    throw invalidField("encrypted_user_secret_key_share_id", "is not a share that the owner has accepted");
  return {
    key,
    request,
    kind: dwallet.isImportedKey ? "imported_key" : "dkg",
    networkEncryptionKeyId: dwallet.networkEncryptionKeyId,
    capId: dwallet.dwalletCapId,
    publicOutput: state.publicOutput,
    publicKey: publicKeyFromDWalletOutput(curve, state.publicOutput),
    userOutputSignature: share.state.userOutputSignature,
  };
}

/** Returns undefined if there is no object, or one of another kind. */
function readShare(content: Uint8Array | undefined): EncryptedShare | undefined {
  if (content === undefined) return undefined;
  try {
    return parseEncryptedShare(content);
  } catch (error) {
    if (error instanceof MalformedBytesError) return undefined;
    throw error;
  }
}

type EncryptedShare = ReturnType<typeof parseEncryptedShare>;

/** Inserts the row, unless the dWallet or its name has one. */
async function store(
  { database, network: { name: network }, dkgsPerDay, usersMaxCount }: OnboardingDeps,
  { origin }: OnboardingCaller,
  adopted: AdoptedDWallet,
): Promise<void> {
  const { projectId, userReference: reference, key } = adopted;
  await database.transaction(async (db) => {
    await lockForQuota(db, projectId);
    await refuseWhileDraining(db, network);
    await refuseWhileBehind(db, network);
    await refuseOwnDkg(db, network, key.signerPublicKey);
    if (reference !== undefined) await ensureActiveUser(db, { projectId, reference }, usersMaxCount);
    const insertedCount = await execute(db, insert(adopted, origin));
    if (insertedCount > 0) await checkQuota(db, "dwallet", projectId, dkgsPerDay);
  });
}

/** Throws DATABASE_BEHIND_CHAIN while the dWallet may be one whose DKG this database has lost and is yet to restore. */
async function refuseWhileBehind(db: Queryable, network: string): Promise<void> {
  if ((await readForeignUses(db, network)).length === 0) return;
  throw new ServiceError(
    "DATABASE_BEHIND_CHAIN",
    `the chain knows transactions on ${network} that this service does not`,
    { metadata: { network } },
  );
}

/**
 * Throws WRONG_STATE while any project requests a DKG of this owner. Its row has no object yet, so the dWallet could be
 * its own, and its outcome could then not be recorded. A DKG that begins later makes another dWallet than this one,
 * which is on the chain already.
 */
async function refuseOwnDkg(db: Queryable, network: string, signerPublicKey: Uint8Array): Promise<void> {
  const requestedCount = await execute(
    db,
    sql`SELECT 1 FROM dwallet
        WHERE network = ${network} AND signer_public_key = ${signerPublicKey} AND state = 'Submitting' LIMIT 1`,
  );
  if (requestedCount === 0) return;
  throw new ServiceError("WRONG_STATE", "a DKG of the dWallet's owner is being requested; try again", {
    metadata: { state: "Submitting" },
  });
}

/** The sender of a DKG that this database does not have. No transaction has this sender. */
const NO_SENDER = `0x${"0".repeat(64)}`;

/** The columns of a DKG get stand-ins of their form: a session that no other row has, and otherwise nothing. */
function insert(adopted: AdoptedDWallet, origin: OnboardingCaller["origin"]) {
  const { key, request, userReference = null } = adopted;
  const id = newId();
  return sql`
WITH adopted AS (
  INSERT INTO dwallet
    (id, kind, sender_address, session_identifier, request_hash, user_dkg_message, encrypted_user_share_and_proof,
     user_public_output, project_id, network, curve, encryption_key_id, network_encryption_key_id, signer_public_key,
     name, user_reference, state, object_id, cap_id, encrypted_user_secret_key_share_id, public_output, public_key,
     user_output_signature, session_digest, adopted_at)
  VALUES
    (${id}, ${adopted.kind}, ${NO_SENDER}, uuid_send(${id}::uuid) || uuid_send(${id}::uuid), '', '', '', '',
     ${adopted.projectId}, ${adopted.network}, ${key.curve}, ${key.id}, ${adopted.networkEncryptionKeyId},
     ${key.signerPublicKey}, ${request.name ?? null}, ${userReference}, 'Active', ${request.dwalletId}, ${adopted.capId},
     ${request.encryptedUserSecretKeyShareId}, ${adopted.publicOutput}, ${adopted.publicKey},
     ${adopted.userOutputSignature}, ${request.sessionDigest}, now())
  ON CONFLICT DO NOTHING RETURNING id, project_id, object_id, user_reference, failure_reason
), noted AS (${dwalletEventInsert("dwallet.active", sql`adopted`)}
), audited AS (${auditInsert("dwallet.adopt", sql`adopted`, origin)})
SELECT id FROM adopted`;
}
