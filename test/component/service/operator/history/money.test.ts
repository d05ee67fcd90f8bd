import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LedgerEntry_Kind } from "../../../../../gen/proto/tss/v1/billing_pb.ts";
import { Operations, SweepCount_State } from "../../../../../gen/proto/tss/v1/operations_pb.ts";
import { storeVerification } from "../../../../../src/service/ledger/last-verification.ts";
import { verifyLedger } from "../../../../../src/service/ledger/verify-ledger.ts";
import { checkReadiness } from "../../../../../src/service/operator/health/readiness.ts";
import { createOperationsService } from "../../../../../src/service/operator/history/operations-service.ts";
import { createLocalSignals } from "../../../../../src/service/platform/coordination/local-coordination.ts";
import { type Database, newId } from "../../../../../src/service/platform/store/database.ts";
import { signSteps } from "../../../../support/crypto/sign-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { recordAddress } from "../../../../support/database/deposit-rows.ts";
import {
  dwalletOf,
  objectId,
  projectWith,
  readyPresigns,
  TEST_OPERATOR,
} from "../../../../support/database/rows.ts";
import { clientOf } from "../../../../support/service/service-client.ts";

const NETWORK = "localnet";
let database: Database;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

/** An operator's client of the service. Its figures are not cached between calls. */
function operator() {
  const network = { senderAddress: objectId(), laneIds: [] };
  const service = createOperationsService({
    database,
    network,
    networks: ["localnet"],
    processType: "all",
    readiness: checkReadiness([]),
  });
  return clientOf(Operations, service, () => TEST_OPERATOR);
}

describe("the money", () => {
  it("is the sum of all projects of the network, with the last day's bookings", async () => {
    const before = await operator().getMoney({});
    await projectWith(database, 500n);
    const projectId = await projectWith(database, 1_000n);
    const dwallet = await dwalletOf(database, projectId);
    await readyPresigns(database, dwallet.bucket, 3);
    const signing = signSteps(database, createLocalSignals());
    for (let index = 0; index < 2; index++)
      await signing.submit(projectId, await signing.reserve(projectId, dwallet));
    await signing.reserve(projectId, dwallet);
    const after = await operator().getMoney({});
    expect(after.projectCount - before.projectCount).toBe(2n);
    expect(after.balanceMicroUsd - before.balanceMicroUsd).toBe(500n + 1_000n - 20n);
    expect(after.heldMicroUsd - before.heldMicroUsd).toBe(10n);
    const signs = ({ lastDay }: typeof after) => lastDay.find(({ kind }) => kind === LedgerEntry_Kind.sign);
    expect(signs(after)!.count - (signs(before)?.count ?? 0n)).toBe(2n);
    expect(signs(after)!.amountMicroUsd - (signs(before)?.amountMicroUsd ?? 0n)).toBe(-20n);
  });

  it("counts waiting deposits and unfinished sweeps with their ages", async () => {
    const projectId = await projectWith(database, 0n);
    const address = objectId();
    await recordAddress(database, { projectId, address });
    await database.query(
      `INSERT INTO deposit (id, project_id, network, address, tx_digest, coin_type, amount, created_at)
       VALUES ($1, $2, $3, $4, 'd', '0x2::sui::SUI', 1, '2026-01-02T03:04:05Z')`,
      [newId(), projectId, NETWORK, address],
    );
    const states = [
      ["queued", null, null],
      ["failed", null, "CHAIN_REJECTED"],
      ["landed", "digest", null],
    ];
    for (const [state, digest, reason] of states)
      await database.query(
        `INSERT INTO sweep (id, network, address, coin_type, destination, amount, coin_count, state, tx_digest,
                            failure_reason, failure_message)
         VALUES ($1, $2, $3, '0x2::sui::SUI', $3, 1, 1, $4, $5, $6, $6)`,
        [newId(), NETWORK, address, state, digest, reason],
      );
    const { waitingDepositCount, oldestWaitingDepositTime, sweeps } = await operator().getMoney({});
    expect(waitingDepositCount).toBe(1n);
    expect(timestampDate(oldestWaitingDepositTime!)).toEqual(new Date("2026-01-02T03:04:05Z"));
    expect(sweeps.map(({ state, count }) => [state, count])).toEqual([
      [SweepCount_State.failed, 1n],
      [SweepCount_State.queued, 1n],
    ]);
  });

  it("has the last verification of the ledger, with its differences", async () => {
    expect((await operator().getMoney({})).ledgerVerification).toBeUndefined();
    const projectId = await projectWith(database, 100n);
    await database.query("UPDATE project SET balance_micro_usd = 70 WHERE id = $1", [projectId]);
    await storeVerification(database, await verifyLedger(database));
    const { ledgerVerification: found } = await operator().getMoney({});
    expect(found).toMatchObject({
      differenceCount: 1,
      differences: [{ kind: "balance", subject: projectId, expected: 100n, actual: 70n }],
    });
    await database.query("UPDATE project SET balance_micro_usd = 100 WHERE id = $1", [projectId]);
    await storeVerification(database, await verifyLedger(database));
    expect((await operator().getMoney({})).ledgerVerification).toMatchObject({
      differenceCount: 0,
      differences: [],
    });
  });
});
