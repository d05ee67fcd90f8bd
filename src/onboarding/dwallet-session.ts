import type { OpenSession, SessionKind } from "../chain/session.ts";
import { curveName } from "../protocol/algorithms.ts";
import { parseDWallet } from "../protocol/chain-objects.ts";
import { publicKeyFromDWalletOutput } from "../protocol/dwallet-output.ts";
import type { Sql } from "../store/database.ts";

/** Waits for the network's word on DKGs. */
export function createDWalletSession(network: string): SessionKind {
  return {
    name: "dwallet",
    requestedBy: "dkg",
    open: (database, { after, limit }) =>
      database.query<OpenSession>(
        `SELECT id AS "subjectId", object_id AS "objectId" FROM dwallet
         WHERE network = $1 AND state = 'AwaitingNetworkDKGVerification' AND id > $2::uuid ORDER BY dwallet.id LIMIT $3`,
        [network, after, limit],
      ),
    settle: (database, { subjectId }, content) => recordDWalletState(database, subjectId, content),
  };
}

/** Writes the state that the chain shows into the row; true when it is past the network's verification. */
export async function recordDWalletState(sql: Sql, id: string, content: Uint8Array): Promise<boolean> {
  const { state, curveNumber } = parseDWallet(content);
  switch (state.kind) {
    case "AwaitingKeyHolderSignature":
    case "Active": {
      const curve = curveName(curveNumber);
      if (curve === undefined) throw new Error(`the chain has a dWallet on curve ${curveNumber}`);
      const publicKey = publicKeyFromDWalletOutput(curve, state.publicOutput);
      // Active is the last state: what comes late must not lead back from it.
      await sql.query(
        `UPDATE dwallet SET state = $2, public_output = $3, public_key = $4, updated_at = now()
         WHERE id = $1 AND state <> 'Active'`,
        [id, state.kind, state.publicOutput, publicKey],
      );
      return true;
    }
    case "NetworkRejectedDKGVerification":
      await sql.query(
        `UPDATE dwallet SET state = 'NetworkRejectedDKGVerification', failure_reason = 'NETWORK_REJECTED',
           updated_at = now() WHERE id = $1 AND state = 'AwaitingNetworkDKGVerification'`,
        [id],
      );
      return true;
    default:
      return false;
  }
}
