import type { NetworkAddresses } from "../contracts/addresses.ts";
import { updateInner } from "../contracts/coordinator/coordinator-state.ts";
import { Treasury } from "../contracts/treasury/treasury-state.ts";
import type { ExecutionState } from "../fullnode/execution-state.ts";
import type { Ledger } from "../fullnode/ledger.ts";
import { systemCommit } from "../fullnode/system-transaction.ts";

/** Changes of the chain that a network makes by itself, at a word. */
export interface ChainControls {
  /** Ends the Sui epoch now. Returns the new one's number. */
  advanceEpoch(): Promise<bigint>;
  /** Multiplies every price of the coordinator by this many percent: 200 doubles them. */
  scalePrices(percent: number): Promise<void>;
  /** Takes everything out of the Treasury, or puts these amounts in, in the smallest units. */
  setTreasury(balances: { readonly ika: bigint; readonly sui: bigint }): Promise<void>;
}

/** `skipTime` sets the chain's clock forward by milliseconds. */
export function createChainControls(
  ledger: Ledger,
  addresses: NetworkAddresses,
  skipTime: (durationMs: number) => void,
): ChainControls {
  return {
    async advanceEpoch() {
      skipTime(Number(ledger.epochDurationMs));
      // The commit makes the new time part of the chain.
      await commit("advance-epoch", (state) =>
        updateInner(state, addresses, (inner) => {
          inner.current_epoch = ledger.now().epoch.toString();
        }),
      );
      return ledger.now().epoch;
    },
    scalePrices: (percent) =>
      commit("scale-prices", (state) =>
        updateInner(state, addresses, ({ pricing_and_fee_manager: { current } }) => {
          for (const { value } of current.pricing_map.contents) {
            value.fee_ika = scaled(value.fee_ika, percent);
            value.gas_fee_reimbursement_sui = scaled(value.gas_fee_reimbursement_sui, percent);
          }
        }),
      ),
    setTreasury: ({ ika, sui }) =>
      commit("set-treasury", (state) => {
        const treasury = state.find(addresses.treasuryId);
        if (treasury === undefined) throw new Error("there is no Treasury");
        state.update(treasury, Treasury, (value) => {
          value.ika = ika.toString();
          value.sui = sui.toString();
        });
      }),
  };

  function commit(name: string, work: (state: ExecutionState) => void): Promise<void> {
    const inputs = [addresses.coordinatorId, addresses.treasuryId];
    return ledger.exclusive((time) =>
      systemCommit(ledger, time, `${name}/${ledger.chainId}/${time.checkpoint}`, inputs, work),
    );
  }
}

function scaled(amount: string, percent: number): string {
  return ((BigInt(amount) * BigInt(percent)) / 100n).toString();
}
