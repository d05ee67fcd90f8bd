import { acceptedShares } from "../chain/events.ts";
import type { Rebuilder } from "../chain/replay.ts";
import type { ChainReader } from "../protocol/chain-reader.ts";
import { recordDWalletState } from "./dwallet-session.ts";

/** Of what the network rejected nothing was accepted. */
const NO_REFUNDS = 0;

/** Puts back what lost transactions accepted: the user's signature, and the state and output that the chain has. */
export function createAcceptanceRebuilder(network: string, reader: ChainReader): Rebuilder {
  return {
    kind: "accept",
    async rebuild(sql, { events }) {
      const subjectIds: string[] = [];
      for (const { dwalletId, userOutputSignature } of acceptedShares(events)) {
        const [row] = await sql.query<{ id: string }>(
          "UPDATE dwallet SET user_output_signature = $3 WHERE network = $1 AND object_id = $2 RETURNING id",
          [network, dwalletId, userOutputSignature],
        );
        const content = (await reader.getObjects([dwalletId])).get(dwalletId);
        // One that could not be put back was named when its DKG was looked at.
        if (row === undefined || content === undefined) continue;
        await recordDWalletState(sql, row.id, content, NO_REFUNDS);
        subjectIds.push(row.id);
      }
      return { subjectIds, unrecoverable: [] };
    },
  };
}
