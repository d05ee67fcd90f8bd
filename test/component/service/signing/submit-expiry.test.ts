import { afterAll, beforeAll, expect, it } from "vitest";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { submit } from "../../../../src/service/signing/submit.ts";
import { checkHalfInline } from "../../../support/crypto/inline-verifier.ts";
import { signSteps } from "../../../support/crypto/sign-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import {
  dwalletOf,
  layoutOfSignMessage,
  moneyOf,
  projectWith,
  readyPresigns,
  TEST_ORIGIN,
} from "../../../support/database/rows.ts";

const CREDIT = 1_000n;
let database: Database;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

it.each([
  ["whose reservation expires", "UPDATE sign_request SET expires_at = now() WHERE id = $1", "WRONG_STATE"],
  [
    "whose dWallet leaves the Treasury",
    "UPDATE dwallet SET state = 'Left' WHERE id = (SELECT dwallet_id FROM sign_request WHERE id = $1)",
    "DWALLET_LEFT",
  ],
])("a submit %s while it runs is not charged and queues nothing", async (_, change, reason) => {
  const signals = createLocalSignals();
  const projectId = await projectWith(database, CREDIT);
  const dwallet = await dwalletOf(database, projectId);
  await readyPresigns(database, dwallet.bucket, 1);
  const id = await signSteps(database, signals).reserve(projectId, dwallet);
  const changing: Database = {
    ...database,
    async query<Row>(statement: string, parameters?: readonly unknown[]): Promise<Row[]> {
      if (statement.includes("posting_capture")) await database.query(change, [id]);
      return database.query<Row>(statement, parameters);
    },
  };
  const caller = { projectId, network: "localnet", origin: TEST_ORIGIN };
  const half = { signRequestId: id, userSignMessage: layoutOfSignMessage() };
  await expect(
    submit({ database: changing, signals, checkHalf: checkHalfInline }, caller, half),
  ).rejects.toMatchObject({ reason });
  expect(await moneyOf(database, projectId)).toMatchObject({ balance: CREDIT, held: 10n, differences: [] });
  expect(await database.query("SELECT 1 FROM chain_operation WHERE subject_id = $1", [id])).toEqual([]);
});
