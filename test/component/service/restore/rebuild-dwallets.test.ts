import { CoordinatorInnerModule, SessionsManagerModule } from "@ika.xyz/sdk";
import { Transaction } from "@mysten/sui/transactions";
import { toBase58 } from "@mysten/sui/utils";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sessionIdentifierPreimage } from "../../../../src/protocol/chain/session-identifier.ts";
import type { PastTransaction } from "../../../../src/service/chain/restore/lost-transactions.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { createDWalletRebuilder } from "../../../../src/service/restore/rebuild-onboarding.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { flatPrices } from "../../../support/database/prices.ts";
import { dwalletOf, moneyOf, objectId, projectWith } from "../../../support/database/rows.ts";

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

/** The event of a DKG's request, as Ika's package emits it. */
function dkgRequested(dwalletId: string, preimage: Uint8Array = new Uint8Array(32)) {
  const bcs = SessionsManagerModule.DWalletSessionEvent(CoordinatorInnerModule.DWalletDKGRequestEvent)
    .serialize({
      epoch: "9",
      session_object_id: objectId(),
      session_type: { User: true },
      session_sequence_number: "7",
      session_identifier_preimage: [...preimage],
      event_data: {
        dwallet_id: dwalletId,
        centralized_public_key_share_and_proof: [1],
        user_public_output: [4],
        dwallet_cap_id: objectId(),
        dwallet_network_encryption_key_id: objectId(),
        curve: 2,
        user_secret_key_share: { Public: { public_user_secret_key_share: [5] } },
        sign_during_dkg_request: null,
      },
    } as never)
    .toBytes();
  const ika = objectId();
  const type = `${ika}::sessions_manager::DWalletSessionEvent<${ika}::coordinator_inner::DWalletDKGRequestEvent>`;
  return { type, bcs };
}

it("a lost DKG whose dWallet its owner has adopted meanwhile keeps the adopted row, and is not reported", async () => {
  const { rowId, objectId: adopted } = await dwalletOf(database, await projectWith(database, 0n));
  await database.query(
    `UPDATE dwallet SET adopted_at = now(), session_digest = '\\x00', cap_id = '0x1', encrypted_user_secret_key_share_id = '0x2' WHERE id = $1`,
    [rowId],
  );
  const unknown = objectId();
  expect(await rebuilt([dkgRequested(adopted), dkgRequested(unknown)])).toMatchObject({
    subjectIds: [],
    unrecoverable: [{ what: "dWallet", id: unknown }],
  });
});

it("a lost DKG whose session its owner has requested again is left to that request, and is not reported", async () => {
  const projectId = await projectWith(database, 0n);
  const { rowId } = await dwalletOf(database, projectId, { state: "Submitting" });
  const [again] = await database.query<{ sender: string; session: Uint8Array }>(
    "SELECT sender_address AS sender, session_identifier AS session FROM dwallet WHERE id = $1",
    [rowId],
  );
  const { sender, session } = again!;
  const events = [dkgRequested(objectId(), sessionIdentifierPreimage(session, sender))];
  expect(await rebuilt(events, { sender, session })).toEqual({ subjectIds: [], unrecoverable: [] });
  expect(await moneyOf(database, projectId)).toEqual({ balance: 0n, held: 0n, differences: [] });
});

/** Rebuilds what a lost transaction did, which passed one session to the chain. */
async function rebuilt(
  events: readonly ReturnType<typeof dkgRequested>[],
  { sender = objectId(), session = new Uint8Array(32) }: { sender?: string; session?: Uint8Array } = {},
) {
  const sent = new Transaction();
  sent.setSender(sender);
  sent.setGasPrice(1);
  sent.setGasBudget(1);
  sent.setGasPayment([{ objectId: objectId(), version: "1", digest: toBase58(new Uint8Array(32)) }]);
  sent.moveCall({ target: "0x1::vector::length", arguments: [sent.pure.vector("u8", session)] });
  const bytes = await sent.build();
  const landed = { digest: "digest", version: 1n, events };
  return await createDWalletRebuilder("localnet", flatPrices(0n)).rebuild(database, landed, {
    bytes,
    sender,
  } as PastTransaction);
}
