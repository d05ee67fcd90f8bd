import type { CommandContext } from "../command.ts";
import { openTreasury, reviewSubject } from "./open-treasury.ts";
import { openTreasuryChain, type TargetValues, type TreasuryChain } from "./open-treasury-chain.ts";
import type { ReviewSubject } from "./review-commands.ts";

/** Opens the chain, and the Treasury if one is known. The bytes of a publication precede the Treasury. */
export async function openForReview(
  values: TargetValues,
  context: CommandContext,
): Promise<{ readonly chain: TreasuryChain; readonly subject: ReviewSubject }> {
  const chain = await openTreasuryChain(values, context);
  if (chain.treasuryId === undefined) return { chain, subject: reviewSubject(chain) };
  const opened = await openTreasury(values, context);
  return { chain: opened, subject: reviewSubject(opened) };
}
