/** Sends ether from a dWallet with viem. README.md says how to run it. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { Curve, createClient } from "threshold-signing-service/sdk";
import { createDWalletAccount } from "threshold-signing-service/viem";
import { createWorkerEngine } from "threshold-signing-service/worker";
import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  formatEther,
  http,
  parseEther,
} from "viem";
import { foundry } from "viem/chains";

const { baseUrl, apiKey } = JSON.parse(readFileSync(".data/dev.json", "utf8"));
const client = createClient({ baseUrl, apiKey, network: "localnet", engine: createWorkerEngine() });

const seed = randomBytes(32); // keep it secret: anyone who has it can spend
const { dwallet, sessionDigestHex } = await client.onboard({ seed, curve: Curve.SECP256K1 });
const account = await createDWalletAccount(client, { seed, dwalletId: dwallet.id, sessionDigestHex });
console.log("from", account.address);

const common = { chain: foundry, transport: http(process.argv[2] ?? "http://127.0.0.1:8545") };
const node = createPublicClient(common);
const wallet = createWalletClient({ ...common, account });
// A development node sets any balance on request.
await createTestClient({ ...common, mode: "anvil" }).setBalance({
  address: account.address,
  value: parseEther("10"),
});

const to = "0x00000000000000000000000000000000000000aa";
const hash = await wallet.sendTransaction({ to, value: parseEther("1") });
const { status } = await node.waitForTransactionReceipt({ hash });
console.log("hash", hash, status);
console.log("recipient", formatEther(await node.getBalance({ address: to })));
