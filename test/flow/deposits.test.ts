/** Coins that are sent with the Sui SDK to a service in a separate process, which is killed in between. */
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Localnet, startLocalnet } from "../../src/localnet/localnet.ts";
import { fundedPayer, type Payer } from "../support/database/deposits.ts";
import { migratedFolder } from "../support/database/migrated-folder.ts";
import { pollUntil } from "../support/poll-until.ts";
import { type ServiceProcess, startService } from "../support/service/service.ts";
import { createCheapMpc } from "../unit/localnet/cheap-mpc.ts";

interface DepositAddress {
  address: string;
  coins: { coinType: string; symbol: string; priceUsd: string }[];
}
interface Deposit {
  state: string;
  txDigest: string;
  coinType: string;
  credit?: { priceUsd: string; valueMicroUsd: string };
}

const folder = await migratedFolder();
let localnet: Localnet;
let service: ServiceProcess;
let payer: Payer;
let target: DepositAddress;

beforeAll(async () => {
  localnet = await startLocalnet({ mpc: createCheapMpc() });
  await start("SUI=3.50,IKA=0.02");
  target = await call<DepositAddress>("/v1/billing/deposit-address");
  const client = new SuiGrpcClient({ network: "localnet", baseUrl: localnet.url, format: "binary" });
  payer = await fundedPayer(
    client,
    localnet.url,
    target.coins.find(({ symbol }) => symbol === "IKA")!.coinType,
  );
});
afterAll(async () => {
  await service?.stop();
  await localnet?.close();
  folder.remove();
});

async function start(prices: string): Promise<void> {
  service = await startService(folder.folder, {
    LOCALNET_URL: localnet.url,
    PRESIGN_BUCKETS: "ED25519/EdDSA",
    BILLING_USD_PRICES: prices,
    BILLING_DEPOSIT_POLL_SECONDS: "1",
  });
}

async function call<T>(path: string, body?: object): Promise<T> {
  const response = await fetch(new URL(path, service.access.baseUrl), {
    headers: { authorization: `Bearer ${service.access.apiKey}`, "content-type": "application/json" },
    ...(body && { method: "POST", body: JSON.stringify(body) }),
  });
  const reply = await response.json();
  if (!response.ok) throw new Error(`${path}: ${JSON.stringify(reply)}`);
  return reply as T;
}

const balance = async () =>
  BigInt((await call<{ balanceMicroUsd: string }>("/v1/billing/balance")).balanceMicroUsd);
const listed = async () => (await call<{ deposits: Deposit[] }>("/v1/billing/deposits")).deposits;

describe("a deposit of SUI and IKA on the localnet", () => {
  it("is credited once, even if it is declared ten times at once, the service is killed and the price changes", async () => {
    const before = await balance();
    const txDigest = await payer.pay(target.address, { sui: 2_000_000_000n, ika: 50_000_000_000n });
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => call<{ deposits: Deposit[] }>("/v1/billing/deposits", { txDigest })),
    );
    await service.crash();
    for (const reply of replies) expect(reply).toEqual(replies[0]);
    expect(replies[0]?.deposits.map(({ credit }) => credit?.valueMicroUsd).sort()).toEqual([
      "1000000",
      "7000000",
    ]);

    // A payment that is not declared arrives while the service is down, and is credited at the later price.
    const undeclared = await payer.pay(target.address, { sui: 1_000_000_000n, ika: 0n });
    await start("SUI=7,IKA=0.02");
    const again = await call<{ deposits: Deposit[] }>("/v1/billing/deposits", { txDigest });
    expect(again).toEqual(replies[0]);
    await credited(undeclared);
    expect(await balance()).toBe(before + 15_000_000n);
    expect(await listed()).toHaveLength(3);
  });
});

/** Polls like a client until the list shows this deposit as credited. */
async function credited(txDigest: string): Promise<void> {
  const isCredited = async () =>
    (await listed()).some((deposit) => deposit.txDigest === txDigest && deposit.state === "credited");
  await pollUntil(isCredited, { timeoutMs: 600_000, intervalMs: 200 });
}
