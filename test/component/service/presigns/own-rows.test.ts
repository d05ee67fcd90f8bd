/** Each move of a presign changes its own row, and each count takes its own bucket, among presigns of others. */
import sql from "sql-template-tag";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { equalBytes } from "../../../../src/protocol/bytes.ts";
import { MixedUpAnswerError } from "../../../../src/protocol/chain/read-errors.ts";
import { sessionIdentifierPreimage } from "../../../../src/protocol/chain/session-identifier.ts";
import { type Database, execute } from "../../../../src/service/platform/store/database.ts";
import { type PresignBucket, readWarmBuckets } from "../../../../src/service/presigns/bucket.ts";
import { readPresignHealth } from "../../../../src/service/presigns/presign-health.ts";
import {
  burnPooledPresigns,
  holdLostPresign,
  poolMoves,
  presignMoves,
} from "../../../../src/service/presigns/presign-moves.ts";
import { createPresignOperation } from "../../../../src/service/presigns/presign-operation.ts";
import { readDemand } from "../../../../src/service/presigns/read-demand.ts";
import { presignRequested } from "../../../support/chain/chain-bytes.ts";
import { changedRows } from "../../../support/database/changed-rows.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { dwalletOf, objectId, projectWith, readyPresigns } from "../../../support/database/rows.ts";

const STATES = ["requested", "pending", "ready", "held", "used", "burnt"] as const;
type State = (typeof STATES)[number];
const MOVED = ["state", "updated_at"];
const SENDER = objectId();
const SESSION = new Uint8Array(32).fill(7);

let database: Database;
let bucket: PresignBucket;
/** A presign of the bucket in each state. */
let own: Record<State, string>;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  bucket = {
    network: "localnet",
    curve: 0,
    signatureAlgorithm: 0,
    networkEncryptionKeyId: objectId(),
  };
  // Another presign in each state, older.
  await inEachState();
  own = await inEachState();
});

describe("a move changes only its presign, and only from its state:", () => {
  it.each([
    ["hold", "ready", MOVED],
    ["release", "held", ["returned_at", ...MOVED]],
    ["use", "held", MOVED],
    ["burn", "held", MOVED],
  ] as const)("%s from %s", async (name, from, columns) => {
    for (const state of STATES) {
      const source = sql`(SELECT ${own[state]}::uuid AS presign_id)`;
      const changed = await changes(() => execute(database, presignMoves[name](source)));
      expect(changed).toEqual(state === from ? { presign: { [own[state]]: columns } } : {});
    }
  });

  it("land, giveUp, fill, refuse and withdraw", async () => {
    const session = { curveNumber: 0, signatureAlgorithmNumber: 0 };
    const others = [
      { curveNumber: 1, signatureAlgorithmNumber: 0 },
      { curveNumber: 0, signatureAlgorithmNumber: 1 },
    ];
    const news = (id: string) =>
      sql`unnest(${[id]}::uuid[], ${[objectId()]}::text[]) AS news (id, presign_id)`;
    const fill = (id: string, algorithm: (typeof others)[number]) =>
      poolMoves.fill([{ id, algorithm, presign: Uint8Array.of(1) }]);
    const moved = async (from: State[], columns: string[], move: (id: string) => ReturnType<typeof sql>) => {
      for (const state of STATES) {
        const changed = await changes(() => execute(database, move(own[state])));
        expect(changed).toEqual(from.includes(state) ? { presign: { [own[state]]: columns } } : {});
      }
      own = await inEachState();
    };
    for (const other of others) {
      await moved([], [], (id) => fill(id, other));
      await moved([], [], (id) => poolMoves.refuse(id, other));
    }
    await moved(["requested"], ["presign_id", "state", "tx_digest", "updated_at"], (id) =>
      poolMoves.land(news(id), "digest"),
    );
    await moved(["requested"], MOVED, (id) => poolMoves.giveUp(id));
    await moved(["pending"], ["presign", "ready_at", "state", "updated_at"], (id) => fill(id, session));
    await moved(["pending"], MOVED, (id) => poolMoves.refuse(id, session));
    await moved(["pending", "ready"], MOVED, (id) => poolMoves.withdraw([id]));
    expect(await burnPooledPresigns(database, Object.values(own))).toBe(2);
  });

  it("the hold of a presign that the chain knows, from every state", async () => {
    for (const state of STATES.filter((name) => name !== "requested")) {
      const [row] = await database.query<{ id: string }>(
        "SELECT presign_id AS id FROM presign WHERE id = $1",
        [own[state]],
      );
      const lost = { presignId: row!.id, presign: Uint8Array.of(9) };
      const changed = await changes(() => holdLostPresign(database, bucket, lost));
      const columns = ["presign", ...(state === "held" ? ["updated_at"] : MOVED)];
      expect(changed).toEqual({ presign: { [own[state]]: columns } });
    }
  });
});

describe("a presign that the chain may already have", () => {
  it("continues with its own session, and is not changed without one", async () => {
    await database.query("UPDATE presign SET session_bytes = $2 WHERE id = $1", [own.requested, SESSION]);
    const preimage = sessionIdentifierPreimage(SESSION, SENDER);
    const made = objectId();
    let events = [presignRequested(Uint8Array.of(8), objectId()), presignRequested(preimage, made)];
    let isKnown = false;
    const operation = createPresignOperation({
      senderAddress: SENDER,
      batchCount: 20,
      reader: {
        sessionRequest: async (asked) =>
          isKnown && equalBytes(asked, preimage) ? { digest: "digest", version: 1n, events } : undefined,
      },
    });
    const subject = (await operation.load(database, [own.requested])).get(own.requested)!;
    const adopt = () => operation.adopt(database, subject, { reason: "X", message: "" });
    expect(await changes(async () => expect(await adopt()).toBe(false))).toEqual({});
    isKnown = true;
    events = events.slice(0, 1);
    expect(await changes(() => expect(adopt()).rejects.toThrow(MixedUpAnswerError))).toEqual({});
    events.push(presignRequested(preimage, made));
    expect(await changes(async () => expect(await adopt()).toBe(true))).toEqual({
      presign: { [own.requested]: ["presign_id", "state", "tx_digest", "updated_at"] },
    });
    const [row] = await database.query("SELECT presign_id AS made FROM presign WHERE id = $1", [
      own.requested,
    ]);
    expect(row).toEqual({ made });
    await database.query("UPDATE presign SET session_bytes = $2 WHERE id = $1", [own.pending, SESSION]);
    const other = (await operation.load(database, [own.pending])).get(own.pending)!;
    const failure = { reason: "X", message: "" };
    expect(await changes(() => operation.failed(database, other, failure))).toEqual({});
  });
});

describe("the demand of a bucket", () => {
  it("counts its own presigns by state, and the failures of the last half minute", async () => {
    await database.query(
      "UPDATE presign SET updated_at = now() - interval '29 seconds' WHERE state = 'burnt' AND id = $1",
      [own.burnt],
    );
    await readyPresigns(database, { ...bucket, networkEncryptionKeyId: objectId() }, 1);
    await readyPresigns(database, { ...bucket, network: "testnet" }, 1);
    const demand = (await readDemand(database, "localnet"))(bucket);
    // Two presigns of the bucket are in each state. The other burnt one failed a day ago.
    expect(demand).toMatchObject({ readyCount: 2, pendingCount: 4, spoiltCount: 1, takenPerSecond: 0 });
    await database.query("UPDATE presign SET updated_at = now() - interval '31 seconds' WHERE id = $1", [
      own.burnt,
    ]);
    expect((await readDemand(database, "localnet"))(bucket).spoiltCount).toBe(0);
    // One that was ready and burnt later was not spoilt by the network.
    await database.query("UPDATE presign SET updated_at = now(), presign = '\\x01' WHERE id = $1", [
      own.burnt,
    ]);
    expect((await readDemand(database, "localnet"))(bucket).spoiltCount).toBe(0);
  });

  it("has the number made in the last half minute, and how long nine of ten took at most", async () => {
    expect((await readDemand(database, "localnet"))(bucket)).toMatchObject({ madeCount: 0 });
    for (const [state, readySeconds] of [
      ["ready", 29],
      ["used", 31],
    ] as const)
      await database.query(
        `UPDATE presign SET ready_at = now() - $2::float8 * interval '1 second',
                            created_at = now() - ($2::float8 + 4) * interval '1 second' WHERE id = $1`,
        [own[state], readySeconds],
      );
    const { madeCount, mintSeconds } = (await readDemand(database, "localnet"))(bucket);
    expect([madeCount, mintSeconds]).toEqual([1, 4]);
    expect((await readDemand(database, "testnet"))({ ...bucket, network: "testnet" }).madeCount).toBe(0);
  });

  it("is taken at the rate of the last half minute, or of the last five seconds if that is higher", async () => {
    const projectId = await projectWith(database, 0n);
    const dwallet = await dwalletOf(database, projectId, bucket);
    const request = (presign: string, network: string, agoSeconds: number) =>
      database.query(
        `INSERT INTO sign_request (id, project_id, dwallet_id, presign_id, network, curve, signature_algorithm,
           hash_scheme, message, price_micro_usd, status, expires_at, created_at)
         VALUES (gen_random_uuid(), $1, $2, $3, $4, 0, 0, 0, '', 0, 'prepared', now(),
                 now() - $5::float8 * interval '1 second')`,
        [projectId, dwallet.rowId, presign, network, agoSeconds],
      );
    const rate = async () => (await readDemand(database, "localnet"))(bucket).takenPerSecond;
    await request(own.held, "localnet", 29);
    await request(own.used, "localnet", 31);
    await request(own.ready, "testnet", 1);
    expect(await rate()).toBeCloseTo(1 / 30);
    await request(own.pending, "localnet", 4);
    expect(await rate()).toBeCloseTo(1 / 5);
  });
});

describe("the warm buckets", () => {
  it("are those of each living dWallet of the network, by curve and key, each once", async () => {
    const projectId = await projectWith(database, 0n);
    const keys = [objectId(), objectId(), objectId(), objectId()].sort();
    const place = async (key: string, network: string, curve: number, state: string) => {
      const { rowId } = await dwalletOf(database, projectId, { networkEncryptionKeyId: key, state });
      await database.query("UPDATE dwallet SET network = $2, curve = $3 WHERE id = $1", [
        rowId,
        network,
        curve,
      ]);
    };
    await place(keys[0]!, "localnet", 2, "Active");
    await place(keys[0]!, "localnet", 2, "Active");
    await place(keys[1]!, "localnet", 2, "Active");
    await place(keys[1]!, "localnet", 0, "AwaitingKeyHolderSignature");
    await place(keys[2]!, "localnet", 2, "Failed");
    await place(keys[3]!, "testnet", 2, "Active");
    const warm = await readWarmBuckets(database, "localnet", [], async () => "");
    const found = warm
      .filter(({ networkEncryptionKeyId }) => keys.includes(networkEncryptionKeyId))
      .map(({ curve, signatureAlgorithm, networkEncryptionKeyId }) => [
        keys.indexOf(networkEncryptionKeyId),
        curve,
        signatureAlgorithm,
      ]);
    expect(found.sort()).toEqual([
      [0, 2, 0],
      [1, 0, 0],
      [1, 0, 1],
      [1, 2, 0],
    ]);
  });

  it("are counted by state, sorted by curve, algorithm and key", async () => {
    for (const curve of [2, 1, 0]) await readyPresigns(database, { ...bucket, curve }, 1);
    const [configured] = [{ curveNumber: 0, signatureAlgorithmNumber: 1 }];
    const health = await readPresignHealth(
      database,
      "localnet",
      [configured as never],
      async () => bucket.networkEncryptionKeyId,
    );
    const found = health.filter((each) => each.networkEncryptionKeyId === bucket.networkEncryptionKeyId);
    const none = { ready: 0, pending: 0, held: 0, used: 0, burnt: 0 };
    expect(found).toEqual([
      { ...bucket, ready: 3, pending: 4, held: 2, used: 2, burnt: 2 },
      { ...bucket, signatureAlgorithm: 1, ...none },
      { ...bucket, curve: 1, ...none, ready: 1 },
      { ...bucket, curve: 2, ...none, ready: 1 },
    ]);
  });

  it("of several keys are sorted by curve first, then by algorithm, and by key last", async () => {
    const network = "testnet";
    const keys = [`0x${"b".repeat(64)}`, `0x${"a".repeat(64)}`];
    for (const networkEncryptionKeyId of keys)
      for (const [curve, signatureAlgorithm] of [
        [2, 0],
        [1, 1],
        [1, 0],
      ] as const)
        await readyPresigns(database, { network, curve, signatureAlgorithm, networkEncryptionKeyId }, 1);
    // The warm buckets come first, so that only sorting moves them.
    const warm = [
      { curveNumber: 2, signatureAlgorithmNumber: 0 },
      { curveNumber: 1, signatureAlgorithmNumber: 1 },
    ];
    const health = await readPresignHealth(database, network, warm as never[], async () => keys[0]!);
    const found = health.filter(({ networkEncryptionKeyId: key }) => keys.includes(key));
    expect(
      found.map((each) => [each.curve, each.signatureAlgorithm, each.networkEncryptionKeyId[2]]),
    ).toEqual([
      [1, 0, "a"],
      [1, 0, "b"],
      [1, 1, "a"],
      [1, 1, "b"],
      [2, 0, "a"],
      [2, 0, "b"],
    ]);
  });
});

const changes = (action: () => Promise<unknown>) => changedRows(database, ["presign"], action);

/** Inserts a presign of the bucket in each state, changed a day ago. */
async function inEachState(): Promise<Record<State, string>> {
  const found: Partial<Record<State, string>> = {};
  for (const state of STATES) {
    const [presignId] = await readyPresigns(database, bucket, 1);
    const [row] = await database.query<{ id: string }>(
      `UPDATE presign SET state = $2, updated_at = now() - interval '1 day', created_at = now() - interval '1 day',
         presign = CASE WHEN $2 IN ('requested', 'pending', 'burnt') THEN NULL ELSE presign END,
         presign_id = CASE WHEN $2 = 'requested' THEN NULL ELSE presign_id END
       WHERE presign_id = $1 RETURNING id`,
      [presignId, state],
    );
    found[state] = row!.id;
  }
  return found as Record<State, string>;
}
