import { createPublicKey, verify } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import sql from "sql-template-tag";
import type { Prisma } from "../../../gen/prisma/client.ts";
import {
  type EncryptionKey,
  EncryptionKeySchema,
  type RegisterEncryptionKeyRequest,
} from "../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Curve } from "../../../gen/proto/tss/v1/types_pb.ts";
import { CURVES, curveOfNumber } from "../../protocol/algorithms.ts";
import { equalBytes } from "../../protocol/bytes.ts";
import type { ChainEncryptionKey } from "../../protocol/chain/chain-objects.ts";
import { suiAddress } from "../../protocol/signatures/addresses.ts";
import { writeAuditEvent } from "../audit/audit-event.ts";
import { refuseWhileDraining } from "../chain/network-drain.ts";
import { enqueueOperation, type WaitTime, waitForOperation } from "../chain/operation.ts";
import { topics } from "../platform/coordination/topics.ts";
import { invalidField, ServiceError } from "../platform/errors/service-error.ts";
import { bytea, type Columns, nullable, number, oneOf, text } from "../platform/store/columns.ts";
import { type Database, execute, newId, readRows } from "../platform/store/database.ts";
import {
  LAST_UUID,
  type Page,
  type PageRequest,
  readPage,
  UUID_POSITION,
} from "../platform/store/read-page.ts";
import { ensureActiveUser, ensureUser, userFrozen } from "../users/ensure-user.ts";
import { addKeyUser, keysOfUsers } from "../users/key-users.ts";
import { type Reaching, reachScope, userToMakeFor, whereWithinReach } from "../users/reach.ts";
import { checkQuota, lockForQuota } from "./check-quota.ts";
import { ONBOARDING_PRIORITY, type OnboardingCaller, type OnboardingDeps } from "./onboarding-deps.ts";

/**
 * Registers a user's encryption key, once for each signer. A repeated call, also for a key that was registered
 * elsewhere, returns the registered key. Throws BAD_SIGNATURE before it spends gas, ENCRYPTION_KEY_CONFLICT if the
 * signer has another key, QUOTA_EXCEEDED, NETWORK_DRAINING, OUT_OF_REACH, USER_FROZEN, USER_DELETED, TOO_MANY_USERS, and
 * the errors of waiting for the chain. A registration
 * that the chain refused may be tried again. Each attempt counts against the quota, and after {@link TRIES_PER_DAY}
 * attempts the call only repeats the refusal.
 */
export async function registerEncryptionKey(
  deps: OnboardingDeps,
  caller: OnboardingCaller,
  request: RegisterEncryptionKeyRequest,
  time: WaitTime,
): Promise<ShownEncryptionKey> {
  const { encryptionKey, signature, signerPublicKey } = request;
  const userReference = userToMakeFor(caller, request.userReference);
  if (!verifyUserSignature(signerPublicKey, encryptionKey, signature)) {
    throw new ServiceError(
      "BAD_SIGNATURE",
      "signature: does not verify over encryption_key under signer_public_key",
    );
  }
  const name = {
    projectId: caller.projectId,
    curve: curveNumberOf(request.curve),
    signerAddress: suiAddress("ED25519", signerPublicKey),
  };
  const known = await findKeyOfSigner(deps.database, name);
  if (known && !equalBytes(known.encryptionKey, encryptionKey)) throw conflict();
  if (known && known.objectId !== null) {
    if (userReference !== undefined) await addUser(deps, caller, known.id, userReference);
    return showKey(deps.database, caller, known.id);
  }
  const onChain = await deps.readerFor(caller.projectId).registeredEncryptionKey(name.signerAddress);
  if (onChain && !isRegisteredKey(onChain, { ...name, encryptionKey })) throw conflict();
  const { id, isRegistered } = await storeKey(deps, caller, { ...name, request, userReference }, onChain);
  if (!isRegistered) {
    deps.signals.notify(topics.outbox(deps.network.name));
    await waitForOperation(deps, "register", id, time);
  }
  return showKey(deps.database, caller, id);
}

/** Stores that a registered key is also for a user, unless that is known. */
function addUser(
  { database, usersMaxCount }: OnboardingDeps,
  { projectId, origin }: OnboardingCaller,
  keyId: string,
  reference: string,
): Promise<void> {
  return database.transaction(async (db) => {
    const user = { projectId, reference };
    const { isFrozen } = await ensureUser(db, user, usersMaxCount);
    if (!(await addKeyUser(db, user, keyId))) return;
    if (isFrozen) throw userFrozen(reference);
    await writeAuditEvent(db, origin, { projectId, action: "encryption-key.register", subject: keyId });
  });
}

/** The maximum number of attempts to register one key, until 24 hours have passed since the last one. */
const TRIES_PER_DAY = 3;

interface NewKey {
  readonly curve: number;
  readonly signerAddress: string;
  readonly request: RegisterEncryptionKeyRequest;
  /** Undefined for a key that is for no user. */
  readonly userReference: string | undefined;
}

interface KnownKey {
  readonly id: string;
  readonly encryptionKey: Uint8Array;
  readonly objectId: string | null;
  /** In the last 24 hours. */
  readonly tries: number;
  /** The state of the last attempt; null if there was none. */
  readonly operationState: "queued" | "sent" | "landed" | "failed" | null;
}

/** Inserts the row if it is new, and queues the registration if it is needed and may be tried. */
function storeKey(
  deps: OnboardingDeps,
  caller: OnboardingCaller,
  { curve, signerAddress, request, userReference: reference }: NewKey,
  onChain: ChainEncryptionKey | undefined,
): Promise<{ id: string; isRegistered: boolean }> {
  const network = deps.network.name;
  const { projectId } = caller;
  return deps.database.transaction(async (db) => {
    // Concurrent calls of one project reach this point one after another.
    await lockForQuota(db, projectId);
    if (reference !== undefined) await ensureActiveUser(db, { projectId, reference }, deps.usersMaxCount);
    const [known] = await readRows(db, knownKey(projectId, curve, signerAddress), KNOWN_KEY);
    if (known && !equalBytes(known.encryptionKey, request.encryptionKey)) throw conflict();
    const id = known?.id ?? newId();
    const objectId = known?.objectId ?? onChain?.id ?? null;
    const isRegistered = objectId !== null;
    if (!isRegistered && known && !mayTry(known)) {
      if (reference !== undefined) await addKeyUser(db, { projectId, reference }, id);
      return { id, isRegistered };
    }
    // Locks the operation before the row, as the submitter does.
    if (!isRegistered) {
      await refuseWhileDraining(db, network);
      const { traceParent } = caller.origin;
      const operation = { id: newId(), network, kind: "register", subjectId: id, traceParent } as const;
      await enqueueOperation(db, { ...operation, priority: ONBOARDING_PRIORITY }, { again: true });
    }
    const tries = (known?.tries ?? 0) + (isRegistered ? 0 : 1);
    await execute(
      db,
      sql`INSERT INTO encryption_key (id, project_id, network, curve, signer_address, encryption_key, signature,
                                      signer_public_key, object_id, tries)
          VALUES (${id}, ${projectId}, ${network}, ${curve}, ${signerAddress}, ${request.encryptionKey},
                  ${request.signature}, ${request.signerPublicKey}, ${objectId}, ${tries})
          ON CONFLICT (project_id, curve, signer_address) DO UPDATE SET tries = excluded.tries,
            tried_at = excluded.tried_at, object_id = coalesce(encryption_key.object_id, excluded.object_id)`,
    );
    if (reference !== undefined) await addKeyUser(db, { projectId, reference }, id);
    if (!isRegistered) await checkQuota(db, "encryption_key", projectId, deps.dkgsPerDay);
    await writeAuditEvent(db, caller.origin, { projectId, action: "encryption-key.register", subject: id });
    return { id, isRegistered };
  });
}

/** Returns whether to try now: not during another attempt, and not too often after refusals. */
function mayTry({ operationState, tries }: KnownKey): boolean {
  return operationState === null || (operationState === "failed" && tries < TRIES_PER_DAY);
}

const KNOWN_KEY: Columns<KnownKey> = {
  id: text,
  encryptionKey: bytea,
  objectId: nullable(text),
  tries: number,
  operationState: nullable(oneOf("queued", "sent", "landed", "failed")),
};

const knownKey = (projectId: string, curve: number, signerAddress: string) => sql`
SELECT k.id, k.encryption_key AS "encryptionKey", k.object_id AS "objectId", o.state AS "operationState",
       CASE WHEN k.tried_at > now() - interval '24 hours' THEN k.tries ELSE 0 END AS tries
FROM encryption_key k LEFT JOIN chain_operation o ON o.kind = 'register' AND o.subject_id = k.id
WHERE k.project_id = ${projectId} AND k.curve = ${curve} AND k.signer_address = ${signerAddress}`;

function conflict(): ServiceError {
  return new ServiceError("ENCRYPTION_KEY_CONFLICT", "the signer has registered another encryption key");
}

/** The columns read from `encryption_key`. */
export type EncryptionKeyRow = Prisma.EncryptionKeyGetPayload<{ select: typeof COLUMNS }>;

const COLUMNS = {
  id: true,
  curve: true,
  signerAddress: true,
  encryptionKey: true,
  signerPublicKey: true,
  objectId: true,
  txDigest: true,
} as const satisfies Prisma.EncryptionKeySelect;

/** Returns the project's key of a signer on a curve, or null. */
export function findKeyOfSigner(
  { prisma }: Database,
  key: { readonly projectId: string; readonly curve: number; readonly signerAddress: string },
): Promise<EncryptionKeyRow | null> {
  return prisma.encryptionKey.findUnique({ where: { projectId_curve_signerAddress: key }, select: COLUMNS });
}

/** Returns the project's key with this object id, or null. With a user, the key must be registered for that user. */
export function findKeyByObject(
  { prisma }: Database,
  { projectId, objectId, userReference: reference }: KeyOfUser,
): Promise<EncryptionKeyRow | null> {
  const ofUser = reference === undefined ? {} : { users: { some: { projectId, reference } } };
  return prisma.encryptionKey.findFirst({ where: { projectId, objectId, ...ofUser }, select: COLUMNS });
}

interface KeyOfUser {
  readonly projectId: string;
  readonly objectId: string;
  readonly userReference?: string | undefined;
}

/** A registered key with its first users that the caller sees. */
export type ShownEncryptionKey = Prisma.EncryptionKeyGetPayload<{ select: ReturnType<typeof shownColumns> }>;

const shownColumns = ({ allowance }: Reaching) =>
  ({
    ...COLUMNS,
    users: {
      where:
        allowance?.userReferences === undefined ? {} : { reference: { in: [...allowance.userReferences] } },
      orderBy: { reference: "asc" },
      take: SHOWN_USERS_COUNT,
      select: { reference: true },
    },
  }) as const satisfies Prisma.EncryptionKeySelect;

const SHOWN_USERS_COUNT = 10;

function showKey({ prisma }: Database, caller: Reaching, id: string): Promise<ShownEncryptionKey> {
  return prisma.encryptionKey.findUniqueOrThrow({ where: { id }, select: shownColumns(caller) });
}

/** Reads a page of the registered keys within the caller's reach, the newest first. */
export function listEncryptionKeys(
  database: Database,
  caller: Reaching,
  { userReference, ...request }: ListEncryptionKeysInput,
): Promise<Page<ShownEncryptionKey>> {
  const { projectId, allowance } = caller;
  const references = usersOf(caller, userReference);
  const ofDWallets =
    allowance?.dwalletIds === undefined ? {} : { dWallets: { some: whereWithinReach(caller) } };
  return readPage(request, {
    scope: ["encryption key", reachScope(caller), ...(userReference === undefined ? [] : [userReference])],
    positionOf: ({ id }) => id,
    position: UUID_POSITION,
    read: async (after, take) => {
      const below = after ?? LAST_UUID;
      const ids = references && (await keysOfUsers(database, { projectId, references, below, count: take }));
      return await database.prisma.encryptionKey.findMany({
        where: {
          projectId,
          objectId: { not: null },
          ...ofDWallets,
          id: ids === undefined ? { lt: below } : { in: ids },
        },
        orderBy: { id: "desc" },
        take,
        select: shownColumns(caller),
      });
    },
  });
}

/** Filters encryption keys and selects a page. */
interface ListEncryptionKeysInput extends PageRequest {
  /** Undefined means all keys within reach. */
  readonly userReference?: string | undefined;
}

/** Returns the users whose keys a list shows; undefined for all keys of the project. */
function usersOf({ allowance }: Reaching, named: string | undefined): readonly string[] | undefined {
  const users = allowance?.userReferences;
  if (named === undefined) return users;
  return users === undefined || users.includes(named) ? [named] : [];
}

/** Encodes a registered key as the contract's message. */
export function encodeRegisteredKey(row: ShownEncryptionKey): EncryptionKey {
  if (row.objectId === null) throw new Error(`encryption key ${row.id} is not registered`);
  return create(EncryptionKeySchema, {
    encryptionKeyId: row.objectId,
    curve: curveEnum(row.curve),
    signerAddress: row.signerAddress,
    userReferences: row.users.map(({ reference }) => reference),
    ...(row.txDigest === null ? {} : { txDigest: row.txDigest }),
  });
}

/** Returns the contract's enum of the chain's integer. */
export function curveEnum(curveNumber: number): Curve {
  const name = curveOfNumber(curveNumber);
  if (name === undefined) throw new Error(`there is no curve ${curveNumber}`);
  return Curve[name];
}

/** Returns whether the key that a fullnode reports as registered is exactly this key of this signer. */
export function isRegisteredKey(onChain: ChainEncryptionKey, key: KeyToRegister): boolean {
  return (
    onChain.curveNumber === key.curve &&
    onChain.signerAddress === key.signerAddress &&
    equalBytes(onChain.encryptionKey, key.encryptionKey)
  );
}

/** A user's encryption key as a caller registers it. */
interface KeyToRegister {
  readonly curve: number;
  readonly signerAddress: string;
  readonly encryptionKey: Uint8Array;
}

/** Returns the chain's integer of the contract's enum. Throws VALIDATION for a number that the enum does not have. */
export function curveNumberOf(curve: Curve): number {
  const number = CURVES.findIndex((name) => Curve[name] === curve);
  if (number < 0) throw invalidField("curve", "is not a curve");
  return number;
}

/**
 * Returns true if an Ed25519 signature verifies (RFC 8032), and false for malformed input. Never throws. Node's native
 * code takes 0.2 ms. JavaScript code would block the event loop for 5 ms, and any caller could cause that.
 */
export function verifyUserSignature(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  try {
    const key = createPublicKey({
      key: Buffer.concat([SPKI_PREFIX, publicKey]),
      format: "der",
      type: "spki",
    });
    return verify(null, message, key, signature);
  } catch {
    return false;
  }
}

/** The bytes before the 32 bytes of an Ed25519 public key in its DER form (RFC 8410). */
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");
