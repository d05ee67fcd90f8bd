import sql from "sql-template-tag";
import type { AlgorithmTriple } from "../../protocol/algorithms.ts";
import { networkDraining } from "../chain/network-drain.ts";
import { hasLeft, isLeft } from "../onboarding/custody/custody-state.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import type { Idempotency } from "../platform/idempotency/idempotency.ts";
import { isRemembered, type KeyScope, requireSameCall } from "../platform/idempotency/key-table.ts";
import { batchStatements } from "../platform/store/batch-statements.ts";
import { boolean, bytea, type Columns, listOf, nullable, number, text } from "../platform/store/columns.ts";
import { type Queryable, readRows } from "../platform/store/database.ts";
import { hasFrozenUser, userFrozen } from "../users/ensure-user.ts";
import { activeHolders, isWithinUse, type Reaching } from "../users/reach.ts";

/**
 * Reads what a reservation depends on: the earlier call with the same idempotency key, and the dWallet. Calls that arrive
 * together share a statement. Throws IDEMPOTENCY_KEY_REUSED if the earlier call was another one.
 */
export async function lookBeforeReserving(db: Queryable, asked: AskedReservation): Promise<ReserveLook> {
  const { caller, keyScope, dwalletId, idempotency } = asked;
  const { key, dwallet, network } = await lookTogether(db, asked);
  if (key !== undefined && idempotency !== undefined) requireSameCall(key, idempotency);
  const isSeen = dwallet !== undefined && isWithinUse(caller, { ...dwallet, objectId: dwalletId });
  return {
    network: { name: keyScope.network, ...network },
    dwalletId,
    earlierId: key?.subjectId ?? undefined,
    dwallet: isSeen ? dwallet : undefined,
  };
}

/** The parts of a call that the look needs. */
export interface AskedReservation {
  readonly caller: Reaching;
  readonly keyScope: KeyScope;
  /** The id of the dWallet's object. */
  readonly dwalletId: string;
  readonly idempotency: Idempotency | undefined;
}

/** The state before a reservation. */
export interface ReserveLook {
  readonly network: {
    readonly name: string;
    /** True if the network takes no new work. */
    readonly isDraining: boolean;
    /** True if the chain knows a transaction of a lane that the database does not. */
    readonly isBehind: boolean;
  };
  /** The id of the dWallet's object. */
  readonly dwalletId: string;
  /** The request of an earlier call with the same idempotency key. */
  readonly earlierId: string | undefined;
  /** Undefined if the caller sees no such dWallet. */
  readonly dwallet: FoundDWallet | undefined;
}

/** A dWallet that the caller sees, in any state. */
export interface FoundDWallet {
  /** The id of the row. */
  readonly id: string;
  readonly projectId: string;
  readonly userReference: string | null;
  readonly networkEncryptionKeyId: string;
  readonly curve: number;
  readonly kind: string;
  readonly state: string;
  readonly hasOutput: boolean;
  readonly isFrozen: boolean;
  /** The users besides its own who may sign with it. */
  readonly activeHolders: readonly string[];
}

/**
 * Returns the dWallet. Throws NETWORK_DRAINING if the network takes no new work, DATABASE_BEHIND_CHAIN if the chain knows
 * a transaction of a lane that the database does not, because a presign that the database holds as ready may then be
 * used already, DWALLET_NOT_FOUND, UNSUPPORTED_ALGORITHM if the algorithm does not fit the curve, DWALLET_LEFT if the
 * dWallet has left or is leaving, DWALLET_NOT_ACTIVE with the state, and USER_FROZEN.
 */
export function requireSignable(
  { network, dwalletId, dwallet }: ReserveLook,
  triple: AlgorithmTriple,
): FoundDWallet {
  if (dwallet === undefined) {
    throw new ServiceError("DWALLET_NOT_FOUND", "the project has no dWallet with this id", {
      metadata: { dwalletId },
    });
  }
  if (network.isDraining) throw networkDraining(network.name);
  if (network.isBehind) {
    throw new ServiceError(
      "DATABASE_BEHIND_CHAIN",
      `the chain knows transactions on ${network.name} that this service does not`,
      { metadata: { network: network.name } },
    );
  }
  if (dwallet.curve !== triple.curveNumber) {
    throw new ServiceError(
      "UNSUPPORTED_ALGORITHM",
      `${triple.signatureAlgorithm} does not fit the dWallet's curve`,
      { metadata: { dwalletId } },
    );
  }
  if (isLeft(dwallet.state)) throw hasLeft(dwalletId, dwallet.state);
  if (dwallet.state !== "Active" || !dwallet.hasOutput) {
    throw new ServiceError("DWALLET_NOT_ACTIVE", `the dWallet is ${dwallet.state}`, {
      metadata: { dwalletId, state: dwallet.state },
    });
  }
  if (dwallet.isFrozen) throw userFrozen(dwallet.userReference ?? "");
  return dwallet;
}

interface Found {
  readonly key:
    | { readonly method: string; readonly fingerprint: Uint8Array; readonly subjectId: string | null }
    | undefined;
  readonly dwallet: FoundDWallet | undefined;
  readonly network: { readonly isDraining: boolean; readonly isBehind: boolean };
}

const lookTogether = batchStatements<AskedReservation, Found>({
  subjectOf: ({ caller }) => caller.projectId,
  async run(db, asked) {
    const scopes = asked.map(({ keyScope }) => keyScope.scope);
    const networks = asked.map(({ keyScope }) => keyScope.network);
    const keys = asked.map(({ idempotency }) => idempotency?.key ?? null);
    const dwalletIds = asked.map(({ dwalletId }) => dwalletId);
    const rows = await readRows(
      db,
      sql`SELECT asked.place::int AS place, k.method, k.fingerprint, k.subject_id AS "subjectId", d.id,
            d.project_id AS "projectId", d.user_reference AS "userReference",
            d.network_encryption_key_id AS "networkEncryptionKeyId", d.curve, d.kind, d.state,
            d.public_output IS NOT NULL AS "hasOutput", ${hasFrozenUser(sql`d`)} AS "isFrozen",
            ${activeHolders(sql`d`)} AS "activeHolders",
            EXISTS (SELECT FROM known_network n WHERE n.name = asked.network AND n.draining_since IS NOT NULL)
              AS "isDraining",
            EXISTS (SELECT FROM lane l WHERE l.network = asked.network AND l.foreign_digest IS NOT NULL) AS "isBehind"
          FROM unnest(${scopes}::text[], ${networks}::text[], ${keys}::text[], ${dwalletIds}::text[]) WITH ORDINALITY
            AS asked (scope, network, key, dwallet_id, place)
          LEFT JOIN idempotency_key k ON ${isRemembered(sql`k`, sql`asked`)}
          LEFT JOIN dwallet d ON d.network = asked.network AND d.object_id = asked.dwallet_id`,
      LOOK_ROW,
    );
    const byPlace = new Map(rows.map((row) => [row.place, row]));
    return asked.map((_, index) => foundOf(byPlace.get(index + 1)));
  },
});

/** A row of the look. The fields of a key or a dWallet are null if there is none. */
interface LookRow {
  readonly place: number;
  readonly method: string | null;
  readonly fingerprint: Uint8Array | null;
  readonly subjectId: string | null;
  readonly id: string | null;
  readonly projectId: string | null;
  readonly userReference: string | null;
  readonly networkEncryptionKeyId: string | null;
  readonly curve: number | null;
  readonly kind: string | null;
  readonly state: string | null;
  readonly hasOutput: boolean;
  readonly isFrozen: boolean;
  readonly activeHolders: readonly string[] | null;
  readonly isDraining: boolean;
  readonly isBehind: boolean;
}

const LOOK_ROW: Columns<LookRow> = {
  place: number,
  method: nullable(text),
  fingerprint: nullable(bytea),
  subjectId: nullable(text),
  id: nullable(text),
  projectId: nullable(text),
  userReference: nullable(text),
  networkEncryptionKeyId: nullable(text),
  curve: nullable(number),
  kind: nullable(text),
  state: nullable(text),
  hasOutput: boolean,
  isFrozen: boolean,
  activeHolders: nullable(listOf(text)),
  isDraining: boolean,
  isBehind: boolean,
};

function foundOf(row: LookRow | undefined): Found {
  if (row === undefined) throw new Error("the look before a reservation returned no row");
  const { method, fingerprint, subjectId, isDraining, isBehind } = row;
  const { id, projectId, userReference, networkEncryptionKeyId, curve, kind, state, hasOutput, isFrozen } =
    row;
  const activeHolders = row.activeHolders ?? [];
  const hasDWallet =
    id !== null &&
    projectId !== null &&
    networkEncryptionKeyId !== null &&
    curve !== null &&
    kind !== null &&
    state !== null;
  return {
    key: method === null || fingerprint === null ? undefined : { method, fingerprint, subjectId },
    dwallet: hasDWallet
      ? {
          id,
          projectId,
          userReference,
          networkEncryptionKeyId,
          curve,
          kind,
          state,
          hasOutput,
          isFrozen,
          activeHolders,
        }
      : undefined,
    network: { isDraining, isBehind },
  };
}
