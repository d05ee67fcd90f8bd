/** The transactions that the service stored for sending, as the operator reads them. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  ChainOperation_Kind as Kind,
  ChainTransaction_State as State,
} from "../../../../../gen/proto/tss/v1/admin_pb.ts";
import { type Database, newId } from "../../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { objectId } from "../../../../support/database/rows.ts";
import { type AdminReplica, adminReplica } from "../../../../support/service/admin-client.ts";
import { refusalOf } from "../../../../support/service/service-client.ts";

const [ONE, OTHER] = [objectId(), objectId()];
let database: Database;
let admin: AdminReplica["admin"];
const subjects: string[] = [];

beforeAll(async () => {
  database = await openTestDatabase();
  ({ admin } = adminReplica(database));
  // Two rows have the same millisecond, so that a page ends between them.
  await store("A", { lane: ONE, second: 1, state: "landed", kind: "presign", operations: 2 });
  await store("B", { lane: OTHER, second: 1, state: "landed", kind: "sign", operations: 1 });
  await store("C", { lane: ONE, second: 2, state: "aborted", kind: "sign", operations: 0 });
  await store("D", { lane: ONE, second: 3, state: "stored", kind: "sign", operations: 1 });
  await store("E", { lane: ONE, second: 4, state: "landed", kind: "dkg", operations: 1, network: "testnet" });
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

async function store(
  digest: string,
  row: {
    lane: string;
    second: number;
    state: string;
    kind: string;
    operations: number;
    network?: string;
  },
): Promise<void> {
  const { lane, second, state, kind, operations, network = "localnet" } = row;
  const isResolved = state !== "stored";
  const at = new Date(second * 1_000);
  await database.query(
    `INSERT INTO chain_transaction (digest, network, sender, lane, bytes, signatures, state, sends, error, gas_used_mist,
                                    created_at, resolved_at)
     VALUES ($1, $2, '0x1', $3, '\\x00', '{}', $4, 1, $5, $6, $7, $8)`,
    [
      ...[digest, network, lane, state, state === "aborted" ? "it was paused" : null],
      ...[isResolved ? -5n : null, at, isResolved ? at : null],
    ],
  );
  for (let index = 0; index < operations; index++) {
    const subjectId = newId();
    subjects.push(subjectId);
    await database.query(
      `INSERT INTO chain_operation (id, network, kind, subject_id, priority, state, tx_digest)
       VALUES ($1, $2, $3, $4, 0, 'sent', $5)`,
      [newId(), network, kind, subjectId, digest],
    );
  }
}

async function digests(filter: object, pageSize = 2): Promise<string> {
  let [all, pageToken] = ["", ""];
  do {
    const page = await admin.listChainTransactions({ ...filter, pageSize, pageToken });
    all += page.chainTransactions.map(({ txDigest }) => txDigest).join("");
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return all;
}

describe("the chain's transactions", () => {
  it("are each listed once across all pages, the newest first, without those of other networks", async () => {
    for (const pageSize of [1, 2, 3, 200]) expect(await digests({}, pageSize)).toBe("DCBA");
  });

  it.each([
    ["a lane", { operatorCapId: ONE }, "DCA"],
    ["a state", { state: State.landed }, "BA"],
    ["a kind of operation", { kind: Kind.sign }, "DB"],
    ["all of them", { operatorCapId: ONE, state: State.landed, kind: Kind.presign }, "A"],
    ["a lane that there is not", { operatorCapId: objectId() }, ""],
  ])("are filtered by %s", async (_what, filter, expected) => {
    expect(await digests(filter, 1)).toBe(expected);
  });

  it("show their operations, their cost and why they failed", async () => {
    const [stored, aborted, , presigns] = (await admin.listChainTransactions({})).chainTransactions;
    expect(stored).toMatchObject({ state: State.stored, operatorCapId: ONE, sendCount: 2 });
    expect(stored).not.toMatchObject({ gasUsedMist: expect.anything() });
    expect(stored?.resolveTime).toBeUndefined();
    expect(aborted).toMatchObject({ errorMessage: "it was paused", gasUsedMist: -5n, operations: [] });
    expect(presigns?.operations.map(({ kind, subjectId }) => ({ kind, subjectId }))).toEqual(
      subjects.slice(0, 2).map((subjectId) => ({ kind: Kind.presign, subjectId })),
    );
  });

  it("are refused for an unknown state, kind or lane, and for a page token of another filter", async () => {
    expect(await refusalOf(admin.listChainTransactions({ operatorCapId: "0x1" }))).toBe("VALIDATION");
    expect(await refusalOf(admin.listChainTransactions({ state: 0 }))).toBe("VALIDATION");
    expect(await refusalOf(admin.listChainTransactions({ kind: 99 as Kind }))).toBe("VALIDATION");
    const { nextPageToken: pageToken } = await admin.listChainTransactions({ pageSize: 1 });
    expect(await refusalOf(admin.listChainTransactions({ pageToken, kind: Kind.sign }))).toBe("VALIDATION");
  });
});
