import { createHash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SEAL_MAX_COUNT } from "../../../../src/protocol/seals/audit-seal.ts";
import { writeAuditEvent } from "../../../../src/service/audit/audit-event.ts";
import { decodeLine, encodeLine } from "../../../../src/service/audit/export-line.ts";
import {
  countUnsealed,
  createAuditSealer,
  createSealKey,
  readUnsealedAgeMs,
  sealEvents,
} from "../../../../src/service/audit/seal-events.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { Secret } from "../../../../src/service/platform/telemetry/secret.ts";
import { exported, sealAll, verified, writeEvents } from "../../../support/database/audit-trail.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { silentLog } from "../../../support/silent-log.ts";

const SECRET = "42".repeat(32);
let database: Database;
beforeEach(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterEach(() => database.close());

const sealed = () =>
  database.query<{ sequence: bigint; subject: string }>(
    `SELECT l.sequence, e.subject FROM audit_leaf l JOIN audit_event e ON e.id = l.audit_event_id ORDER BY l.sequence`,
    [],
  );
const write = (subject: string) => writeAuditEvent(database, { actor: "admin" }, { action: "test", subject });

describe("sealing", () => {
  it("takes at most 4096 events at a time, in the order in which they were written", async () => {
    await writeEvents(database, SEAL_MAX_COUNT + 10);
    expect(await sealAll(database)).toEqual([SEAL_MAX_COUNT, 10]);
    const rows = await sealed();
    expect(rows.map(({ sequence }) => sequence)).toEqual(rows.map((_, index) => BigInt(index + 1)));
    expect(rows.at(-1)?.subject).toBe(`Zoë's "${SEAL_MAX_COUNT + 10}"`);
    expect(await verified(await exported(database))).toMatchObject({ faults: [], sealCount: 2n });
  }, 30_000);

  it("creates no seal without events", async () => {
    expect(await sealEvents(database, undefined)).toBe(0);
    expect(await verified(await exported(database))).toMatchObject({ faults: [], sealCount: 0n });
  });

  it("skips the numbers of events that were rolled back", async () => {
    await write("one");
    const rollback = database.transaction(async (db) => {
      await writeAuditEvent(db, { actor: "admin" }, { action: "test", subject: "never" });
      throw new Error("rolled back");
    });
    await expect(rollback).rejects.toThrow("rolled back");
    await write("two");
    await sealAll(database);
    expect(await sealed()).toEqual([
      { sequence: 1n, subject: "one" },
      { sequence: 2n, subject: "two" },
    ]);
  });

  it("runs in the loop, and brings the count and the age of unsealed events to zero", async () => {
    expect([await countUnsealed(database), await readUnsealedAgeMs(database)]).toEqual([0, 0]);
    await database.query(
      `INSERT INTO audit_event (actor, action, subject, created_at)
       VALUES ('admin', 'test', 'old', now() - interval '1 hour'), ('admin', 'test', 'new', now())`,
    );
    expect(await countUnsealed(database)).toBe(2);
    expect(await readUnsealedAgeMs(database)).toBeGreaterThanOrEqual(3_600_000);
    const sealer = createAuditSealer({ clock: systemClock, database, key: undefined, log: silentLog });
    sealer.start();
    // A stop lets the first pass finish.
    await sealer.stop();
    expect([await countUnsealed(database), await readUnsealedAgeMs(database)]).toEqual([0, 0]);
  });

  it("signs with the configured key", async () => {
    await write("unsigned");
    await sealAll(database);
    await write("signed");
    await sealAll(database, createSealKey(new Secret(SECRET)));
    const publicKey = ed25519.getPublicKey(Buffer.from(SECRET, "hex"));
    const lines = await exported(database);
    const [unsigned, signed] = lines.map((line) => decodeLine(line)).filter((line) => line?.kind === "seal");
    expect(unsigned?.seal.signature).toBeNull();
    const { seal } = signed!;
    const message = Buffer.concat([Buffer.from("tss.audit.signature.v1"), seal.sealHash]);
    expect(ed25519.verify(seal.signature!, message, publicKey)).toBe(true);

    expect(await verified(lines)).toMatchObject({ faults: [], isSigned: false });
    expect(await verified(lines, { publicKeys: [publicKey] })).toMatchObject({ faults: [], isSigned: true });
    const other = ed25519.getPublicKey(new Uint8Array(32));
    expect((await verified(lines, { publicKeys: [other] })).faults).toMatchObject([{ kind: "signature" }]);
    expect((await verified(lines, { publicKeys: [other, publicKey] })).faults).toEqual([]);
    // Once signing has ended, no signature covers the newest seal.
    await write("unsigned again");
    await sealAll(database);
    const later = await exported(database);
    expect((await verified(later, { publicKeys: [publicKey] })).faults).toMatchObject([
      { kind: "signature" },
    ]);
  });
});

it("detects a seal that another key signed in the name of a trusted key", async () => {
  await write("signed");
  await sealAll(database, createSealKey(new Secret(SECRET)));
  const publicKey = ed25519.getPublicKey(Buffer.from(SECRET, "hex"));
  const lines = await exported(database);
  const at = lines.findIndex((line) => decodeLine(line)?.kind === "seal");
  const line = decodeLine(lines[at]!);
  if (line?.kind !== "seal") throw new Error("no seal");
  const message = Buffer.concat([Buffer.from("tss.audit.signature.v1"), line.seal.sealHash]);
  const signature = ed25519.sign(message, new Uint8Array(32));
  const forged = lines.with(at, encodeLine({ kind: "seal", seal: { ...line.seal, signature } }));
  expect((await verified(forged, { publicKeys: [publicKey] })).faults).toMatchObject([
    { kind: "signature", seal: 1n },
    { kind: "signature", message: "the newest seal is not signed by a given key" },
  ]);
});

describe("the database refuses", () => {
  beforeEach(async () => {
    await write("sealed");
    await sealAll(database);
    await write("unsealed");
  });

  it.each(["audit_event", "audit_leaf", "audit_seal"])("to change or to empty %s", async (table) => {
    for (const statement of [
      `UPDATE ${table} SET ${table === "audit_event" ? "id = id" : "chain_hash = chain_hash"}`,
      `DELETE FROM ${table}`,
      `TRUNCATE ${table} CASCADE`,
    ]) {
      await expect(database.query(statement)).rejects.toThrow("is append-only");
    }
  });

  it("to remove an event that is not sealed from the list of unsealed ones", async () => {
    await expect(database.query("DELETE FROM audit_unsealed")).rejects.toThrow("stays listed");
    await expect(database.query("UPDATE audit_unsealed SET audit_event_id = 0")).rejects.toThrow(
      "append-only",
    );
    await expect(database.query("TRUNCATE audit_unsealed")).rejects.toThrow("append-only");
    expect(await countUnsealed(database)).toBe(1);
  });

  it("to seal an event twice", async () => {
    const hash = createHash("sha256").digest();
    const twice = database.query(
      `INSERT INTO audit_leaf (sequence, audit_event_id, leaf_hash, chain_hash)
       SELECT sequence + 1, audit_event_id, $1, $1 FROM audit_leaf`,
      [hash],
    );
    await expect(twice).rejects.toThrow("audit_leaf_audit_event_id_key");
  });
});

it("the export names an event that was changed in the database past its triggers", async () => {
  await writeEvents(database, 5);
  await sealAll(database);
  await database.query(
    `ALTER TABLE audit_event DISABLE TRIGGER ALL;
     UPDATE audit_event SET address = '203.0.113.9' WHERE id = 3;
     DELETE FROM audit_event WHERE id = 5;
     ALTER TABLE audit_event ENABLE TRIGGER ALL`,
  );
  const { faults } = await verified(await exported(database));
  expect(faults.map(({ kind, sequence }) => [kind, sequence])).toEqual([
    ["changed", 3n],
    ["missing", 5n],
  ]);
});
