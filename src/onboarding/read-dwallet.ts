import { type DWalletRow, findDWallet } from "./dwallet-row.ts";
import { recordDWalletState } from "./dwallet-session.ts";
import type { OnboardingDeps } from "./onboarding-deps.ts";

/**
 * Reads the project's dWallet. If its state is not final, first updates the row from the chain, so that a caller that
 * watches the chain never gets an older state than it has seen. Throws DWALLET_NOT_FOUND, CHAIN_READS_EXHAUSTED and
 * CHAIN_UNAVAILABLE.
 */
export async function readDWallet(
  { database, readerFor, refundsPerDay }: Pick<OnboardingDeps, "database" | "readerFor" | "refundsPerDay">,
  projectId: string,
  dwalletId: string,
): Promise<DWalletRow> {
  const row = await findDWallet(database, projectId, dwalletId);
  if (FINAL_STATES.includes(row.state)) return row;
  const content = (await readerFor(projectId).getObjects([dwalletId])).get(dwalletId);
  if (content === undefined) return row;
  await recordDWalletState(database, row.id, content, refundsPerDay);
  return findDWallet(database, projectId, dwalletId);
}

const FINAL_STATES = ["Active", "Leaving", "Left", "NetworkRejectedDKGVerification"];
