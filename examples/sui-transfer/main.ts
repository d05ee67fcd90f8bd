/** Sends SUI from a dWallet on the local network. README.md says how to run it. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { requestSuiFromFaucetV2 } from "@mysten/sui/faucet";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { Transaction } from "@mysten/sui/transactions";
import { verifyTransactionSignature } from "@mysten/sui/verify";
import { Curve, createClient } from "threshold-signing-service/sdk";
import { createDWalletSuiSigner } from "threshold-signing-service/sui";
import { createWorkerEngine } from "threshold-signing-service/worker";

const { baseUrl, apiKey, fullnodeUrl } = JSON.parse(readFileSync(".data/dev.json", "utf8"));
const client = createClient({ baseUrl, apiKey, network: "localnet", engine: createWorkerEngine() });

const seed = randomBytes(32); // keep it secret: anyone who has it can spend
const { dwallet, sessionDigestHex } = await client.onboard({ seed, curve: Curve.ED25519 });
const key = { seed, dwalletId: dwallet.id, sessionDigestHex, curve: "ED25519" } as const;
const signer = await createDWalletSuiSigner(client, key);
const owner = signer.toSuiAddress();
console.log("address", owner);

const sui = new SuiGrpcClient({ network: "localnet", baseUrl: fullnodeUrl });
await requestSuiFromFaucetV2({ host: fullnodeUrl, recipient: owner });

const recipient = `0x${"5".repeat(64)}`;
const transaction = new Transaction();
transaction.setSender(owner);
transaction.transferObjects([transaction.splitCoins(transaction.gas, [1_000n])], recipient);
const bytes = await transaction.build({ client: sui });
const { signature } = await signer.signTransaction(bytes);

const publicKey = await verifyTransactionSignature(bytes, signature, { address: owner });
console.log("verified", publicKey.toSuiAddress());
const executed = await sui.executeTransaction({ transaction: bytes, signatures: [signature] });
console.log("digest", executed.Transaction?.digest);
const { balance } = await sui.getBalance({ owner: recipient });
console.log("recipient", balance.balance, "MIST");
