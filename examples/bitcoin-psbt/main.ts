/** Signs a PSBT with a dWallet. README.md says how to run it. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { Address, OutScript, TEST_NETWORK, Transaction } from "@scure/btc-signer";
import {
  bitcoinP2trAddress,
  bitcoinP2wpkhAddress,
  quotePsbt,
  signPsbt,
} from "threshold-signing-service/bitcoin";
import { Curve, createClient } from "threshold-signing-service/sdk";
import { createWorkerEngine } from "threshold-signing-service/worker";

const { baseUrl, apiKey } = JSON.parse(readFileSync(".data/dev.json", "utf8"));
const client = createClient({ baseUrl, apiKey, network: "localnet", engine: createWorkerEngine() });

const seed = randomBytes(32); // keep it secret: anyone who has it can spend
const { dwallet, publicKeyHex, sessionDigestHex } = await client.onboard({ seed, curve: Curve.SECP256K1 });
const key = { seed, dwalletId: dwallet.id, sessionDigestHex };
const publicKey = Buffer.from(publicKeyHex, "hex");
const addresses = [bitcoinP2wpkhAddress(publicKey, "tb"), bitcoinP2trAddress(publicKey, "tb")];
console.log("addresses", ...addresses);

// A wallet reads the outputs of these addresses from the chain; here they are made up.
const transaction = new Transaction();
for (const [index, address] of addresses.entries()) {
  const script = OutScript.encode(Address(TEST_NETWORK).decode(address));
  transaction.addInput({ txid: "17".repeat(32), index, witnessUtxo: { script, amount: 60_000n } });
}
transaction.addOutputAddress(addresses[0]!, 119_000n, TEST_NETWORK);
const psbt = transaction.toPSBT();

const { inputs, priceMicroUsd, feeSats } = await quotePsbt(client, key, psbt);
console.log(`${inputs.length} signatures for ${priceMicroUsd} micro-USD, a fee of ${feeSats} satoshis`);
const signed = Transaction.fromPSBT(await signPsbt(client, key, psbt, { maxPriceMicroUsd: priceMicroUsd }));
signed.finalize();
console.log("transaction", signed.hex);
