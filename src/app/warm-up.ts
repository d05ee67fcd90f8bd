import { findDWallet, findDWalletOfSession } from "../onboarding/dwallet-row.ts";
import { findKeyByObject, findKeyOfSigner } from "../onboarding/encryption-keys.ts";
import { listSigns } from "../signing/list-signs.ts";
import type { Database } from "../store/database.ts";

/**
 * Runs each of the requests' Prisma queries once, for rows that do not exist. The first query loads Prisma's query
 * compiler, and each one compiles its plan. Both block the event loop, so they run before the first call.
 */
export async function warmUp(database: Database): Promise<void> {
  const projectId = "00000000-0000-0000-0000-000000000000";
  const nothing = "";
  await findKeyOfSigner(database, { projectId, curve: 0, signerAddress: nothing });
  await findKeyByObject(database, { projectId, objectId: nothing });
  await findDWalletOfSession(database, {
    network: nothing,
    senderAddress: nothing,
    sessionIdentifier: new Uint8Array(32),
  });
  // These two throw for a missing dWallet.
  await findDWallet(database, projectId, nothing).catch(() => undefined);
  const signs = { dwalletId: nothing, status: undefined, pageSize: 1, pageToken: "" };
  await listSigns(database, projectId, signs).catch(() => undefined);
}
