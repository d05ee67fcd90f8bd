import { type DWalletRow, findDWallet } from "./dwallet-row.ts";
import { recordDWalletState } from "./dwallet-session.ts";
import type { OnboardingDeps } from "./onboarding-deps.ts";

const FINAL_STATES = ["Active", "NetworkRejectedDKGVerification"];

/**
 * The project's dWallet as the chain has it: a row that is not final is brought up to date first, so that a caller
 * who watches the chain is never told less than he knows. Throws DWALLET_NOT_FOUND, CHAIN_READS_EXHAUSTED and
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
