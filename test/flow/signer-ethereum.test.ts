/**
 * A signer as the Ethereum node of viem and ethers, and as the external signer of geth: a real node judges what it
 * signs.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import {
  FetchRequest,
  hexlify,
  IpcSocketProvider,
  JsonRpcProvider,
  toUtf8Bytes,
  verifyMessage,
  verifyTypedData,
} from "ethers";
import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  type Hex,
  http,
  parseAbi,
  parseEther,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient, LedgerEntryKind } from "../../src/client/sdk/index.ts";
import { type Anvil, startAnvil } from "../support/chain/anvil.ts";
import { atNight } from "../support/environment.ts";
import { runExample } from "../support/repository/run-example.ts";
import { ROOT } from "../support/repository/source-files.ts";
import { type SharedService, sharedService } from "../support/service/shared-service.ts";
import {
  SIGNER_TOKEN,
  type SignerFolder,
  type SignerProcess,
  signerFolder,
  startSignerProcess,
} from "../support/signer/signer-process.ts";

const recipient = "0x00000000000000000000000000000000000000aa";
const authorization = `Bearer ${SIGNER_TOKEN}`;
let service: SharedService;
let anvil: Anvil;
let files: SignerFolder;
let signer: SignerProcess;
let url: string;
let address: Hex;

beforeAll(async () => {
  service = await sharedService();
  anvil = await startAnvil();
  files = await signerFolder();
  signer = await startSignerProcess({
    ...files.environment(service.access),
    SIGNER_ETHEREUM_CHAIN_ID: String(foundry.id),
    SIGNER_ETHEREUM_URL: anvil.url,
    SIGNER_ETHEREUM_SOCKET: ipcPath(),
  });
  url = `${signer.url}/v1/signer/ethereum`;
  const made = await fetch(`${signer.url}/v1/signer/keys`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({ name: "payouts", curve: "SECP256K1" }),
  });
  expect(made.status).toBe(200);
  [address] = (await wallet().getAddresses()) as [Hex];
  const test = createTestClient({ chain: foundry, transport: http(anvil.url), mode: "anvil" });
  await test.setBalance({ address, value: parseEther("10") });
});
afterAll(async () => {
  await signer?.stop();
  await anvil?.stop();
  files?.remove();
});

const ipcPath = () => path.join(files.folder, "ethereum.ipc");
const transport = () => http(url, { fetchOptions: { headers: { authorization } }, timeout: 600_000 });
const wallet = () => createWalletClient({ chain: foundry, transport: transport() });
const reader = () => createPublicClient({ chain: foundry, transport: transport(), pollingInterval: 20 });

describe("through a signer", () => {
  it("viem sends a transfer and a delegation (EIP-7702) at once, which the node executes one after the other", async () => {
    const authority = privateKeyToAccount(generatePrivateKey());
    const delegate = "0x00000000000000000000000000000000000000bb";
    const delegation = await authority.signAuthorization({
      address: delegate,
      chainId: foundry.id,
      nonce: 0,
    });
    const hashes = await Promise.all(
      [{ to: recipient, value: 3n } as const, { to: authority.address, authorizationList: [delegation] }].map(
        (given) => wallet().sendTransaction({ account: address, ...given }),
      ),
    );
    const nonces: number[] = [];
    for (const hash of hashes) {
      const receipt = await reader().waitForTransactionReceipt({ hash });
      expect(receipt).toMatchObject({ status: "success", from: address.toLowerCase() });
      nonces.push((await reader().getTransaction({ hash })).nonce);
    }
    expect(nonces.sort()).toEqual([0, 1]);
    expect(await reader().getBalance({ address: recipient })).toBe(3n);
    const code = await reader().getCode({ address: authority.address });
    expect(code).toBe(`0xef0100${delegate.slice(2)}`);
  });

  it("ethers signs a message for one charge, also if it asks twice", async () => {
    const request = new FetchRequest(url);
    request.setHeader("authorization", authorization);
    const provider = new JsonRpcProvider(request, foundry.id, { staticNetwork: true, pollingInterval: 20 });
    try {
      const account = await provider.getSigner(0);
      expect(account.address).toBe(address);
      const before = await signCharges();
      const signature = await account.signMessage("hello");
      expect(verifyMessage("hello", signature)).toBe(address);
      expect(await account.signMessage("hello")).toBe(signature);
      expect((await signCharges()) - before).toBe(1);
    } finally {
      provider.destroy();
    }
  });

  // By day, the unit tests of payloads and the token's contract below judge typed data.
  it.each(atNight(["typed data"], []))("ethers signs %s", async () => {
    const request = new FetchRequest(url);
    request.setHeader("authorization", authorization);
    const provider = new JsonRpcProvider(request, foundry.id, { staticNetwork: true, pollingInterval: 20 });
    try {
      const account = await provider.getSigner(0);
      const [domain, types] = [
        { name: "x", chainId: foundry.id },
        { Mail: [{ name: "to", type: "address" }] },
      ];
      const typed = await account.signTypedData(domain, types, { to: recipient });
      expect(verifyTypedData(domain, types, { to: recipient }, typed)).toBe(address);
    } finally {
      provider.destroy();
    }
  });

  it("ethers sends a transaction over the Unix socket", async () => {
    const provider = new IpcSocketProvider(ipcPath(), foundry.id, {
      staticNetwork: true,
      pollingInterval: 20,
    });
    try {
      const account = await provider.getSigner(0);
      const sent = await account.sendTransaction({ to: recipient, value: 5n });
      expect(await sent.wait()).toMatchObject({ status: 1, from: address });
    } finally {
      provider.destroy();
    }
  });

  it("geth's calls of an external signer get an account, a text's signature and a transaction to send", async () => {
    const nonce = await reader().getTransactionCount({ address });
    // As geth 1.14 encodes its calls, with what it does not know as null.
    const transaction = {
      ...{ from: address, to: recipient, gas: "0x5208", gasPrice: null, maxFeePerGas: "0x77359400" },
      ...{ maxPriorityFeePerGas: "0x1", value: "0x6", nonce: `0x${nonce.toString(16)}`, input: "0x" },
      ...{ accessList: [], chainId: "0x7a69" },
    };
    const calls: [string, unknown[]?][] = [
      ["account_version"],
      ["account_list"],
      ["account_signData", ["text/plain", address, hexlify(toUtf8Bytes("hello"))]],
      ["account_signTransaction", [transaction]],
    ];
    const socket = connect(ipcPath());
    for (const [id, [method, params]] of calls.entries())
      socket.write(JSON.stringify({ jsonrpc: "2.0", id, method, ...(params && { params }) }));
    socket.end();
    const replies = (await text(socket))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as RpcReply);
    const [version, list, signature, signed] = replies
      .sort((a, b) => a.id - b.id)
      .map(({ result }) => result);
    expect([version, list]).toEqual(["6.1.0", [address]]);
    expect(verifyMessage("hello", String(signature))).toBe(address);
    const { raw, tx } = signed as { readonly raw: Hex; readonly tx: { readonly hash: Hex } };
    const hash = await createPublicClient({ transport: http(anvil.url) }).sendRawTransaction({
      serializedTransaction: raw,
    });
    expect(hash).toBe(tx.hash);
    expect(await reader().waitForTransactionReceipt({ hash })).toMatchObject({ status: "success" });
  });

  it("the example pays by x402 for a page, and the token's contract accepts the authorization once", async () => {
    const program = path.join(ROOT, "examples/x402-payment/server.ts");
    const shop = spawn(process.execPath, ["--import", "tsx", program, anvil.url, "0"], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(shop, "exit");
    try {
      const [token, place] = await new Promise<[Hex, string]>((resolve, reject) => {
        let found: Hex;
        createInterface({ input: shop.stdout }).on("line", (line) => {
          const [, name, value] = /^(token|ready at) (\S+)$/.exec(line) ?? [];
          if (name === "token") found = value as Hex;
          else if (name === "ready at") resolve([found, value!]);
        });
        void exited.then(([code]) => reject(new Error(`the shop ended with ${code}`)));
      });
      const tokenFile = path.join(files.folder, "secrets/token");
      const out = await runExample("x402-payment", {}, [token, place, signer.url, tokenFile]);
      const [, payer, hash] =
        /^from (0x\w{40})\nstatus 200 the page that you paid for\ntransaction (0x\w{64})\n$/.exec(
          out,
        ) as unknown as [string, Hex, Hex];
      const receipt = await reader().getTransactionReceipt({ hash });
      expect(receipt).toMatchObject({ status: "success", to: token.toLowerCase() });
      const balanceOf = (account: Hex) =>
        reader().readContract({
          address: token,
          abi: parseAbi(["function balanceOf(address) view returns (uint256)"]),
          functionName: "balanceOf",
          args: [account],
        });
      expect([await balanceOf(payer), await balanceOf(recipient)]).toEqual([990_000n, 10_000n]);
      // Whoever has the authorization cannot use it again.
      const { input } = await reader().getTransaction({ hash });
      await expect(reader().call({ to: token, data: input })).rejects.toThrow("authorization is used");
    } finally {
      shop.kill("SIGTERM");
      await exited;
    }
  });

  it("nothing is answered without the token, and the log has no address of the node", async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_accounts", params: [] });
    const headers = { "content-type": "application/json" };
    expect((await fetch(url, { method: "POST", headers, body })).status).toBe(401);
    expect(signer.log.join("\n")).not.toContain(anvil.url);
  });
});

interface RpcReply {
  readonly id: number;
  readonly result: unknown;
}

async function signCharges(): Promise<number> {
  const { baseUrl, apiKey, network } = service.access;
  let count = 0;
  for await (const { kind } of createClient({ baseUrl, apiKey, network }).listLedgerEntries())
    if ((kind as unknown) === LedgerEntryKind.sign) count++;
  return count;
}
