/** A shop that sells a page for x402, with its own facilitator, on a local Ethereum node. README.md says how to run it. */
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { x402Facilitator } from "@x402/core/facilitator";
import {
  decodePaymentSignatureHeader,
  encodePaymentRequiredHeader,
  encodePaymentResponseHeader,
} from "@x402/core/http";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import { createWalletClient, type Hex, http, isAddress, parseAbi, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";

// The first account of every development node pays the gas, makes the token and gives it away.
const account = privateKeyToAccount("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
const transport = http(process.argv[2] ?? "http://127.0.0.1:8545");
const wallet = createWalletClient({ account, chain: foundry, transport, pollingInterval: 50 }).extend(
  publicActions,
);
const abi = parseAbi([
  "constructor(uint256 supply)",
  "function transfer(address to, uint256 value) returns (bool)",
]);
const bytecode = readFileSync(path.join(import.meta.dirname, "token.hex"), "utf8").trim() as Hex;
const deployed = await wallet.waitForTransactionReceipt({
  hash: await wallet.deployContract({ abi, bytecode, args: [1_000_000_000n] }),
});
const token = deployed.contractAddress!;

const facilitator = new x402Facilitator();
const evm = toFacilitatorEvmSigner({ ...wallet, address: account.address } as never);
facilitator.register("eip155:31337", new ExactEvmScheme(evm));

const price = {
  scheme: "exact",
  network: "eip155:31337",
  amount: "10000", // 0.01 of a token with 6 decimals
  asset: token,
  payTo: "0x00000000000000000000000000000000000000aa",
  maxTimeoutSeconds: 300,
  extra: { name: "Test USDC", version: "2" },
} as const;

const server = createServer((request, reply) => {
  answer(request, reply).catch((error: unknown) => {
    console.error(error);
    reply.writeHead(400).end();
  });
});
server.listen(Number(process.argv[3] ?? 4021), "127.0.0.1", () => {
  console.log(`token ${token}`);
  console.log(`ready at http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

async function answer(request: IncomingMessage, reply: ServerResponse): Promise<unknown> {
  const { pathname, searchParams } = new URL(request.url!, "http://localhost");
  const address = searchParams.get("address");
  // A test token costs nothing.
  if (pathname === "/faucet" && address !== null && isAddress(address)) {
    const hash = await wallet.writeContract({
      address: token,
      abi,
      functionName: "transfer",
      args: [address, 1_000_000n],
    });
    await wallet.waitForTransactionReceipt({ hash });
    return reply.end();
  }
  const sent = request.headers["payment-signature"];
  if (typeof sent !== "string") {
    const resource = {
      url: `http://${request.headers.host}/page`,
      description: "a page",
      mimeType: "text/plain",
    };
    const required = encodePaymentRequiredHeader({ x402Version: 2, resource, accepts: [price] });
    return reply.writeHead(402, { "payment-required": required }).end("{}");
  }
  // The shop compares with its own price: the payer could write another one into the payment.
  const payment = decodePaymentSignatureHeader(sent);
  const { isValid, invalidReason } = await facilitator.verify(payment, price);
  if (!isValid) return reply.writeHead(402).end(JSON.stringify({ error: invalidReason }));
  const settled = await facilitator.settle(payment, price);
  if (!settled.success) return reply.writeHead(402).end(JSON.stringify({ error: settled.errorReason }));
  return reply
    .writeHead(200, { "payment-response": encodePaymentResponseHeader(settled) })
    .end("the page that you paid for");
}
