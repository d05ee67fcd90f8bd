import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import sql from "sql-template-tag";
import type { Prisma } from "../../../gen/prisma/client.ts";
import { type DWallet, DWallet_State, DWalletSchema } from "../../../gen/proto/tss/v1/onboarding_pb.ts";
import { sessionIdentifierDigest } from "../../protocol/chain/session-identifier.ts";
import { RecentMap } from "../platform/coordination/recent-map.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import { text } from "../platform/store/columns.ts";
import { type Database, readRows } from "../platform/store/database.ts";
import { type Page, type PageRequest, readPage, UUID_POSITION } from "../platform/store/read-page.ts";
import { type Reaching, reachScope, userToList, whereWithinReach, withinReach } from "../users/reach.ts";
import { encodeKind } from "./dwallet-kind.ts";
import { recordDWalletState } from "./dwallet-session.ts";
import { curveEnum } from "./encryption-keys.ts";
import { encodeExitDrill } from "./exit-drill.ts";
import type { OnboardingDeps } from "./onboarding-deps.ts";

/**
 * The columns read from `dwallet`. `state` is the chain's, `Submitting`, or `Failed` if the object will never exist.
 */
export type DWalletRow = Prisma.DWalletGetPayload<{ select: typeof COLUMNS }>;

const COLUMNS = {
  id: true,
  projectId: true,
  curve: true,
  kind: true,
  networkEncryptionKeyId: true,
  signerPublicKey: true,
  senderAddress: true,
  sessionIdentifier: true,
  requestHash: true,
  state: true,
  objectId: true,
  encryptedUserSecretKeyShareId: true,
  publicOutput: true,
  publicKey: true,
  txDigest: true,
  acceptTxDigest: true,
  leaveTxDigest: true,
  capId: true,
  name: true,
  userReference: true,
  exitDrillAt: true,
  exitDrillOutcome: true,
  adoptedAt: true,
  sessionDigest: true,
  encryptionKey: { select: { objectId: true } },
  // Of all rows at once. The count of Prisma would read the shares of all dWallets.
  shares: { where: { state: "Accepted" }, select: { id: true } },
} as const satisfies Prisma.DWalletSelect;

/** Returns the dWallet with this object id within the caller's reach. Throws DWALLET_NOT_FOUND. */
export async function findDWallet(
  { prisma }: Database,
  caller: Reaching,
  objectId: string,
): Promise<DWalletRow> {
  const where = { ...whereWithinReach(caller), objectId };
  const row = await prisma.dWallet.findFirst({ where, select: COLUMNS });
  if (row) return row;
  throw dwalletNotFound(objectId);
}

/** Returns the error for a dWallet that the caller does not see. */
export function dwalletNotFound(dwalletId: string): ServiceError {
  return new ServiceError("DWALLET_NOT_FOUND", "the project has no dWallet with this id", {
    metadata: { dwalletId },
  });
}

/** A filter for dWallets, and a page of the result. */
export interface ListDWalletsInput extends PageRequest {
  /** Undefined means all names. */
  readonly name?: string | undefined;
  /** A state of the contract, or `awaiting_user_share`. Undefined means all states. */
  readonly state?: string | undefined;
  /** Undefined means all users; see {@link userToList} for an empty one. */
  readonly userReference?: string | undefined;
}

/** Reads a page of the dWallets within the caller's reach, the newest first, without those that failed. */
export async function listDWallets(
  database: Database,
  caller: Reaching,
  { name, state: wanted, userReference, ...request }: ListDWalletsInput,
): Promise<Page<DWalletRow>> {
  const state = wanted === AWAITING_USER_SHARE ? "AwaitingKeyHolderSignature" : wanted;
  const user = userToList(caller, userReference);
  const which = {
    state: state ?? { not: "Failed" },
    ...(user !== undefined && { userReference: user }),
    ...(name !== undefined && { id: { in: await findName(database, caller, { name, user }) } }),
  };
  return await readPage(request, {
    scope: [
      "dwallet",
      reachScope(caller),
      ...(name === undefined && state === undefined ? [] : [name ?? "", state ?? ""]),
      ...(user === undefined ? [] : ["user", user ?? ""]),
    ],
    positionOf: ({ id }) => id,
    position: UUID_POSITION,
    read: (after, take) =>
      database.prisma.dWallet.findMany({
        where: { AND: [whereWithinReach(caller), which, after === undefined ? {} : { id: { lt: after } }] },
        orderBy: { id: "desc" },
        take,
        select: COLUMNS,
      }),
  });
}

/** An alias of the state in which the user must accept the share. */
const AWAITING_USER_SHARE = "awaiting_user_share";

/**
 * Returns the ids of the rows with a name within the caller's reach: one of each user. Lists the states so that the index
 * of names is used.
 */
async function findName(
  database: Database,
  caller: Reaching,
  { name, user }: { readonly name: string; readonly user: string | null | undefined },
): Promise<string[]> {
  const ofUser =
    user === undefined ? sql`` : sql` AND coalesce(d.user_reference, '') = ${user ?? ""} COLLATE "C"`;
  const rows = await readRows(
    database,
    sql`SELECT id FROM dwallet d WHERE ${withinReach(caller, sql`d`)} AND d.name = ${name}
        AND d.state NOT IN ('Failed', 'NetworkRejectedDKGVerification')${ofUser}`,
    { id: text },
  );
  return rows.map(({ id }) => id);
}

/** Returns the dWallet of a session identifier in any project, or null. */
export function findDWalletOfSession(
  { prisma }: Database,
  session: {
    readonly network: string;
    readonly senderAddress: string;
    readonly sessionIdentifier: Uint8Array;
  },
): Promise<DWalletRow | null> {
  const sessionIdentifier = new Uint8Array(session.sessionIdentifier);
  return prisma.dWallet.findUnique({
    where: { network_senderAddress_sessionIdentifier: { ...session, sessionIdentifier } },
    select: COLUMNS,
  });
}

/** Returns the dWallet with this object id in any project, or null. */
export function findDWalletOfObject(
  { prisma }: Database,
  network: string,
  objectId: string,
): Promise<DWalletRow | null> {
  return prisma.dWallet.findUnique({ where: { network_objectId: { network, objectId } }, select: COLUMNS });
}

/** Creates the error for a dWallet with a name that another one has. */
export function nameTaken(name: string): ServiceError {
  return new ServiceError(
    "DWALLET_NAME_TAKEN",
    "name: another dWallet of the project or the user has this name",
    {
      metadata: { name },
    },
  );
}

/** Session digests by row. Hashing those of a hundred dWallets takes 8 ms. */
const sessionDigests = new RecentMap<string, Uint8Array>(10_000);

function sessionDigestOf({ id, sessionIdentifier, senderAddress, sessionDigest }: DWalletRow): Uint8Array {
  if (sessionDigest !== null) return sessionDigest;
  const digest = sessionDigests.get(id) ?? sessionIdentifierDigest(sessionIdentifier, senderAddress);
  sessionDigests.set(id, digest);
  return digest;
}

/** Encodes a dWallet as the contract's message. */
export function encodeDWallet(row: DWalletRow): DWallet {
  return create(DWalletSchema, {
    dwalletId: row.objectId ?? "",
    curve: curveEnum(row.curve),
    kind: encodeKind(row.kind),
    state: stateEnum(row.state),
    encryptedUserSecretKeyShareId: row.encryptedUserSecretKeyShareId ?? "",
    encryptionKeyId: row.encryptionKey.objectId ?? "",
    networkEncryptionKeyId: row.networkEncryptionKeyId,
    txDigest: row.txDigest ?? "",
    sessionDigest: sessionDigestOf(row),
    holderCount: row.shares.length,
    ...(row.name === null ? {} : { name: row.name }),
    ...(row.userReference === null ? {} : { userReference: row.userReference }),
    ...(row.acceptTxDigest === null ? {} : { acceptTxDigest: row.acceptTxDigest }),
    ...(row.leaveTxDigest === null ? {} : { leaveTxDigest: row.leaveTxDigest }),
    ...(row.publicOutput === null ? {} : { publicOutput: row.publicOutput }),
    ...(row.publicKey === null ? {} : { publicKey: row.publicKey }),
    ...(row.adoptedAt === null ? {} : { adoptTime: timestampFromDate(row.adoptedAt) }),
    ...(row.exitDrillAt === null ? {} : { exitDrill: encodeExitDrill(row) }),
  });
}

function stateEnum(state: string): DWallet_State {
  const value = Object.entries(DWallet_State).find(([name]) => name === state)?.[1];
  return value ?? DWallet_State.STATE_UNSPECIFIED;
}

/**
 * Reads a dWallet within the caller's reach. If its state is not final, first updates the row from the chain, so that a caller that
 * watches the chain never gets an older state than it has seen. Throws DWALLET_NOT_FOUND, CHAIN_READS_EXHAUSTED and
 * CHAIN_UNAVAILABLE.
 */
export async function readDWallet(
  { database, readerFor, refundsPerDay }: Pick<OnboardingDeps, "database" | "readerFor" | "refundsPerDay">,
  caller: Reaching,
  dwalletId: string,
): Promise<DWalletRow> {
  const row = await findDWallet(database, caller, dwalletId);
  if (FINAL_STATES.includes(row.state)) return row;
  const content = (await readerFor(caller.projectId).getObjects([dwalletId])).get(dwalletId);
  if (content === undefined) return row;
  await recordDWalletState(database, row.id, content, refundsPerDay);
  return findDWallet(database, caller, dwalletId);
}

const FINAL_STATES = ["Active", "Leaving", "Left", "NetworkRejectedDKGVerification"];
