/** The status of a network while a deposit is credited, on a real PostgreSQL. */
import type { ServiceImpl } from "@connectrpc/connect";
import { afterAll, describe, expect, it } from "vitest";
import { Admin } from "../../gen/proto/tss/v1/admin_pb.ts";
import { createNetworkCalls } from "../../src/service/operator/calls/network-calls.ts";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import { type Database, newId } from "../../src/service/platform/store/database.ts";
import { openRaceDatabase } from "../support/database/database.ts";
import { recordAddress } from "../support/database/deposit-rows.ts";
import { objectId, projectWith, TEST_ORIGIN } from "../support/database/rows.ts";
import { clientOf } from "../support/service/service-client.ts";

const database = await openRaceDatabase();
afterAll(() => database?.close());

describe.skipIf(database === undefined)("the open work of a network", () => {
  it("includes a deposit that is credited while it is counted", async () => {
    const projectId = await projectWith(database!, 0n);
    const [address, depositId] = [objectId(), newId()];
    await recordAddress(database!, { projectId, address, reference: newId() });
    await database!.query(
      `INSERT INTO deposit (id, project_id, network, address, tx_digest, coin_type, amount, state)
       VALUES ($1, $2, 'localnet', $3, $4, '0x2::sui::SUI', 100, 'waiting')`,
      [depositId, projectId, address, newId()],
    );
    await database!.query(
      `INSERT INTO deposit_coin (network, object_id, version, digest, coin_type, amount, deposit_id)
       VALUES ('localnet', $1, '1', 'd', '0x2::sui::SUI', 100, $2)`,
      [objectId(), depositId],
    );
    const credit = () =>
      database!.query(
        `UPDATE deposit SET state = 'credited', price_pico_usd = 1, value_micro_usd = 100, ledger_key = 'k',
                            credited_at = now() WHERE id = $1`,
        [depositId],
      );
    const sweeps = { destination: objectId(), minValueMicroUsd: 1n };
    const calls = createNetworkCalls({
      database: afterCoins(database!, credit),
      signals: { ...createLocalSignals(), notify() {} },
      sweepsOf: () => sweeps,
    });
    const admin = clientOf(Admin, calls as ServiceImpl<typeof Admin>, () => ({
      kind: "admin",
      network: "localnet",
      networks: ["localnet"],
      origin: TEST_ORIGIN,
    }));
    expect((await admin.getNetworkWork({})).work).toMatchObject({ idle: false, waitingDeposits: 1 });
    expect((await admin.getNetworkWork({})).work).toMatchObject({ idle: false, coinsToSweep: 1 });
  });
});

/** Runs `act` once, in another session, after the statement of a transaction that counts the coins. */
function afterCoins(database: Database, act: () => Promise<unknown>): Database {
  let isDone = false;
  return {
    ...database,
    transaction: (work) =>
      database.transaction((db) =>
        work({
          ...db,
          async query(text, values) {
            const rows = await db.query(text, values);
            if (!isDone && text.includes("deposit_coin")) {
              isDone = true;
              await act();
            }
            return rows as never;
          },
        }),
      ),
  };
}
