/**
 * Reservations and submits per second on a real PostgreSQL, as the service makes them (one prepared statement each) and
 * as the same steps in Prisma's interactive transactions. `npx tsx bench/ledger.ts [--count 2000] [--callers 16]
 * [--projects 100]`; PostgreSQL as in TEST_DATABASE_URL, else 127.0.0.1. At the end the ledger must add up.
 */

import { parseArgs } from "node:util";
import { verifyLedger } from "../src/service/ledger/verify-ledger.ts";
import { createLocalSignals } from "../src/service/platform/coordination/local-coordination.ts";
import { type Database, newId } from "../src/service/platform/store/database.ts";
import { SIGN_PRIORITY } from "../src/service/signing/sign-operation.ts";
import { submit } from "../src/service/signing/submit.ts";
import { takeReservation } from "../src/service/signing/take-reservation.ts";
import { checkSignMessage } from "../src/service/signing/verify/verify-work.ts";
import { checkHalfInline } from "../test/support/crypto/inline-verifier.ts";
import { openRaceDatabase } from "../test/support/database/database.ts";
import {
  dwalletOf,
  layoutOfSignMessage,
  projectWith,
  readyPresigns,
  TEST_ORIGIN,
  TEST_TRIPLE,
} from "../test/support/database/rows.ts";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "2000" },
    callers: { type: "string", default: "16" },
    projects: { type: "string", default: "100" },
  },
});
const COUNT = Number(values.count);
const CALLERS = Number(values.callers);
const PRICE = 10_000n;
const WARM_UP = 100;
const MESSAGE = new TextEncoder().encode("message");
const HALF = new Uint8Array(layoutOfSignMessage());

const opened = await openRaceDatabase();
if (opened === undefined) throw new Error("this needs a PostgreSQL server");
const database: Database = opened;
const signals = createLocalSignals();

interface Payer {
  readonly projectId: string;
  readonly dwalletId: string;
}
const payers: Payer[] = [];
const bucketKey = `0x${"ab".repeat(32)}`;
for (let index = 0; index < Number(values.projects); index++) {
  const projectId = await projectWith(database, BigInt(4 * (COUNT + WARM_UP)) * PRICE);
  const dwallet = await dwalletOf(database, projectId, { networkEncryptionKeyId: bucketKey });
  payers.push({ projectId, dwalletId: dwallet.rowId });
}
const bucket = {
  network: "localnet",
  curve: TEST_TRIPLE.curveNumber,
  signatureAlgorithm: TEST_TRIPLE.signatureAlgorithmNumber,
  networkEncryptionKeyId: bucketKey,
};
await readyPresigns(database, bucket, 2 * (COUNT + WARM_UP));

/** One way to reserve and submit; each function makes one call. */
interface Way {
  readonly name: string;
  reserve(payer: Payer): Promise<string>;
  submit(payer: Payer, id: string): Promise<void>;
}

const statements: Way = {
  name: "one prepared statement each",
  async reserve({ projectId, dwalletId }) {
    const id = newId();
    const outcome = await takeReservation(database, TEST_ORIGIN, {
      ...bucket,
      id,
      projectId,
      dwalletId,
      hashScheme: TEST_TRIPLE.hashNumber,
      message: MESSAGE,
      priceMicroUsd: PRICE,
      ttlMs: 600_000,
      openMaxCount: 1_000_000,
      keyScope: projectId,
      idempotency: undefined,
    });
    if (typeof outcome !== "object" || !("reserved" in outcome)) throw new Error(JSON.stringify(outcome));
    return id;
  },
  async submit({ projectId }, signRequestId) {
    const caller = { projectId, network: "localnet", origin: TEST_ORIGIN };
    await submit({ database, signals, checkHalf: checkHalfInline }, caller, {
      signRequestId,
      userSignMessage: HALF,
    });
  },
};

const interactive: Way = {
  name: "Prisma interactive transactions",
  reserve: ({ projectId, dwalletId }) =>
    database.prisma.$transaction(async (tx) => {
      const [project] = await tx.$queryRaw<{ free: bigint }[]>`
        SELECT balance_micro_usd - held_micro_usd AS free FROM project WHERE id = ${projectId}::uuid FOR UPDATE`;
      if (project === undefined || project.free < PRICE) throw new Error("no credit");
      const [presign] = await tx.$queryRaw<{ id: string }[]>`
        SELECT presign.id FROM presign WHERE network = 'localnet' AND curve = ${bucket.curve}
          AND signature_algorithm = ${bucket.signatureAlgorithm} AND network_encryption_key_id = ${bucketKey}
          AND state = 'ready' ORDER BY presign.id LIMIT 1 FOR UPDATE SKIP LOCKED`;
      if (presign === undefined) throw new Error("no presign");
      await tx.project.update({
        where: { id: projectId },
        data: { heldMicroUsd: { increment: PRICE }, openReservations: { increment: 1 } },
      });
      await tx.presign.update({ where: { id: presign.id }, data: { state: "held" } });
      const { id } = await tx.signRequest.create({
        data: {
          id: newId(),
          projectId,
          dWalletId: dwalletId,
          presignId: presign.id,
          network: "localnet",
          curve: bucket.curve,
          signatureAlgorithm: bucket.signatureAlgorithm,
          hashScheme: TEST_TRIPLE.hashNumber,
          message: MESSAGE,
          priceMicroUsd: PRICE,
          status: "prepared",
          expiresAt: new Date(Date.now() + 600_000),
        },
      });
      const audit = { actor: "system", projectId, action: "sign.reserve", subject: id };
      await tx.auditEvent.create({ data: audit });
      return id;
    }),
  submit: ({ projectId }, id) =>
    database.prisma.$transaction(async (tx) => {
      const row = await tx.signRequest.findUnique({
        where: { id },
        include: { dWallet: true, presign: true },
      });
      if (row?.status !== "prepared" || row.expiresAt < new Date()) throw new Error("not prepared");
      const { curve, signatureAlgorithm } = TEST_TRIPLE;
      checkSignMessage({
        curve,
        signatureAlgorithm,
        dwalletOutput: row.dWallet.publicOutput!,
        presign: row.presign.presign!,
        message: row.message,
        userSignMessage: HALF,
      });
      const moved = await tx.signRequest.updateMany({
        where: { id, status: "prepared" },
        data: { status: "queued", userSignMessage: HALF },
      });
      if (moved.count !== 1) throw new Error("submitted by another");
      await tx.project.update({
        where: { id: projectId },
        data: {
          balanceMicroUsd: { decrement: PRICE },
          heldMicroUsd: { decrement: PRICE },
          openReservations: { decrement: 1 },
        },
      });
      await tx.ledgerEntry.create({
        data: {
          projectId,
          amountMicroUsd: -PRICE,
          kind: "sign",
          key: `sign:${id}`,
          description: "Signature",
        },
      });
      await tx.chainOperation.create({
        data: { id: newId(), network: "localnet", kind: "sign", subjectId: id, priority: SIGN_PRIORITY },
      });
      const audit = { actor: "system", projectId, action: "sign.submit", subject: id };
      await tx.auditEvent.create({ data: audit });
    }),
};

console.log(`${COUNT} of each, ${CALLERS} at a time, ${payers.length} projects\n`);
console.log("| way | reservations/s | submits/s | both/s |\n|---|---|---|---|");
const slow = await measure(interactive);
const fast = await measure(statements);
const ratio = (step: keyof Rates) => (fast[step] / slow[step]).toFixed(1);
console.log(`| ratio | ${ratio("reserves")} | ${ratio("submits")} | ${ratio("both")} |`);
const differences = await verifyLedger(database);
console.log(differences.length === 0 ? "\nthe ledger adds up" : `\n${differences.length} differences`);
await database.close();

interface Rates {
  readonly reserves: number;
  readonly submits: number;
  /** Requests that were both reserved and submitted. */
  readonly both: number;
}

async function measure(way: Way): Promise<Rates> {
  await each(WARM_UP, async (payer) => way.submit(payer, await way.reserve(payer)));
  const reserved: [Payer, string][] = [];
  const reserves = await each(COUNT, async (payer) => {
    reserved.push([payer, await way.reserve(payer)]);
  });
  const submits = await each(COUNT, async (_payer, index) =>
    way.submit(...(reserved[index] as [Payer, string])),
  );
  const both = 1 / (1 / reserves + 1 / submits);
  console.log(`| ${way.name} | ${reserves.toFixed(0)} | ${submits.toFixed(0)} | ${both.toFixed(0)} |`);
  return { reserves, submits, both };
}

/** Runs the work `count` times on `CALLERS` concurrent callers. Returns the runs per second. */
async function each(count: number, work: (payer: Payer, index: number) => Promise<void>): Promise<number> {
  let next = 0;
  const startedMs = performance.now();
  const caller = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++)
      await work(payers[index % payers.length] as Payer, index);
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return (1000 * count) / (performance.now() - startedMs);
}
