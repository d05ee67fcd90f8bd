/**
 * The database's part of a signature, without server, chain and cryptography: statements, and processor time of this
 * process and of PostgreSQL, for callers that reserve, submit and watch at the same time. The real settler completes the
 * requests.
 *
 * `npx tsx bench/sign-rows.ts [--signatures 2000] [--callers 64] [--projects 8]`; PostgreSQL as in TEST_DATABASE_URL,
 * else on 127.0.0.1.
 */
import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import { createSettler } from "../src/service/chain/settler.ts";
import { createLocalSignals } from "../src/service/platform/coordination/local-coordination.ts";
import { topics } from "../src/service/platform/coordination/topics.ts";
import { systemClock } from "../src/service/platform/lifecycle/clock.ts";
import type { Database, Queryable } from "../src/service/platform/store/database.ts";
import { createPresignQueue } from "../src/service/presigns/presign-queue.ts";
import { createBatchedLooks } from "../src/service/signing/batched-looks.ts";
import { reserve } from "../src/service/signing/reserve.ts";
import { createSignSession } from "../src/service/signing/sign-session.ts";
import { submit } from "../src/service/signing/submit.ts";
import { watchSignRequest } from "../src/service/signing/watch-sign-request.ts";
import { signSession } from "../test/support/chain/chain-bytes.ts";
import { openRaceDatabase } from "../test/support/database/database.ts";
import { flatPrices } from "../test/support/database/prices.ts";
import {
  dwalletOf,
  keyed,
  layoutOfSignMessage,
  projectWith,
  TEST_ORIGIN,
  TEST_TRIPLE,
  type TestDWalletRow,
} from "../test/support/database/rows.ts";
import { silentLog } from "../test/support/silent-log.ts";
import { processorTimeMs } from "./support/processor-time.ts";

const { values } = parseArgs({
  options: {
    signatures: { type: "string", default: "2000" },
    callers: { type: "string", default: "64" },
    projects: { type: "string", default: "8" },
  },
});
const SIGNATURES = Number(values.signatures);
const WARM_UP_SIGNATURES = 500;
const BLOCK_COUNT = 50;
const PRICE = 10n;
const NETWORK = "localnet";

const opened = await openRaceDatabase({ count: 16, because: "the service has as many" });
if (opened === undefined) throw new Error("this needs a PostgreSQL server");
let statementCount = 0;
const counting = (db: Queryable): Queryable => ({
  query: (statement, parameters) => {
    statementCount++;
    return db.query(statement, parameters);
  },
});
const database: Database = {
  ...opened,
  ...counting(opened),
  transaction: (work) => opened.transaction((db) => work(counting(db))),
};
const signals = createLocalSignals();
const payers: { readonly projectId: string; readonly dwallet: TestDWalletRow }[] = [];
for (let index = 0; index < Number(values.projects); index++) {
  const projectId = await projectWith(opened, 1_000_000_000n);
  payers.push({ projectId, dwallet: await dwalletOf(opened, projectId) });
}
for (const { dwallet } of payers)
  await opened.query(
    `INSERT INTO presign (id, network, curve, signature_algorithm, network_encryption_key_id, session_bytes, presign_id,
       presign, state)
     SELECT gen_random_uuid(), 'localnet', 0, 0, $1, sha256(n::text::bytea), $1 || n, sha256(n::text::bytea), 'ready'
     FROM generate_series(1, $2::int) n`,
    [
      dwallet.bucket.networkEncryptionKeyId,
      Math.ceil((SIGNATURES + WARM_UP_SIGNATURES) / payers.length) + 100,
    ],
  );
await opened.query("ANALYZE");

const deps = {
  database,
  signals,
  clock: systemClock,
  presigns: createPresignQueue({ clock: systemClock, signals }),
  checkHalf: async () => {},
  prices: flatPrices(PRICE),
  reservationTtlMs: 600_000,
  openMaxCount: 1_000,
  looks: createBatchedLooks(database, systemClock),
};
const signature = new Uint8Array(64);
/** The dWallets of the sessions that the stand-in chain has opened. */
const sessions = new Map<string, string>();
const settler = createSettler({
  database,
  kinds: [
    createSignSession({
      network: NETWORK,
      refundsPerDay: 10,
      verifier: { checkSignature: async () => signature },
      signals,
    }),
  ],
  reader: {
    getObjects: async (ids) =>
      new Map(ids.map((id) => [id, signSession(id, sessions.get(id) ?? "", { Completed: signature })])),
  },
  clock: systemClock,
  log: silentLog,
  wakeOn: (wake) => signals.subscribe(topics.landed(NETWORK), wake),
});
settler.start();
let isOver = false;
const landing = land();

const message = new Uint8Array(32);
const userSignMessage = layoutOfSignMessage();
await run(WARM_UP_SIGNATURES);
const before = await counters();
await run(SIGNATURES);
const after = await counters();
const each = (name: keyof typeof before) => ((after[name] - before[name]) / SIGNATURES).toFixed(2);
console.log("| statements | this process, ms | PostgreSQL, ms | signatures/s |\n|---|---|---|---|");
console.log(
  `| ${each("statements")} | ${each("own")} | ${each("postgres")} | ${(SIGNATURES / ((after.nowMs - before.nowMs) / 1_000)).toFixed(0)} |`,
);
isOver = true;
await Promise.all([landing, settler.stop()]);
await opened.close();

async function run(count: number): Promise<void> {
  let begun = 0;
  const caller = async () => {
    while (begun < count) await sign(payers[begun++ % payers.length]!);
  };
  await Promise.all(Array.from({ length: Number(values.callers) }, caller));
}

async function sign({ projectId, dwallet }: (typeof payers)[number]): Promise<void> {
  const caller = { projectId, network: NETWORK, origin: TEST_ORIGIN };
  const { signal } = new AbortController();
  const input = {
    dwalletId: dwallet.objectId,
    triple: TEST_TRIPLE,
    message,
    idempotency: keyed(randomUUID()),
  };
  const { id } = await reserve(deps, caller, input, { timeoutMs: 30_000, signal });
  await submit(deps, caller, { signRequestId: id, userSignMessage });
  let last: string | undefined;
  const watching = watchSignRequest(
    deps,
    { signRequestId: id, caller, cursor: "" },
    signal,
    ({ row }) => row,
  );
  for await (const row of watching) last = row?.status ?? last;
  if (last !== "completed") throw new Error(`the request ended in state ${last}`);
}

/** Lands queued requests as a chain would, in blocks. Its statements are not counted. */
async function land(): Promise<void> {
  while (!isOver) {
    const rows = await opened!.query<{ id: string; session: string; dwallet: string }>(
      `UPDATE sign_request r SET status = 'submitted', tx_digest = 'digest', updated_at = now(),
         sign_session_id = '0x' || replace(r.id::text || r.id::text, '-', '')
       FROM dwallet d WHERE d.id = r.dwallet_id AND r.id IN (
         SELECT id FROM sign_request WHERE status = 'queued' ORDER BY id LIMIT $1)
       RETURNING r.id, r.sign_session_id AS session, d.object_id AS dwallet`,
      [BLOCK_COUNT],
    );
    for (const { session, dwallet } of rows) sessions.set(session, dwallet);
    for (const { id } of rows) signals.notify(topics.sign(id));
    if (rows.length > 0) signals.notify(topics.landed(NETWORK));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function counters() {
  const backends = await opened!.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database()",
  );
  const { user, system } = process.cpuUsage();
  return {
    statements: statementCount,
    own: (user + system) / 1_000,
    postgres: processorTimeMs(backends.map(({ pid }) => pid)),
    nowMs: performance.now(),
  };
}
