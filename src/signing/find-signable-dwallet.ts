import sql from "sql-template-tag";
import { networkDraining } from "../chain/network-drain.ts";
import { ServiceError } from "../errors/service-error.ts";
import { hasLeft, isLeft } from "../onboarding/custody/custody-state.ts";
import type { AlgorithmTriple } from "../protocol/algorithms.ts";
import { boolean, number, text } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { readRows } from "../store/statements.ts";

/**
 * Finds the project's dWallet by its object id. Throws DWALLET_NOT_FOUND, UNSUPPORTED_ALGORITHM if the algorithm does
 * not fit the curve, DWALLET_LEFT if the dWallet has left or is leaving, DWALLET_NOT_ACTIVE with the state, and
 * NETWORK_DRAINING if the network takes no new work, and DATABASE_BEHIND_CHAIN if the chain knows a transaction of a
 * lane that the database does not: a presign that the database holds as ready may then be used already.
 */
export async function findSignableDWallet(
  db: Queryable,
  { projectId, network, dwalletId }: { projectId: string; network: string; dwalletId: string },
  triple: AlgorithmTriple,
): Promise<SignableDWallet> {
  const [dwallet] = await readRows(
    db,
    sql`SELECT id, network_encryption_key_id AS "networkEncryptionKeyId", curve, state,
            public_output IS NOT NULL AS "hasOutput",
            EXISTS (SELECT FROM known_network k WHERE k.name = ${network} AND k.draining_since IS NOT NULL)
              AS "isDraining",
            EXISTS (SELECT FROM lane l WHERE l.network = ${network} AND l.foreign_digest IS NOT NULL) AS "isBehind"
     FROM dwallet WHERE project_id = ${projectId} AND network = ${network} AND object_id = ${dwalletId}`,
    {
      id: text,
      networkEncryptionKeyId: text,
      curve: number,
      state: text,
      hasOutput: boolean,
      isDraining: boolean,
      isBehind: boolean,
    },
  );
  if (dwallet === undefined) {
    throw new ServiceError("DWALLET_NOT_FOUND", "the project has no dWallet with this id", {
      metadata: { dwalletId },
    });
  }
  if (dwallet.isDraining) throw networkDraining(network);
  if (dwallet.isBehind) {
    throw new ServiceError(
      "DATABASE_BEHIND_CHAIN",
      `the chain knows transactions on ${network} that this service does not`,
      { metadata: { network } },
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
  return dwallet;
}

export interface SignableDWallet {
  /** The id of the row. */
  readonly id: string;
  readonly networkEncryptionKeyId: string;
}
