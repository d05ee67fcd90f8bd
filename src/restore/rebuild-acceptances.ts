import { acceptedShares } from "../chain/events.ts";
import type { Rebuilder } from "../chain/restore/replay.ts";
import { recordLostAcceptance } from "../onboarding/accept-dwallet.ts";
import { recordDWalletState } from "../onboarding/dwallet-session.ts";
import type { ChainReader } from "../protocol/chain-reader.ts";

/** Restores accepted shares of lost transactions: the user's signature, and the chain's state and output. */
export function createAcceptanceRebuilder(network: string, reader: ChainReader): Rebuilder {
  return {
    kind: "accept",
    async rebuild(db, { events }) {
      const subjectIds: string[] = [];
      for (const { dwalletId, userOutputSignature } of acceptedShares(events)) {
        const id = await recordLostAcceptance(db, network, dwalletId, userOutputSignature);
        const content = (await reader.getObjects([dwalletId])).get(dwalletId);
        // A dWallet that was not restored has already been reported with its DKG.
        if (id === undefined || content === undefined) continue;
        await recordDWalletState(db, id, content, NO_REFUNDS);
        subjectIds.push(id);
      }
      return { subjectIds, unrecoverable: [] };
    },
  };
}

/** A rejected DKG has no accepted share. */
const NO_REFUNDS = 0;
