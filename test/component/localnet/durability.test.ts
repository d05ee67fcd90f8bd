import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CoordinatorInnerModule } from "@ika.xyz/sdk";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { Transaction } from "@mysten/sui/transactions";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  compact,
  durableHistory,
  openJournal,
  replaceJournal,
} from "../../../src/localnet/durable-ledger.ts";
import { type Commit, decodeCommit, encodeCommit } from "../../../src/localnet/fullnode/objects/commit.ts";
import { createLedger } from "../../../src/localnet/fullnode/objects/ledger.ts";
import type { ChainObject } from "../../../src/localnet/fullnode/objects/object.ts";
import { startLocalnet } from "../../../src/localnet/localnet.ts";
import type { NetworkMpc } from "../../../src/localnet/mpc/engine.ts";
import { createCheapMpc } from "../../unit/localnet/cheap-mpc.ts";
import {
  activeDwallet,
  contentsWhen,
  hotWallet,
  payPresigns,
  paySign,
  readyPresigns,
  signIdOf,
  startHarness,
} from "./harness.ts";
import { type LocalnetChild, startLocalnetChild } from "./localnet-child.ts";

const { SignSession } = CoordinatorInnerModule;
const me = hotWallet.toSuiAddress();
const RECIPIENT = `0x${"4".repeat(64)}`;

let dataDirectory: string;
const children: ChildProcess[] = [];
beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), "localnet-"));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await rm(dataDirectory, { recursive: true });
});

/** An MPC that counts its requests. */
function countingMpc(overrides: Partial<NetworkMpc> = {}): { mpc: NetworkMpc; asked: string[] } {
  const asked: string[] = [];
  const cheap = createCheapMpc(overrides);
  const mpc: NetworkMpc = {
    ...cheap,
    dkg(input) {
      asked.push("dkg");
      return cheap.dkg(input);
    },
    presign(input) {
      asked.push("presign");
      return cheap.presign(input);
    },
    sign(input) {
      asked.push("sign");
      return cheap.sign(input);
    },
  };
  return { mpc, asked };
}

async function startChild(): Promise<LocalnetChild> {
  const started = await startLocalnetChild(dataDirectory, "cheap");
  children.push(started.child);
  return started;
}

async function transfer(client: SuiGrpcClient): Promise<string> {
  const tx = new Transaction();
  tx.setSender(me);
  tx.transferObjects([...tx.splitCoins(tx.gas, [1])], RECIPIENT);
  const result = await client.signAndExecuteTransaction({ transaction: tx, signer: hotWallet });
  return (result.Transaction ?? result.FailedTransaction).digest;
}

test("after kill -9 while transactions run, everything that was acknowledged is still there, and the dead holder's lock is taken over", async () => {
  const { child, url } = await startChild();
  await expect(startLocalnet({ mpc: createCheapMpc(), dataDirectory })).rejects.toThrow(
    "is in use by process",
  );
  const client = new SuiGrpcClient({ network: "localnet", baseUrl: url, format: "binary" });
  const answered: string[] = [];
  const working = (async () => {
    for (;;) answered.push(await transfer(client));
  })().catch(() => undefined);
  while (answered.length < 15) await once(child.stdout as NodeJS.ReadableStream, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
  await working;
  const net = await startLocalnet({ mpc: createCheapMpc(), dataDirectory });
  try {
    const again = new SuiGrpcClient({ network: "localnet", baseUrl: net.url, format: "binary" });
    for (const digest of answered) {
      const found = await again.getTransaction({ digest, include: { effects: true } });
      expect(found.Transaction?.effects.status.success).toBe(true);
    }
    const { objects } = await again.listCoins({ owner: RECIPIENT, limit: 1_000 });
    // One more may have landed without its reply.
    expect([answered.length, answered.length + 1]).toContain(objects.length);
    await transfer(again);
  } finally {
    await net.close();
  }
});

test("a session that was open when the process ended is completed by the next process, and only once", async () => {
  const stuck = countingMpc({ sign: () => new Promise(() => undefined) });
  const first = await startHarness({ mpc: stuck.mpc, dataDirectory });
  const { dwalletId } = await activeDwallet(first);
  const [presignId] = await readyPresigns(first);
  const ids = { dwalletId, presignId: presignId as string };
  const signId = signIdOf(await first.run((tx) => paySign(first, tx, ids)));
  await first.close();
  const next = countingMpc();
  const second = await startHarness({ mpc: next.mpc, dataDirectory });
  const done = await contentsWhen(second, signId, SignSession, (value) => value.state.$kind !== "Requested");
  expect(done.state.$kind).toBe("Completed");
  expect(next.asked).toEqual(["sign"]);
  await second.close();
  const last = countingMpc();
  const third = await startHarness({ mpc: last.mpc, dataDirectory });
  await contentsWhen(third, signId, SignSession, (value) => value.state.$kind === "Completed");
  await third.close();
  expect(last.asked).toEqual([]);
});

test("the chain has the same id, objects, versions, transactions and time after a restart", async () => {
  let now = 5_000_000;
  const first = await startHarness({ dataDirectory, clock: () => now });
  const [presignId] = await readyPresigns(first);
  const before = await first.client.getObject({ objectId: presignId as string, include: { content: true } });
  const digest = before.object.previousTransaction;
  const info = (await first.client.ledgerService.getServiceInfo({})).response;
  await first.close();
  // A clock that is set back must not set the chain's time back.
  now -= 1_000_000;
  const second = await startHarness({ dataDirectory, clock: () => now });
  const after = await second.client.getObject({ objectId: presignId as string, include: { content: true } });
  expect(after).toEqual(before);
  expect(digest).toBe(after.object.previousTransaction);
  const infoAfter = (await second.client.ledgerService.getServiceInfo({})).response;
  expect(infoAfter).toEqual(info);
  await second.close();
});

test("a torn record at the end of the journal is dropped, and the chain continues", async () => {
  const first = await startHarness({ dataDirectory });
  const digest = await transfer(first.client);
  await first.close();
  await appendFile(join(dataDirectory, "localnet.journal"), Buffer.from([200, 0, 0, 0, 1, 2, 3, 4, 5, 6]));
  const lines: string[] = [];
  const second = await startHarness({ dataDirectory, log: (message) => lines.push(message) });
  expect((await second.client.getTransaction({ digest })).Transaction?.digest).toBe(digest);
  expect(lines).toContain("cut off a torn journal record");
  await transfer(second.client);
  await second.close();
});

test("a folder is held by one network at a time", async () => {
  const net = await startLocalnet({ mpc: createCheapMpc(), dataDirectory });
  await expect(startLocalnet({ mpc: createCheapMpc(), dataDirectory })).rejects.toThrow(
    "is in use by process",
  );
  await net.close();
  // A restarted container often has the same process id as the one before.
  await writeFile(join(dataDirectory, "localnet.lock"), JSON.stringify({ pid: process.pid }));
  await (await startLocalnet({ mpc: createCheapMpc(), dataDirectory })).close();
});

test("a folder of another seed or wallet is refused and not changed", async () => {
  await (await startLocalnet({ mpc: createCheapMpc(), dataDirectory })).close();
  const before = await readFile(join(dataDirectory, "localnet.journal"));
  const other = startLocalnet({ mpc: createCheapMpc(), dataDirectory, hotWalletAddress: "0x5" });
  await expect(other).rejects.toThrow("was created for hot wallet");
  const seeded = startLocalnet({ mpc: createCheapMpc(), dataDirectory, seed: new Uint8Array(32) });
  await expect(seeded).rejects.toThrow("was created for hot wallet");
  expect(await readFile(join(dataDirectory, "localnet.journal"))).toEqual(before);
});

test("a compacted history has the same objects and transactions", async () => {
  const harness = await startHarness({ dataDirectory });
  await harness.run((tx) => payPresigns(harness, tx, { count: 5 }));
  await readyPresigns(harness);
  await harness.close();
  const { journal, records } = await openJournal(join(dataDirectory, "localnet.journal"));
  await journal.close();
  const commits = records.slice(1).map(decodeCommit);
  expect(commits.map(encodeCommit)).toEqual(records.slice(1).map((record) => Uint8Array.from(record)));
  const state = (history: readonly ReturnType<typeof decodeCommit>[]) => {
    const objects = new Map<string, string>();
    const digests: string[] = [];
    for (const commit of history) {
      for (const id of commit.deleted) objects.delete(id);
      for (const object of commit.written) objects.set(object.id, object.digest);
      if (commit.executed.length > 0) digests.push(commit.digest);
    }
    return { objects: new Map([...objects].sort()), digests };
  };
  const compacted = compact(commits);
  expect(state(compacted)).toEqual(state(commits));
  const written = (history: typeof commits) =>
    history.reduce((sum, commit) => sum + commit.written.length, 0);
  expect(written(compacted)).toBeLessThan(written(commits));
});

test("a journal of mostly replaced versions is rewritten at start, and the next start reads the same", async () => {
  const identity = {
    seedDigest: new Uint8Array(32),
    hotWalletAddress: `0x${"5".repeat(64)}`,
    operatorCount: 1,
    epochDurationMs: 1_000n,
  };
  const lines: string[] = [];
  const openHistory = (compactAboveBytes: number) =>
    durableHistory(
      dataDirectory,
      identity,
      async () => commitOf(0n),
      (line) => lines.push(line),
      compactAboveBytes,
    );
  const first = await openHistory(0);
  for (let version = 1n; version < 40n; version++) await first.log.append(commitOf(version));
  await first.close();
  const second = await openHistory(0);
  expect(lines).toEqual(["compacted the journal"]);
  await second.log.append(commitOf(40n));
  await second.close();
  const third = await openHistory(Number.MAX_SAFE_INTEGER);
  const ledger = createLedger(third.commits, { epochDurationMs: 1_000n, log: third.log, clock: () => 0 });
  expect(ledger.objects.get(OBJECT_ID)?.version).toBe(40n);
  expect(ledger.latestCheckpoint).toBe(40n);
  for (let version = 0n; version <= 40n; version++) {
    expect(ledger.checkpoint(version)?.digest).toBe(`digest ${version}`);
  }
  await third.close();
});

const OBJECT_ID = `0x${"1".repeat(64)}`;

/** One commit of a chain that rewrites one large object. */
function commitOf(version: bigint): Commit {
  const object: ChainObject = {
    id: OBJECT_ID,
    version,
    digest: `${version}`,
    owner: { kind: "address", address: OBJECT_ID },
    type: "0x1::m::T",
    contents: new Uint8Array(5_000),
    previousTransaction: `digest ${version}`,
    storageRebate: 0n,
    field: undefined,
  };
  const at = { digest: `digest ${version}`, checkpoint: version, timestampMs: version };
  return { ...at, executed: Uint8Array.of(1), written: [object], deleted: [] };
}

test("a folder of another format is refused, and the error says what to do", async () => {
  const options = { dataDirectory, mpc: createCheapMpc() };
  await (await startLocalnet(options)).close();
  const path = join(dataDirectory, "localnet.journal");
  const { journal, records } = await openJournal(path);
  await journal.close();
  const [header, ...rest] = records as [Uint8Array, ...Uint8Array[]];
  const format = new DataView(header.buffer, header.byteOffset).getUint16(0, true);
  const older = Uint8Array.from(header);
  new DataView(older.buffer).setUint16(0, format - 1, true);
  await replaceJournal(path, [older, ...rest]);
  await expect(startLocalnet(options)).rejects.toThrow(
    `has format ${format - 1}, and this version reads format ${format}; delete the folder`,
  );
});
