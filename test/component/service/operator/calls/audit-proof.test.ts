import { createHash } from "node:crypto";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { Admin } from "../../../../../gen/proto/tss/v1/admin_pb.ts";
import type { AuditSeal } from "../../../../../gen/proto/tss/v1/audit_pb.ts";
import { leafHash } from "../../../../../src/protocol/seals/audit-entry.ts";
import { sealHash } from "../../../../../src/protocol/seals/audit-seal.ts";
import { insertProject } from "../../../../../src/service/access/projects.ts";
import type { Database } from "../../../../../src/service/platform/store/database.ts";
import { sealAll, writeEvents } from "../../../../support/database/audit-trail.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { TEST_OPERATOR, TEST_ORIGIN } from "../../../../support/database/rows.ts";
import { wholeAdminService } from "../../../../support/service/admin-service.ts";
import { clientOf, refusalOf } from "../../../../support/service/service-client.ts";

const SIZES = [7, 1, 4];
let database: Database;
let admin: Client<typeof Admin>;

beforeAll(async () => {
  database = await openTestDatabase();
  const service = wholeAdminService({
    accounts: { database, lookup: { forget() {} } },
    adminKeys: {} as never,
    chain: {} as never,
    presigns: {} as never,
  });
  admin = clientOf(Admin, service, () => TEST_OPERATOR);
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  for (const size of SIZES) {
    await writeEvents(database, size);
    await sealAll(database);
  }
});

const digest = (...parts: Uint8Array[]) => createHash("sha256").update(Buffer.concat(parts)).digest();

/** RFC 6962's inclusion proof, verified as RFC 9162 (section 2.1.3.2) describes. */
function rootFrom(leaf: Uint8Array, index: number, leafCount: number, path: readonly Uint8Array[]) {
  let [hash, fn, sn] = [Buffer.from(leaf), index, leafCount - 1];
  for (const sibling of path) {
    if (fn % 2 === 1 || fn === sn) {
      hash = digest(Buffer.of(1), sibling, hash);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn >> 1, sn >> 1];
    } else hash = digest(Buffer.of(1), hash, sibling);
    [fn, sn] = [fn >> 1, sn >> 1];
  }
  return sn === 0 ? hash : undefined;
}

const hashOf = ({ createTime, ...seal }: AuditSeal) =>
  sealHash({ ...seal, createdAt: timestampDate(createTime!) });

it("every event has a proof that leads to its seal's hash", async () => {
  const { auditEvents } = await admin.listAuditEvents({ pageSize: 200 });
  for (const listed of auditEvents) {
    const {
      auditEvent: event,
      auditSeal: seal,
      auditPath,
    } = await admin.getAuditProof({ auditEventId: listed.auditEventId });
    expect(event).toEqual(listed);
    const { createTime, sequence, projectId, requestId, address, ledgerEntryId, ...shown } = event!;
    const leaf = leafHash({
      ...shown,
      sequence: sequence!,
      createdAt: timestampDate(createTime!),
      projectId: projectId || null,
      requestId: requestId || null,
      address: address || null,
      ledgerEntryId: ledgerEntryId || null,
      amountMicroUsd: shown.amountMicroUsd ?? null,
    });
    const [index, leafCount] = [
      sequence! - seal!.firstSequence,
      seal!.lastSequence - seal!.firstSequence + 1n,
    ];
    expect(rootFrom(leaf, Number(index), Number(leafCount), auditPath)).toEqual(
      Buffer.from(seal!.merkleRoot),
    );
    expect(hashOf(seal!)).toEqual(seal!.sealHash);
  }
});

it("seals are listed in pages, the newest first, each with the hash of the one before", async () => {
  const seals: AuditSeal[] = [];
  let pageToken = "";
  do {
    const page = await admin.listAuditSeals({ pageSize: 2, pageToken });
    seals.push(...page.auditSeals);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(seals.map(({ number }) => number)).toEqual(seals.map((_, index) => BigInt(seals.length - index)));
  for (const [index, seal] of seals.entries()) {
    expect(Buffer.from(seal.previousSealHash)).toEqual(
      Buffer.from(seals[index + 1]?.sealHash ?? new Uint8Array(32)),
    );
  }
  const { nextPageToken: foreign } = await admin.listAuditEvents({ pageSize: 1 });
  expect(await refusalOf(admin.listAuditSeals({ pageToken: foreign }))).toBe("VALIDATION");
});

it("an event that is not sealed has no sequence and no proof yet", async () => {
  await writeEvents(database, 1);
  const { auditEvents } = await admin.listAuditEvents({ pageSize: 1 });
  const { sequence, auditEventId } = auditEvents[0]!;
  expect(sequence).toBeUndefined();
  expect(await refusalOf(admin.getAuditProof({ auditEventId }))).toBe("WRONG_STATE");
  await sealAll(database);
  expect((await admin.getAuditProof({ auditEventId })).auditPath).toEqual([]);
});

it("an event that does not exist, or of another network's project, is not found", async () => {
  await insertProject(database, TEST_ORIGIN, { name: "far", network: "testnet" });
  await sealAll(database);
  const [row] = await database.query<{ id: bigint }>("SELECT max(id) AS id FROM audit_event", []);
  for (const auditEventId of [row!.id, row!.id + 1n]) {
    expect(await refusalOf(admin.getAuditProof({ auditEventId }))).toBe("AUDIT_EVENT_NOT_FOUND");
  }
  expect(await refusalOf(admin.getAuditProof({ auditEventId: 0n }))).toBe("VALIDATION");
});
