import { Accumulator, accumulatorParts, addressBalance, ROOT_ID } from "./address-balance.ts";
import type { Commit } from "./commit.ts";
import type { FundsChange } from "./execution-state.ts";
import type { Ledger, LedgerTime } from "./ledger.ts";
import { systemCommit } from "./system-transaction.ts";

/**
 * Adds a settlement to a commit that changes address balances, as at the end of a consensus commit on Sui: a system
 * transaction in the same checkpoint, which alone writes the accumulators and deletes an empty one. Sui settles in
 * several transactions; here one does. Source: `sui-core/src/accumulators/design_docs/write_path.md`.
 */
export function withSettlement(
  ledger: Pick<Ledger, "objects">,
  time: LedgerTime,
  commit: Commit,
  funds: readonly FundsChange[],
): Commit {
  if (funds.length === 0) return commit;
  const name = `settlement/${commit.digest}`;
  const { digest, executed, written, deleted } = systemCommit(ledger, time, name, [ROOT_ID], (state) => {
    for (const { address, coinType, amount } of funds) {
      const balance = addressBalance(ledger.objects.get, address, coinType) + amount;
      if (balance < 0n) throw new Error(`the address balance of ${address} would be ${balance}`);
      const parts = accumulatorParts(address, coinType, balance);
      const accumulator = state.find(parts.id);
      if (accumulator === undefined) state.create({ ...parts, owner: { kind: "object", parentId: ROOT_ID } });
      else if (balance === 0n) state.remove(accumulator);
      else
        state.update(accumulator, Accumulator, (value) => {
          value.value = String(balance);
        });
    }
  });
  return {
    ...commit,
    written: [...commit.written, ...written],
    deleted: [...commit.deleted, ...deleted],
    settlement: { digest, executed },
  };
}
