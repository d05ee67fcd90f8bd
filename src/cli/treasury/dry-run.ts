import { SimulationError } from "@mysten/sui/client";
import { toFailure } from "../../chain/outcome.ts";
import { explainFailure } from "./explain-abort.ts";
import type { TreasuryChain } from "./open-treasury-chain.ts";
import { showAmount } from "./parameter-kinds.ts";

/**
 * Simulates a transaction and describes the cost of its gas. Throws with an explanation if the chain would refuse it.
 */
export async function dryRun(
  { client }: Pick<TreasuryChain, "client">,
  transaction: Uint8Array,
): Promise<string> {
  let why: string;
  try {
    const result = await client.core.simulateTransaction({ transaction, include: { effects: true } });
    const { status, effects } = result.Transaction ?? result.FailedTransaction;
    if (status.success && effects !== undefined) {
      const { computationCost, storageCost, storageRebate } = effects.gasUsed;
      const cost = BigInt(computationCost) + BigInt(storageCost) - BigInt(storageRebate);
      return cost < 0n
        ? `The gas refund exceeds the cost by ${showAmount(-cost, "SUI")}.`
        : `The gas costs about ${showAmount(cost, "SUI")}.`;
    }
    why = status.success ? "the fullnode returned no effects" : explainFailure(toFailure(status.error));
  } catch (error) {
    if (!(error instanceof SimulationError)) throw error;
    why = error.executionError ? explainFailure(toFailure(error.executionError)) : error.message;
  }
  throw new Error(`the dry run fails, and nothing was sent: ${why}`);
}
