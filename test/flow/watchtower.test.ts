/** A watchtower beside a service: it tells what the user's log lacks, also after a crash; real cryptography. */
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifyWebhook } from "../../src/client/sdk/calls/verify-webhook.ts";
import { createClient, type TssClient } from "../../src/client/sdk/index.ts";
import { Lifecycle } from "../../src/service/platform/lifecycle/lifecycle.ts";
import { connectEvents, type FullnodeEvents } from "../../src/watchtower/fullnode-events.ts";
import { watchedTypes } from "../../src/watchtower/sightings.ts";
import { startWatchtower } from "../../src/watchtower/start-watchtower.ts";
import type { Alert } from "../../src/watchtower/tower-state.ts";
import type { RoundResult } from "../../src/watchtower/watch-round.ts";
import { createDWalletList } from "../../src/watchtower/watched-dwallets.ts";
import { bakedFolder } from "../support/service/baked-folder.ts";
import { type Receiver, startReceiver } from "../support/service/receiver.ts";
import { runTss, type ServiceProcess, startService } from "../support/service/service.ts";
import { silentLog } from "../support/silent-log.ts";

const ED25519 = { curve: "ED25519", signatureAlgorithm: "EdDSA", hashScheme: "SHA512" } as const;
const { folder, keys, remove } = await bakedFolder();
const { seed, onboarded: made } = keys.ED25519;
const at = (name: string) => path.join(folder, name);
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

let service: ServiceProcess;
let client: TssClient;
let receiver: Receiver;
let arrived: (count: number) => Promise<void>;
let ids: { ika: string; treasury: string };

beforeAll(async () => {
  service = await startService(folder, { PRESIGN_BUCKETS: "ED25519/EdDSA" });
  const { baseUrl, apiKey, fullnodeUrl } = service.access;
  client = createClient({ baseUrl, apiKey, network: "localnet" });
  const { ikaConfig, treasuryId: treasury } = await client.network();
  ids = { ika: ikaConfig!.ikaDwallet2pcMpcOriginalPackage, treasury };
  writeFileSync(at("fullnodes"), `${fullnodeUrl}\n`);
  writeFileSync(at("dwallets"), `# of alice\n${made.dwallet.id}\n`);
  writeFileSync(at("secret"), randomBytes(32).toString("hex"), { mode: 0o600 });
  const waiting = new Set<() => void>();
  receiver = await startReceiver((_request, response) => {
    response.end();
    for (const look of waiting) look();
  });
  arrived = (count) =>
    new Promise((resolve) => {
      const look = () => {
        if (distinct().length < count) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
}, 180_000);
afterAll(async () => {
  await receiver?.close();
  await service?.stop();
  remove();
});

/** Signs as anybody can who has the seed. */
const sign = (message: string) =>
  client.sign({ seed, dwalletId: made.dwallet.id, message: new TextEncoder().encode(message), ...ED25519 });

/** Writes the line that `tss signer` writes before it sends anything. */
const log = (message: string, idempotencyKey: string) =>
  appendFileSync(
    at("log"),
    `${JSON.stringify({ audit: "sign", outcome: "requested", messageSha256: sha256(message), idempotencyKey })}\n`,
  );

async function startTower() {
  const options = {
    ...{ network: "localnet", fullnodes: at("fullnodes"), dwallets: at("dwallets"), log: at("log") },
    ...{ "ika-package": ids.ika, treasury: ids.treasury, state: at("state"), grace: "0" },
    ...{ webhook: receiver.url, "secret-file": at("secret") },
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const child = runTss(["watchtower", ...args], {});
  const lines = createInterface({ input: child.stdout! });
  const errors: string[] = [];
  createInterface({ input: child.stderr! }).on("line", (line) => errors.push(line));
  let secret = "";
  for await (const line of lines) {
    secret ||= /^secret {2}(whsec_.*)$/.exec(line)?.[1] ?? "";
    if (line === "watching") break;
  }
  if (child.exitCode !== null || secret === "") throw new Error(errors.join("\n"));
  return {
    secret,
    async kill() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

/** The requests without repeats: an alert arrives at least once, always with the same id. */
const distinct = () =>
  [
    ...new Map(
      receiver.requests.toReversed().map((request) => [request.headers["webhook-id"], request]),
    ).values(),
  ].toReversed();

/** What the receiver got, each verified. */
const told = (secret: string) =>
  distinct().map(({ body, headers }) => {
    const { type, data } = verifyWebhook({ body, headers: headers as never, secret });
    return [type, data["message_sha256"] ?? data["by"]];
  });

describe("a watchtower", { timeout: 600_000 }, () => {
  it("tells of the signatures that the log lacks, also of those while it was killed, and of an exit", async () => {
    writeFileSync(at("log"), "a line of another program\n");
    const first = await startTower();
    log("mine", "payment-1");
    await sign("mine");
    await sign("not mine");
    await arrived(1);
    expect(told(first.secret)).toEqual([["watchtower.sign", sha256("not mine")]]);
    await first.kill();

    // Behind the user's back, while nobody watches; a repeated line is no second request.
    await sign("while dead");
    await sign("mine");
    log("mine", "payment-1");
    const second = await startTower();
    expect(second.secret).toBe(first.secret);
    await arrived(3);
    const recipient = `0x${"e".repeat(64)}`;
    await client.leave({ seed, dwalletId: made.dwallet.id, recipient });
    await arrived(4);
    await second.kill();
    const all = told(first.secret);
    expect(all.slice(1)).toEqual([
      ["watchtower.sign", sha256("while dead")],
      ["watchtower.sign", sha256("mine")],
      ["watchtower.left", "owner"],
    ]);
    // The state has no secret, and nothing waits.
    const state = readFileSync(at("state"), "utf8");
    expect(JSON.parse(state)).toMatchObject({ pending: [] });
    for (const secret of [first.secret, Buffer.from(seed).toString("hex")])
      expect(state).not.toContain(secret);
  });

  it("notices an event that one of two fullnodes hides, and makes no round without both", async () => {
    const honest = connectEvents(service.access.fullnodeUrl, "localnet");
    const alerts = await alertsWith([
      honest,
      { ...honest, host: "liar", events: async ({ to }) => ({ events: [], covered: to }) },
    ]);
    const lies = alerts.filter(({ kind }) => kind === "watchtower.disagreement");
    expect(lies).toHaveLength(5);
    expect(lies[0]).toMatchObject({ subject: made.dwallet.id, data: { event: "sign", missing_at: "liar" } });
    // What the liar hides is told all the same.
    const seen = alerts.map(({ kind }) => kind).filter((kind) => kind !== "watchtower.disagreement");
    expect(seen.toSorted()).toEqual(["watchtower.left", ...Array(4).fill("watchtower.sign")]);
    const { latest } = await honest.position(AbortSignal.timeout(10_000));
    const types = watchedTypes({ ika: ids.ika, treasury: undefined });
    const beyond = { from: 0n, to: latest + 1_000n, types, signal: AbortSignal.timeout(10_000) };
    const { covered } = await honest.events(beyond);
    expect(covered).toBeGreaterThanOrEqual(latest);
    expect(covered).toBeLessThan(beyond.to);
    const down: FullnodeEvents = { ...honest, events: () => Promise.reject(new Error("down")) };
    expect(await alertsWith([honest, down])).toEqual([]);
    const pruned: FullnodeEvents = {
      ...honest,
      position: async (signal) => ({ ...(await honest.position(signal)), lowest: 3n }),
    };
    expect(await alertsWith([pruned])).toEqual([]);
    // One that stands still holds the watch up, which its lag and its health show.
    const still: FullnodeEvents = {
      ...honest,
      position: async (signal) => ({ ...(await honest.position(signal)), latest: 0n }),
    };
    let lag = 0n;
    const held = await alertsWith([honest, still], (result) => {
      lag = result.lag;
    });
    expect(held).toEqual([]);
    expect(lag).toBeGreaterThan(5n);
  });
});

/** Makes the rounds from the first checkpoint on, until one fails or nothing is left. */
async function alertsWith(
  fullnodes: readonly FullnodeEvents[],
  onResult: (result: RoundResult) => void = () => {},
): Promise<Alert[]> {
  const lifecycle = new Lifecycle({ log: silentLog });
  const alerts: Alert[] = [];
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const dwallets = createDWalletList({ file: at("dwallets"), fromService: undefined });
  await startWatchtower({
    ...{
      fullnodes,
      dwallets,
      lifecycle,
      logs: [],
      stateFile: at(randomBytes(4).toString("hex")),
      graceMs: 0,
    },
    ...{
      packages: {
        ika: ids.ika,
        treasury: await fullnodes[0]!.treasuryPackage(ids.treasury, AbortSignal.timeout(10_000)),
      },
    },
    ...{ from: 0n, intervalMs: 10 },
    log: { ...silentLog, error: () => end() },
    onRound(result) {
      const { told, hasMore } = result;
      onResult(result);
      alerts.push(...told);
      if (!hasMore) end();
    },
  });
  await ended;
  await lifecycle.stop();
  return alerts;
}
