import type { NetworkAddresses } from "../contracts/addresses.ts";
import { updateInner } from "../contracts/coordinator/coordinator-state.ts";
import { addNetworkKey, networkKeyCount, networkKeyId } from "../contracts/coordinator/network-keys.ts";
import { Treasury } from "../contracts/treasury/treasury-state.ts";
import type { ExecutionState } from "../fullnode/execution-state.ts";
import type { Ledger } from "../fullnode/ledger.ts";
import { systemCommit } from "../fullnode/system-transaction.ts";
import type { Keyring } from "../mpc/keyring.ts";

/** Changes of the chain that a network makes by itself, at a word. */
export interface ChainControls {
  /** Ends the Sui epoch now. Returns the new one's number. */
  advanceEpoch(): Promise<bigint>;
  /** Multiplies every price of the coordinator by this many percent: 200 doubles them. */
  scalePrices(percent: number): Promise<void>;
  /** Makes a further network encryption key, which is the newest from then on. Returns its id. */
  rotateNetworkKey(): Promise<string>;
  /** Takes everything out of the Treasury, or puts these amounts in, in the smallest units. */
  setTreasury(balances: { readonly ika: bigint; readonly sui: bigint }): Promise<void>;
}

/** What the controls work on. */
export interface ChainControlsOptions {
  readonly ledger: Ledger;
  readonly addresses: NetworkAddresses;
  readonly seed: Uint8Array;
  readonly keyring: Keyring;
  /** Sets the chain's clock forward by milliseconds. */
  readonly skipTime: (durationMs: number) => void;
}

/** Each change is a commit of the network's own. */
export function createChainControls(options: ChainControlsOptions): ChainControls {
  const { ledger, addresses, seed, keyring, skipTime } = options;
  let rotating: Promise<unknown> = Promise.resolve();
  return {
    rotateNetworkKey() {
      const rotated = rotating.then(rotate);
      rotating = rotated.catch(() => undefined);
      return rotated;
    },
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

  async function rotate(): Promise<string> {
    const index = networkKeyCount(ledger.objects, seed);
    const dkgPublicOutput = await (await keyring.at(index)).networkDkgPublicOutput();
    // Clients order keys by the epoch of their DKG.
    const key = { seed, addresses, index, dkgPublicOutput, epoch: BigInt(index) + 1n };
    await commit("rotate-network-key", (state) => addNetworkKey(state, key));
    return networkKeyId(seed, index);
  }

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
