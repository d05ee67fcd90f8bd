/** Pays for a page by x402 with a key of a signer. README.md says how to run it. */
import { readFileSync } from "node:fs";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import type { Hex } from "viem";

const [
  usdc = "",
  shop = "http://127.0.0.1:4021",
  signer = "http://127.0.0.1:8420",
  tokenFile = "signer-token",
] = process.argv.slice(2);
const authorization = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`;

/** Calls the signer, which keeps the key. */
async function callSigner(path: string, body: object): Promise<Record<string, unknown>> {
  const headers = { authorization, "content-type": "application/json" };
  const reply = await fetch(`${signer}/v1/signer/${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(await reply.text());
  return (await reply.json()) as Record<string, unknown>;
}

const key = await callSigner("keys", { name: "agent", curve: "SECP256K1" });
const known = key["addresses"] as { kind: string; address: Hex }[];
const address = known.find(({ kind }) => kind === "ethereum")!.address;
console.log("from", address);
await fetch(`${shop}/faucet?address=${address}`);

const account = {
  address,
  async signTypedData(typedData: object): Promise<Hex> {
    const json = JSON.stringify(typedData, (_, value) => (typeof value === "bigint" ? String(value) : value));
    const { signature } = await callSigner("keys/agent/sign", { evmTypedData: json });
    return `0x${Buffer.from(String(signature), "base64").toString("hex")}`;
  },
};
const network = "eip155:31337";
const pay = wrapFetchWithPaymentFromConfig(fetch, {
  schemes: [{ network, client: new ExactEvmScheme(account) }],
  // The shop names the token and the price, so the payer decides which token, and how much at most.
  spendControls: { allowedAssets: [{ network, asset: usdc, maxAmountPerPayment: "20000" }] },
});
const reply = await pay(`${shop}/page`);
console.log("status", reply.status, await reply.text());
const { transaction } = decodePaymentResponseHeader(reply.headers.get("payment-response") ?? "");
console.log("transaction", transaction);
