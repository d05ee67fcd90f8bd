/**
 * The load that quiet deposit addresses put on the fullnode: calls per second when each address is scanned separately,
 * and when checkpoints announce payments. A local network makes four checkpoints a second and occasionally pays one of
 * the addresses. `npx tsx bench/deposits.ts [--addresses 10000] [--seconds 60]`; PostgreSQL as in TEST_DATABASE_URL,
 * else 127.0.0.1.
 */

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { startLocalnet } from "../src/localnet/localnet.ts";
import { localnetHotWalletSecret } from "../src/localnet/seed.ts";
import type { Deposits } from "../src/service/billing/deposits/deposits.ts";
import { createCheckpointFollower } from "../src/service/billing/deposits/follow-checkpoints.ts";
import { createDepositWatcher } from "../src/service/billing/deposits/watch-deposits.ts";
import { type CheckpointReader, createCheckpointReader } from "../src/service/chain/checkpoint-reader.ts";
import { connectNetwork } from "../src/service/chain/fullnodes/network.ts";
import { createPaymentReader } from "../src/service/chain/payment-reader.ts";
import { createLocalSignals } from "../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../src/service/platform/lifecycle/clock.ts";
import { type Database, newId } from "../src/service/platform/store/database.ts";
import { migrate } from "../src/service/platform/store/migrate.ts";
import { openPostgres } from "../src/service/platform/store/open-postgres.ts";
import { Secret } from "../src/service/platform/telemetry/secret.ts";
import { acceptedCoin, fundedPayer, SUI, testDeposits } from "../test/support/database/deposits.ts";
import { testDatabase } from "../test/support/database/postgres.ts";
import { silentLog } from "../test/support/silent-log.ts";
import { createCheapMpc } from "../test/unit/localnet/cheap-mpc.ts";
import { measurePublicCheckpoints } from "./support/public-checkpoints.ts";

const { values } = parseArgs({
  options: { addresses: { type: "string", default: "10000" }, seconds: { type: "string", default: "60" } },
});
const ADDRESSES = Number(values.addresses);
const SECONDS = Number(values.seconds);
/** The default interval between scans of an active address. */
const POLL_MS = 10_000;
const OWN_PACE_SECONDS = 100;
const SWEEP_SECONDS = 7_200;
const CHECKPOINTS_PER_SECOND = 4;
/** One in 40 transactions of the network pays one of the addresses. */
const DEPOSIT_EVERY = 40;

const scratch = await testDatabase();
if (scratch === undefined) throw new Error("this needs a PostgreSQL server");
const localnet = await startLocalnet({ mpc: createCheapMpc() });
const database = await openPostgres(scratch.url, silentLog);
try {
  await migrate(database, silentLog);
  await fillAddresses(database);
  const counts = new Map<string, number>();
  let streamBytes = 0;
  let messages = 0;
  const network = await connectNetwork({
    name: "localnet",
    clock: systemClock,
    ikaConfig: localnet.ikaConfig,
    treasury: localnet.treasury,
    fullnodeUrl: new Secret(localnet.url),
    hotWalletSecret: new Secret(localnetHotWalletSecret()),
    async fetch(input, init) {
      const method = new URL(input instanceof Request ? input.url : input).pathname.split("/").at(-1)!;
      counts.set(method, (counts.get(method) ?? 0) + 1);
      const response = await fetch(input, init);
      if (method !== "SubscribeCheckpoints") return response;
      const counted = response.body!.pipeThrough(
        new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
          transform(chunk, controller) {
            streamBytes += chunk.length;
            controller.enqueue(chunk);
          },
        }),
      );
      return new Response(counted, { headers: response.headers });
    },
  });
  const ika = acceptedCoin("IKA", localnet.ikaCoinType);
  const coins = [SUI, ika];
  const coinTypes = coins.map(({ coinType }) => coinType);
  const deposits = testDeposits(
    database,
    { SUI: "3.5", IKA: "0.02" },
    { coins, reader: createPaymentReader(network) },
  );

  const before = await measure({ deposits, paceSeconds: OWN_PACE_SECONDS, reader: undefined });
  const checkpoints = createCheckpointReader(network, coinTypes);
  const after = await measure({
    deposits,
    paceSeconds: SWEEP_SECONDS,
    reader: {
      ...checkpoints,
      async *subscribe(signal, onOpen) {
        for await (const gains of checkpoints.subscribe(signal, onOpen)) {
          messages++;
          yield gains;
        }
      },
    },
  });
  console.log(`\n${ADDRESSES} quiet addresses, two accepted coins, ${SECONDS} s each:\n`);
  console.log("| Deposits are found by | calls/s | of them scans | streams | messages/s | kB/s | credited |");
  console.log("|---|---|---|---|---|---|---|");
  for (const [name, row] of [
    ["a scan of each address", before],
    ["checkpoints and a slow sweep", after],
  ] as const)
    console.log(`| ${name} | ${row.calls} | ${row.scans} | ${row.rest} |`);
  console.log(`| ratio | ${(before.rate / after.rate).toFixed(1)} | | | | | |`);
  await measurePublicCheckpoints(coinTypes);

  /** Counts the calls that one way makes while the network makes checkpoints. */
  async function measure({ deposits, paceSeconds, reader }: Way) {
    await database.query("DELETE FROM checkpoint_follower", []);
    await database.query(
      `UPDATE deposit_address SET wanted_at = now() - interval '1 day',
         due_at = now() + random() * $1::float8 * interval '1 second'`,
      [paceSeconds],
    );
    const options = { pollMs: POLL_MS, signals: createLocalSignals(), clock: systemClock, log: silentLog };
    const loops = [
      createDepositWatcher(deposits, options),
      ...(reader ? [createCheckpointFollower(deposits, { ...options, reader })] : []),
    ];
    counts.clear();
    for (const loop of loops) loop.start();
    await sleep(3_000);
    const streams = counts.get("SubscribeCheckpoints") ?? 0;
    counts.clear();
    const creditedBefore = await creditedCount();
    messages = streamBytes = 0;
    const beganMs = performance.now();
    const paidCount = await makeTraffic();
    const seconds = (performance.now() - beganMs) / 1_000;
    const [total, scans] = [
      [...counts.values()].reduce((sum, count) => sum + count, 0),
      counts.get("ListOwnedObjects") ?? 0,
    ];
    const perSecond = (count: number) => (count / seconds).toFixed(1);
    await Promise.all(loops.map((loop) => loop.stop()));
    await database.query("UPDATE deposit_address SET due_at = 'infinity'", []);
    const rest = [
      streams,
      perSecond(messages),
      perSecond(streamBytes / 1_000),
      `${(await creditedCount()) - creditedBefore} of ${paidCount}`,
    ].join(" | ");
    return { rate: total / seconds, calls: perSecond(total), scans: perSecond(scans), rest };
  }

  async function creditedCount(): Promise<number> {
    const [row] = await database.query<{ count: number }>(
      "SELECT count(*)::int AS count FROM deposit WHERE state = 'credited'",
      [],
    );
    return row!.count;
  }

  async function makeTraffic(): Promise<number> {
    const client = new SuiGrpcClient({ network: "localnet", baseUrl: localnet.url });
    const payer = await fundedPayer(client, localnet.url, ika.coinType);
    const rows = await database.query<{ address: string }>(
      "SELECT address FROM deposit_address ORDER BY random() LIMIT 100",
      [],
    );
    let paidCount = 0;
    const endMs = performance.now() + SECONDS * 1_000;
    for (let count = 1; performance.now() < endMs; count++) {
      const nextMs = performance.now() + 1_000 / CHECKPOINTS_PER_SECOND;
      const isDeposit = count % DEPOSIT_EVERY === 0;
      const address = isDeposit ? rows[paidCount++ % rows.length]!.address : randomAddress();
      await payer.pay(address, { sui: isDeposit ? 1_000_000_000n : 1n, ika: 0n });
      await sleep(Math.max(0, nextMs - performance.now()));
    }
    return paidCount;
  }
} finally {
  await database.close();
  await localnet.close();
  await scratch.drop();
}

/** One way to find deposits. */
interface Way {
  readonly deposits: Deposits;
  /** The time in which each quiet address is scanned once. */
  readonly paceSeconds: number;
  /** The checkpoints to follow; undefined: none. */
  readonly reader: CheckpointReader | undefined;
}

/** Creates projects with one address each, all quiet for a day. */
async function fillAddresses(db: Database): Promise<void> {
  const projectIds = Array.from({ length: ADDRESSES }, () => newId());
  await db.query(
    "INSERT INTO project (id, name, network) SELECT id, 'bench', 'localnet' FROM unnest($1::uuid[]) AS t (id)",
    [projectIds],
  );
  await db.query(
    `INSERT INTO deposit_address (address, project_id, network)
     SELECT address, id, 'localnet' FROM unnest($1::text[], $2::uuid[]) AS t (address, id)`,
    [projectIds.map(randomAddress), projectIds],
  );
}

function randomAddress(): string {
  return `0x${randomBytes(32).toString("hex")}`;
}
