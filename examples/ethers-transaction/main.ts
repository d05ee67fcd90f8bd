/** Signs an Ethereum transaction with ethers. README.md says how to run it. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { parseEther, parseUnits, Transaction } from "ethers";
import { DWalletSigner } from "threshold-signing-service/ethers";
import { Curve, createClient } from "threshold-signing-service/sdk";
import { createWorkerEngine } from "threshold-signing-service/worker";

const { baseUrl, apiKey } = JSON.parse(readFileSync(".data/dev.json", "utf8"));
const client = createClient({ baseUrl, apiKey, network: "localnet", engine: createWorkerEngine() });

const seed = randomBytes(32); // keep it secret: anyone who has it can spend
const { dwallet, sessionDigestHex } = await client.onboard({ seed, curve: Curve.SECP256K1 });
const signer = new DWalletSigner(client, { seed, dwalletId: dwallet.id, sessionDigestHex });
console.log("address", await signer.getAddress());

// With a provider, `sendTransaction` fills in the nonce and the fees, and sends the transaction.
const raw = await signer.signTransaction({
  type: 2,
  chainId: 11_155_111, // Sepolia
  nonce: 0,
  to: "0x00000000000000000000000000000000000000aa",
  value: parseEther("0.01"),
  gasLimit: 21_000,
  maxFeePerGas: parseUnits("30", "gwei"),
  maxPriorityFeePerGas: parseUnits("1", "gwei"),
});

// ethers recovers the sender from the signature.
const { from, hash } = Transaction.from(raw);
console.log("from", from);
console.log("hash", hash);
console.log("transaction", raw);
