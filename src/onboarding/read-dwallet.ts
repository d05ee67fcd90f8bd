import type { ChainReader } from "../protocol/chain-reader.ts";
import type { Database } from "../store/database.ts";
import { type DWalletRow, findDWallet } from "./dwallet-row.ts";
import { recordDWalletState } from "./dwallet-session.ts";

const FINAL_STATES = ["Active", "NetworkRejectedDKGVerification"];

/**
 * The project's dWallet as the chain has it: a row that is not final is brought up to date first, so that a caller
 * who watches the chain is never told less than he knows. Throws DWALLET_NOT_FOUND and CHAIN_UNAVAILABLE.
 */
export async function readDWallet(
  { database, reader }: { readonly database: Database; readonly reader: ChainReader },
  projectId: string,
  dwalletId: string,
): Promise<DWalletRow> {
  const row = await findDWallet(database, projectId, dwalletId);
  if (FINAL_STATES.includes(row.state)) return row;
  const content = (await reader.getObjects([dwalletId])).get(dwalletId);
  if (content === undefined) return row;
  await recordDWalletState(database, row.id, content);
  return findDWallet(database, projectId, dwalletId);
}
