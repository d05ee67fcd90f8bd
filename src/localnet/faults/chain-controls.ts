import { TreasuryObject } from "../../protocol/chain/treasury-custody.ts";
import type { CallPrices, Price, PricedCall } from "../call-prices.ts";
import type { NetworkAddresses, NetworkKeyOutputs } from "../contracts/addresses.ts";
import {
  type CoordinatorInner,
  coordinatorEpoch,
  updateInner,
} from "../contracts/coordinator/coordinator-state.ts";
import {
  addNetworkKey,
  addReconfiguration,
  networkKeyCount,
  networkKeyId,
  newKeyOutputs,
} from "../contracts/coordinator/network-keys.ts";
import { PROTOCOL_OF_CALL } from "../contracts/coordinator/prices.ts";
import type { ExecutionState } from "../fullnode/execution/execution-state.ts";
import { systemCommit } from "../fullnode/execution/system-transaction.ts";
import type { Ledger } from "../fullnode/objects/ledger.ts";
import type { NetworkMpc } from "../mpc/engine.ts";
import type { Keyring } from "../mpc/network-key.ts";

/** Creates the controls. Each change is a system commit. */
export function createChainControls(options: ChainControlsOptions): ChainControls {
  const { ledger, addresses, seed, keyring, firstOutputs, skipTime } = options;
  let changing: Promise<unknown> = Promise.resolve();
  return {
    rotateNetworkKey() {
      const rotated = changing.then(rotate);
      changing = rotated.catch(() => undefined);
      return rotated;
    },
    advanceEpoch() {
      const advanced = changing.then(advance);
      changing = advanced.catch(() => undefined);
      return advanced;
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
    async setPrices(prices) {
      const wanted = new Map<number, Price>(
        Object.entries(prices).map(([name, price]) => [PROTOCOL_OF_CALL[name as PricedCall], price]),
      );
      const change = (inner: CoordinatorInner) => {
        for (const { key, value } of inner.pricing_and_fee_manager.current.pricing_map.contents) {
          const price = wanted.get(key.protocol);
          if (price === undefined) continue;
          value.fee_ika = String(price.ika);
          value.gas_fee_reimbursement_sui = String(price.sui);
        }
      };
      await commit("set-prices", (state) => updateInner(state, addresses, change));
    },
    setTreasury: ({ ika, sui }) =>
      commit("set-treasury", (state) => {
        const treasury = state.find(addresses.treasuryId);
        if (treasury === undefined) throw new Error("there is no Treasury");
        state.update(treasury, TreasuryObject, (value) => {
          value.ika = ika.toString();
          value.sui = sui.toString();
        });
      }),
  };

  async function advance(): Promise<bigint> {
    skipTime(Number(ledger.epochDurationMs));
    const { epoch } = ledger.now();
    const outputs: Uint8Array[] = [];
    for (let index = 0; index < networkKeyCount(ledger.objects, seed); index++)
      outputs.push(await (await keyring.at(index)).networkReconfigurationPublicOutput(epoch));
    // The commit makes the new time part of the chain.
    await commit("advance-epoch", (state) => {
      for (const [index, publicOutput] of outputs.entries())
        addReconfiguration(state, { seed, index }, { epoch, publicOutput });
      updateInner(state, addresses, (inner) => {
        inner.current_epoch = epoch.toString();
      });
    });
    return epoch;
  }

  async function rotate(): Promise<string> {
    const index = networkKeyCount(ledger.objects, seed);
    const epoch = coordinatorEpoch(ledger.objects, addresses);
    const outputs = newKeyOutputs(await firstOutputs(await keyring.at(index), epoch), epoch);
    // Clients order keys by the epoch of their DKG.
    const key = { seed, addresses, index, ...outputs, epoch: BigInt(index) + 1n };
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

/** On-demand changes of the chain by the network itself. */
export interface ChainControls {
  /** Ends the epoch now, with a reconfiguration of every network key. Returns the new epoch. */
  advanceEpoch(): Promise<bigint>;
  /** Multiplies every price of the coordinator by this many percent: 200 doubles them. */
  scalePrices(percent: number): Promise<void>;
  /** Sets the prices of these calls, of every curve and algorithm. */
  setPrices(prices: CallPrices): Promise<void>;
  /** Adds a network encryption key, which becomes the newest. Returns its id. */
  rotateNetworkKey(): Promise<string>;
  /** Sets the Treasury's balances to these amounts, in the smallest units. */
  setTreasury(balances: { readonly ika: bigint; readonly sui: bigint }): Promise<void>;
}

export interface ChainControlsOptions {
  readonly ledger: Ledger;
  readonly addresses: NetworkAddresses;
  readonly seed: Uint8Array;
  readonly keyring: Keyring;
  /** Creates the outputs of a new key in an epoch. */
  readonly firstOutputs: (mpc: NetworkMpc, epoch: bigint) => Promise<NetworkKeyOutputs>;
  /** Advances the chain's clock by milliseconds. */
  readonly skipTime: (durationMs: number) => void;
}

function scaled(amount: string, percent: number): string {
  return ((BigInt(amount) * BigInt(percent)) / 100n).toString();
}
