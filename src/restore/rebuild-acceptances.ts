import { acceptedShares } from "../chain/events.ts";
import type { Rebuilder } from "../chain/restore/replay.ts";
import { recordDWalletState } from "../onboarding/dwallet-session.ts";
import { recordLostAcceptance } from "../onboarding/lost-acceptances.ts";
import type { ChainReader } from "../protocol/chain-reader.ts";

/** Puts back what lost transactions accepted: the user's signature, and the state and output that the chain has. */
export function createAcceptanceRebuilder(network: string, reader: ChainReader): Rebuilder {
  return {
    kind: "accept",
    async rebuild(db, { events }) {
      const subjectIds: string[] = [];
      for (const { dwalletId, userOutputSignature } of acceptedShares(events)) {
        const id = await recordLostAcceptance(db, network, dwalletId, userOutputSignature);
        const content = (await reader.getObjects([dwalletId])).get(dwalletId);
        // One that could not be put back was named when its DKG was looked at.
        if (id === undefined || content === undefined) continue;
        await recordDWalletState(db, id, content, NO_REFUNDS);
        subjectIds.push(id);
      }
      return { subjectIds, unrecoverable: [] };
    },
  };
}

/** Of what the network rejected nothing was accepted. */
const NO_REFUNDS = 0;
