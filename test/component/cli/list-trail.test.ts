import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Admin, ListAuditEventsResponseSchema } from "../../../gen/proto/tss/v1/admin_pb.ts";
import { listTrail } from "../../../src/cli/output/list-trail.ts";
import { SEAL_MAX_COUNT } from "../../../src/protocol/seals/audit-seal.ts";
import { type ExportRange, exportAudit } from "../../../src/service/audit/export-line.ts";
import { createAccountCalls } from "../../../src/service/operator/calls/account-calls.ts";
import type { Database } from "../../../src/service/platform/store/database.ts";
import { sealAll, writeEvents } from "../../support/database/audit-trail.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../support/database/database.ts";
import { TEST_ORIGIN } from "../../support/database/rows.ts";
import { clientOf } from "../../support/service/service-client.ts";

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
  await writeEvents(database, 3);
  // Its transaction commits later than those of the next events, so a later seal covers it.
  await database.query("SET session_replication_role = replica");
  const [late] = await database.query<{ id: bigint }>(
    `DELETE FROM audit_unsealed WHERE audit_event_id = (SELECT min(audit_event_id) FROM audit_unsealed)
     RETURNING audit_event_id AS id`,
  );
  await sealAll(database);
  await database.query("INSERT INTO audit_unsealed (audit_event_id) VALUES ($1)", [late!.id]);
  await database.query("SET session_replication_role = origin");
  for (const count of [230, 4]) {
    await writeEvents(database, count);
    await sealAll(database);
  }
  await writeEvents(database, 2);
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

const calls = () =>
  clientOf(
    Admin,
    createAccountCalls({ database, lookup: { forget() {} } }) as unknown as ServiceImpl<typeof Admin>,
    () => ({ kind: "admin", network: "localnet", networks: ["localnet"], origin: TEST_ORIGIN }),
  );

async function listed(
  range: ExportRange,
): Promise<{ readonly text: string; readonly unsealedCount: number }> {
  let unsealedCount = 0;
  const lines = listTrail(calls(), range, () => unsealedCount++);
  return { text: await textOf(lines), unsealedCount };
}

async function textOf(lines: AsyncIterable<Buffer>): Promise<string> {
  let text = "";
  for await (const line of lines) text += line.toString("utf8");
  return text;
}

it.each<[string, ExportRange]>([
  ["the whole trail", {}],
  ["the oldest seals", { toSeal: 2n }],
  ["the newest seals", { fromSeal: 2n }],
  ["one seal", { fromSeal: 2n, toSeal: 2n }],
])("a service's lists give the same export as its database: %s", async (_, range) => {
  const { text, unsealedCount } = await listed(range);
  expect(text).toBe(await textOf(exportAudit(database, range)));
  expect(unsealedCount).toBe(2);
});

it.each<[string, ExportRange]>([
  ["no such seal", { toSeal: 4n }],
  ["a range that ends before it begins", { fromSeal: 3n, toSeal: 2n }],
])("a service's lists are refused like its database: %s", async (_, range) => {
  const refusal = await textOf(exportAudit(database, range)).catch((error: Error) => error.message);
  await expect(listed(range)).rejects.toThrow(refusal);
});

it("an entry that a service does not list fails the export, and says which", async () => {
  const { listAuditSeals, listAuditEvents } = calls();
  const admin = {
    listAuditSeals,
    async listAuditEvents(...call: Parameters<typeof listAuditEvents>) {
      const page = await listAuditEvents(...call);
      return { ...page, auditEvents: page.auditEvents.filter(({ sequence }) => sequence !== 5n) };
    },
  };
  await expect(textOf(listTrail(admin, {}, () => {}))).rejects.toThrow(
    "the service does not list entry 5: the key may not see every network, or the event was deleted",
  );
});

it("a service that lists other events instead of a seal's does not fill the memory", async () => {
  const { listAuditSeals, listAuditEvents } = calls();
  const [event] = (await listAuditEvents({ pageSize: 1 })).auditEvents;
  let listedCount = 0;
  const admin = {
    listAuditSeals,
    async listAuditEvents({ pageSize = 0 }: { readonly pageSize?: number }) {
      const auditEvents = Array.from({ length: pageSize }, () => ({
        ...event!,
        sequence: -BigInt(++listedCount),
      }));
      return create(ListAuditEventsResponseSchema, {
        auditEvents,
        nextPageToken: listedCount < 4 * LIMIT ? "more" : "",
      });
    },
  };
  await expect(textOf(listTrail(admin, {}, () => {}))).rejects.toThrow("the service does not list entry");
  expect(listedCount).toBeLessThanOrEqual(LIMIT + 200);
});

/** The most entries that an export keeps for later seals. */
const LIMIT = 8 * SEAL_MAX_COUNT;
