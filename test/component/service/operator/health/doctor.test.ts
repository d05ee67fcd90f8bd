import { randomBytes } from "node:crypto";
/** `tss doctor` against a localnet with a real fullnode, with one fault at a time. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect, createServer as createSilentServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import type { Transaction, TransactionArgument } from "@mysten/sui/transactions";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { localnetHotWalletSecret } from "../../../../../src/localnet/seed.ts";
import { connectNetwork } from "../../../../../src/service/chain/fullnodes/network.ts";
import { addLane } from "../../../../../src/service/chain/submit/lane-table.ts";
import type {
  NamedFinding,
  NetworkSubject,
} from "../../../../../src/service/operator/health/checks/health-check.ts";
import { outboxChecks } from "../../../../../src/service/operator/health/checks/outbox-checks.ts";
import { checkRedis, runDoctor } from "../../../../../src/service/operator/health/doctor/doctor.ts";
import { systemClock } from "../../../../../src/service/platform/lifecycle/clock.ts";
import { Secret } from "../../../../../src/service/platform/telemetry/secret.ts";
import { openTestDatabase } from "../../../../support/database/database.ts";
import { type Harness, hotWallet, payFunds, payPresigns, startHarness } from "../../../localnet/harness.ts";

/** Each run reads a fullnode over the wire. */
const TIMEOUT_MS = 30_000;
const NOBODY = "127.0.0.1:1";
const PASSWORD = "correct-horse-battery";
const CERTIFICATE = path.resolve(import.meta.dirname, "../../../../support/service/localhost.cert.pem");
const KEY = path.resolve(import.meta.dirname, "../../../../support/service/localhost.key.pem");

let harness: Harness;
let folder: string;
let healthy: Record<string, string>;

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "doctor-"));
  healthy = { DATA_DIR: folder, PORT: "0", LOCALNET_URL: harness.net.url };
});
afterEach(() => rmSync(folder, { recursive: true }));

const look = (wrong: Record<string, string> = {}) =>
  runDoctor({ ...healthy, ...wrong }, { timeoutMs: 20_000 });
const namesWith = (findings: readonly NamedFinding[], status: NamedFinding["status"]) =>
  findings.filter((finding) => finding.status === status).map(({ name }) => name);
const finding = (findings: readonly NamedFinding[], name: string) =>
  findings.find((one) => one.name === name);

describe("the doctor", { timeout: TIMEOUT_MS }, () => {
  it("reports no fault on a healthy installation", async () => {
    const findings = await look();
    expect([...namesWith(findings, "fail"), ...namesWith(findings, "warn")]).toEqual([]);
    expect(namesWith(findings, "ok")).toEqual([
      "configuration",
      "data directory",
      "port",
      "fullnode",
      "ika",
      "treasury",
      "operator caps",
      "treasury balance",
      "gas",
      "operator limits",
      "treasury announcements",
      "coin prices",
      "clock and chain",
    ]);
    const holders = finding(findings, "treasury holders");
    expect(holders).toMatchObject({ status: "info" });
    expect(holders?.found).toContain(`AdminCap: ${hotWallet.toSuiAddress()}; UpgradeCap: nobody`);
  });

  it("names every fault of the configuration, and skips the checks that depend on it", async () => {
    const findings = await look({ PORT: "many", LOG_LEVEL: "loud", REDIS_URL: `http://:${PASSWORD}@x` });
    expect(namesWith(findings, "fail")).toEqual(["configuration", "configuration", "configuration"]);
    expect(findings.map(({ found }) => found.split(":")[0]).toSorted()).toEqual([
      "LOG_LEVEL",
      "PORT",
      "REDIS_URL",
    ]);
    expect(JSON.stringify(findings)).not.toContain(PASSWORD);
  });

  it.each([
    [
      "a data directory that is a file",
      "data directory",
      (): Record<string, string> => {
        writeFileSync(path.join(folder, "file"), "");
        return { DATA_DIR: path.join(folder, "file") };
      },
    ],
    [
      "a database that does not answer",
      "database",
      () => ({
        DATABASE_URL: `postgresql://me:${PASSWORD}@${NOBODY}/x`,
      }),
    ],
    ["a Redis that does not answer", "redis", () => ({ REDIS_URL: `redis://:${PASSWORD}@${NOBODY}` })],
    [
      "a certificate with a key that is none",
      "certificate",
      () => ({
        TLS_CERT_FILE: CERTIFICATE,
        TLS_KEY_FILE: CERTIFICATE,
      }),
    ],
    [
      "an address that is not this machine's",
      "port",
      () => ({ HOST: "203.0.113.1", PORT: "4321", ALLOW_PUBLIC_PLAINTEXT: "true" }),
    ],
  ])("reports %s, and continues", async (_what, name, wrong) => {
    const findings = await look(wrong());
    expect(namesWith(findings, "fail")).toEqual([name]);
    expect(finding(findings, name)?.advice).toMatch(/\w+ \w+/);
    expect(finding(findings, "fullnode")?.status).toBe("ok");
    expect(JSON.stringify(findings)).not.toContain(PASSWORD);
  });

  it("reports a fullnode that does not answer, and the checks that it therefore skipped", async () => {
    const findings = await look({ LOCALNET_URL: `http://${NOBODY}` });
    expect(namesWith(findings, "fail")).toEqual(["fullnode"]);
    expect(namesWith(findings, "skip")).toEqual(
      expect.arrayContaining(["ika", "treasury", "operator caps", "treasury balance", "gas"]),
    );
  });

  it("gives up on a fullnode that hangs, and reports everything else", async () => {
    const sockets: Socket[] = [];
    const silent = createSilentServer((socket) => void sockets.push(socket)).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const environment = { ...healthy, LOCALNET_URL: `http://127.0.0.1:${port}` };
    const findings = await runDoctor(environment, { timeoutMs: 100 });
    expect(finding(findings, "fullnode")).toMatchObject({ status: "fail", found: "no answer within 100 ms" });
    expect(finding(findings, "data directory")?.status).toBe("ok");
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it("reports another chain, and ids of another network", async () => {
    const { packageId, operatorCapIds } = harness.net.treasury;
    const findings = await look({
      NETWORKS: "testnet",
      SUI_GRPC_URL_TESTNET: harness.net.url,
      SERVICECORE_TESTNET_PACKAGE_ID: packageId,
      SERVICECORE_TESTNET_TREASURY_ID: `0x${"9".repeat(64)}`,
      SERVICECORE_TESTNET_OPERATOR_CAP_IDS: operatorCapIds.join(","),
      HOT_WALLET_SUI_SECRET_HEX: randomBytes(32).toString("hex"),
    });
    expect(namesWith(findings, "fail")).toEqual(["chain", "ika", "treasury"]);
    expect(finding(findings, "chain")?.found).toMatch(
      /^the fullnode does not serve testnet: its chain is \w+$/,
    );
    expect(finding(findings, "treasury")?.found).toContain(`0x${"9".repeat(64)}`);
    expect(findings[0]).toMatchObject({ status: "warn", found: expect.stringContaining("CORS_ORIGINS") });
  });

  it("names the protocol of a fullnode, and the other one if it speaks only that", async () => {
    const { packageId, treasuryId, operatorCapIds } = harness.net.treasury;
    const front = await nativeOnly(harness.net.port);
    const lookAt = async (url: string) => {
      const findings = await look({
        NETWORKS: "testnet",
        SUI_GRPC_URL_TESTNET: url,
        SERVICECORE_TESTNET_PACKAGE_ID: packageId,
        SERVICECORE_TESTNET_TREASURY_ID: treasuryId,
        SERVICECORE_TESTNET_OPERATOR_CAP_IDS: operatorCapIds.join(","),
        HOT_WALLET_SUI_SECRET_HEX: randomBytes(32).toString("hex"),
      });
      return finding(findings, "fullnode");
    };
    expect(await lookAt(`http://${front.host}`)).toMatchObject({
      status: "fail",
      found: `${front.host} does not speak gRPC-web, but native gRPC: begin its URL with grpc://`,
    });
    expect(await lookAt(`grpc://${front.host}`)).toMatchObject({
      status: "ok",
      found: expect.stringContaining(`at ${front.host} (native gRPC), `),
    });
    expect((await lookAt(harness.net.url))?.found).toContain(`:${harness.net.port} (gRPC-web), `);
    front.close();
  });

  it("shows only the host of a fullnode's URL, even if the fullnode fails", async () => {
    const { packageId, treasuryId, operatorCapIds } = harness.net.treasury;
    const url = `http://${NOBODY}/v2/0123456789abcdef0?key=fedcba98`;
    const findings = await look({
      NETWORKS: "testnet",
      SUI_GRPC_URL_TESTNET: url,
      SERVICECORE_TESTNET_PACKAGE_ID: packageId,
      SERVICECORE_TESTNET_TREASURY_ID: treasuryId,
      SERVICECORE_TESTNET_OPERATOR_CAP_IDS: operatorCapIds.join(","),
      HOT_WALLET_SUI_SECRET_HEX: randomBytes(32).toString("hex"),
    });
    expect(finding(findings, "fullnode")?.status).toBe("fail");
    expect(JSON.stringify(findings)).not.toMatch(/0123456789abcdef0|fedcba98/);
  });

  it("refuses the public development key on any other network", async () => {
    const { packageId, treasuryId, operatorCapIds } = harness.net.treasury;
    const findings = await look({
      NETWORKS: "mainnet",
      SUI_GRPC_URL_MAINNET: harness.net.url,
      SERVICECORE_MAINNET_PACKAGE_ID: packageId,
      SERVICECORE_MAINNET_TREASURY_ID: treasuryId,
      SERVICECORE_MAINNET_OPERATOR_CAP_IDS: operatorCapIds.join(","),
      HOT_WALLET_SUI_SECRET_HEX: Buffer.from(localnetHotWalletSecret()).toString("hex"),
    });
    expect(JSON.stringify(findings.filter(({ status }) => status === "fail"))).toMatch(
      /localnet's public one/,
    );
  });

  it("reports a hot wallet that owns neither the caps nor any gas, and counts gas in its address balance", async () => {
    const owner = Ed25519Keypair.fromSecretKey(new Uint8Array(32).fill(0x22)).toSuiAddress();
    const settings = { HOT_WALLET_SUI_SECRET_HEX: "22".repeat(32) };
    const findings = await look(settings);
    expect(namesWith(findings, "fail")).toEqual(["operator caps", "gas"]);
    expect(finding(findings, "operator caps")?.found).toContain(harness.net.treasury.operatorCapIds[0]);
    expect(JSON.stringify(findings)).not.toContain("22".repeat(32));
    await payFunds(harness, owner, 2_000_000_000n);
    const found = `2 SUI of ${owner} for 4 lanes; 2 SUI of it in the address balance`;
    expect(finding(await look(settings), "gas")).toMatchObject({ status: "ok", found });
  });

  it("reports a paused and an empty Treasury", async () => {
    await setPaused(true);
    expect(finding(await look(), "treasury")).toMatchObject({
      status: "fail",
      found: "version 1, paused",
      advice: expect.stringContaining("tss treasury unpause"),
    });
    await setPaused(false);
    await harness.net.controls.setTreasury({ ika: 10n ** 9n, sui: 0n });
    const findings = await look();
    expect(namesWith(findings, "fail")).toEqual(["treasury balance"]);
    expect(finding(findings, "treasury balance")?.found).toBe("1 IKA and 0 SUI, enough for 0 signatures");
    await harness.net.controls.setTreasury({ ika: 10n ** 15n, sui: 10n ** 15n });
  });

  it("reports an operator that expires soon, has used most of a limit or has expired", async () => {
    const [capId = ""] = harness.net.treasury.operatorCapIds;
    const { epoch } = (await harness.client.core.getCurrentSystemState()).systemState;
    const renew = (epochs: number, presigns: number) =>
      harness.run((tx) =>
        administrate(tx, "renew_operator", [
          tx.pure.id(capId),
          ...[Number(epoch) + epochs, 10 ** 12, 10 ** 12, 10, presigns, 10].map((n) => tx.pure.u64(n)),
        ]),
      );
    await renew(7, 5);
    await harness.run((tx) => payPresigns(harness, tx, { capId, count: 4 }));
    expect(finding(await look(), "operator limits")?.status).toBe("ok");
    await renew(6, 5);
    const soon = finding(await look(), "operator limits");
    expect(soon).toMatchObject({ status: "warn", advice: expect.stringContaining("renew-operator") });
    expect(soon?.found).toBe(`${capId.slice(0, 10)} has 6 epochs left and has used 80% of a limit`);
    await renew(7, 5);
    await harness.run((tx) => payPresigns(harness, tx, { capId, count: 1 }));
    expect(finding(await look(), "operator limits")?.found).toContain("has used 100% of a limit");
    await renew(-1, 1_000);
    expect(finding(await look(), "operator limits")).toMatchObject({
      status: "fail",
      found: `expired: ${capId}`,
    });
    await renew(3_650, 1_000_000);
  });

  it("reports the administrator's announcements, and the address to which the administration is offered", async () => {
    const to = `0x${"7".repeat(64)}`;
    await harness.run((tx) => administrate(tx, "announce_successor", [tx.pure.address(to)]));
    await harness.run((tx) => administrate(tx, "offer_admin", [tx.pure.address(to)]));
    const found = finding(await look(), "treasury announcements");
    expect(found).toMatchObject({ status: "warn", advice: expect.stringContaining("tss treasury status") });
    expect(found?.found).toMatch(
      new RegExp(`^the successor ${to} from epoch \\d+; the administration for ${to} from`),
    );
    await harness.run((tx) => administrate(tx, "withdraw_successor"));
    await harness.run((tx) => administrate(tx, "withdraw_admin_offer"));
    expect(finding(await look(), "treasury announcements")?.status).toBe("ok");
  });

  it("reports an expired certificate, and a clock that differs from the chain's", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2199, 0, 1) });
    try {
      const findings = await look({ TLS_CERT_FILE: CERTIFICATE, TLS_KEY_FILE: KEY });
      expect(finding(findings, "certificate")).toMatchObject({ status: "fail" });
      vi.setSystemTime(Date.UTC(2020, 0, 1));
      const past = await look({ TLS_CERT_FILE: CERTIFICATE, TLS_KEY_FILE: KEY });
      expect(finding(past, "certificate")).toMatchObject({ status: "ok" });
    } finally {
      vi.useRealTimers();
    }
  });

  it("distinguishes its own service on the port from another program", async () => {
    const body = JSON.stringify({ status: "ok", uptimeSeconds: 1 });
    const server = createServer((request, reply) => reply.end(request.url === "/v1/health" ? body : ""));
    const other = createServer((_, reply) => reply.end("hello"));
    for (const each of [server, other]) await once(each.listen(0, "127.0.0.1"), "listening");
    const portOf = (listening: typeof server) => String((listening.address() as AddressInfo).port);
    expect(finding(await look({ PORT: portOf(server) }), "port")).toMatchObject({ status: "info" });
    expect(finding(await look({ PORT: portOf(other) }), "port")).toMatchObject({ status: "warn" });
    server.close();
    other.close();
  });
});

describe("Redis's description of itself", () => {
  const info = (version: string, maxmemory: number, policy: string) =>
    `# Server\r\nredis_version:${version}\r\nmaxmemory:${maxmemory}\r\nmaxmemory_policy:${policy}\r\n`;

  it.each([
    [info("7.0.15", 0, "noeviction"), "ok", undefined],
    [info("7.0.15", 1_000_000, "volatile-ttl"), "ok", undefined],
    [info("7.0.15", 1_000_000, "noeviction"), "warn", /volatile-ttl/],
    [info("5.0.3", 0, "noeviction"), "warn", /newer/],
  ])("%j means %s", (text, status, advice) => {
    const finding = checkRedis(text);
    expect(finding.status).toBe(status);
    expect(finding.advice ?? "").toMatch(advice ?? /^$/);
  });
});

function setPaused(isPaused: boolean) {
  return harness.run((tx) => administrate(tx, "set_paused", [tx.pure.bool(isPaused)]));
}

function administrate(tx: Transaction, name: string, args: TransactionArgument[] = []): void {
  harness.treasuryCall(tx, name, args, harness.net.treasury.adminCapId);
}

/** Passes the connections that begin with HTTP/2 on to a port, and ends the others. */
async function nativeOnly(port: number) {
  const sockets: Socket[] = [];
  const front = createSilentServer((socket) => {
    const onward = connect(port, "127.0.0.1");
    for (const end of [socket, onward]) sockets.push(end.on("error", () => {}));
    socket.once("data", (head: Buffer) => {
      if (!head.toString("latin1").startsWith("PRI ")) return void socket.destroy();
      onward.write(head);
      socket.pipe(onward).pipe(socket);
    });
  }).listen(0, "127.0.0.1");
  await once(front, "listening");
  return {
    host: `127.0.0.1:${(front.address() as AddressInfo).port}`,
    close() {
      for (const socket of sockets) socket.destroy();
      front.close();
    },
  };
}

it(
  "the doctor finds that a restored database is behind the chain, before a process with it has started",
  async () => {
    const database = await openTestDatabase();
    try {
      const { url, ikaConfig, treasury } = harness.net;
      const chain = {
        network: () =>
          connectNetwork({
            name: "localnet",
            fullnodeUrl: new Secret(url),
            ikaConfig,
            treasury,
            clock: systemClock,
            hotWalletSecret: new Secret(localnetHotWalletSecret()),
          }),
      };
      const look = (isRunning: boolean) =>
        outboxChecks(
          {
            chain,
            config: { name: "localnet" },
            database: async () => ({ kind: "pglite", db: database }),
          } as unknown as NetworkSubject,
          { isRunning },
        )
          .find(({ name }) => name === "lanes")!
          .look();
      const [laneId] = treasury.operatorCapIds;
      expect(await look(false)).toMatchObject({ status: "ok" });
      // The row of an older copy, whose transactions do not include the cap's last one.
      await addLane(database, "localnet", { objectId: laneId!, version: "0", digest: "d" });
      expect(await look(true)).toMatchObject({ status: "ok" });
      const found = await look(false);
      expect(found).toMatchObject({ status: "fail", advice: expect.stringContaining("tss reconcile") });
      expect(found.found).toContain(`who has used ${laneId}`);
      expect(found.found).toContain("behind the chain");
    } finally {
      await database.close();
    }
  },
  TIMEOUT_MS,
);
