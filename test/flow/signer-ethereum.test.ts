/** A signer as the Ethereum node of viem and ethers: a real node judges what it signs. */
import { FetchRequest, JsonRpcProvider, verifyMessage, verifyTypedData } from "ethers";
import { createPublicClient, createTestClient, createWalletClient, type Hex, http, parseEther } from "viem";
import { foundry } from "viem/chains";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient, LedgerEntryKind } from "../../src/client/sdk/index.ts";
import { type Anvil, startAnvil } from "../support/chain/anvil.ts";
import { bakedFolder } from "../support/service/baked-folder.ts";
import { type ServiceProcess, startService } from "../support/service/service.ts";
import {
  SIGNER_TOKEN,
  type SignerFolder,
  type SignerProcess,
  signerFolder,
  startSignerProcess,
} from "../support/signer/signer-process.ts";

const recipient = "0x00000000000000000000000000000000000000aa";
const authorization = `Bearer ${SIGNER_TOKEN}`;
const baked = await bakedFolder();
let service: ServiceProcess;
let anvil: Anvil;
let files: SignerFolder;
let signer: SignerProcess;
let url: string;
let address: Hex;

beforeAll(async () => {
  service = await startService(baked.folder, { PRESIGN_BUCKETS: "SECP256K1/ECDSASecp256k1" });
  anvil = await startAnvil();
  files = await signerFolder();
  signer = await startSignerProcess({
    ...files.environment(service.access),
    SIGNER_ETHEREUM_CHAIN_ID: String(foundry.id),
    SIGNER_ETHEREUM_URL: anvil.url,
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
  await service?.stop();
  files?.remove();
  baked.remove();
});

const transport = () => http(url, { fetchOptions: { headers: { authorization } }, timeout: 180_000 });
const wallet = () => createWalletClient({ chain: foundry, transport: transport() });
const reader = () => createPublicClient({ chain: foundry, transport: transport(), pollingInterval: 20 });

describe("through a signer", () => {
  it("viem sends transactions at once, which the node executes in the order of their nonces", async () => {
    const hashes = await Promise.all(
      [1n, 2n].map((value) => wallet().sendTransaction({ account: address, to: recipient, value })),
    );
    const nonces: number[] = [];
    for (const hash of hashes) {
      const receipt = await reader().waitForTransactionReceipt({ hash });
      expect(receipt).toMatchObject({ status: "success", from: address.toLowerCase() });
      nonces.push((await reader().getTransaction({ hash })).nonce);
    }
    expect(nonces.sort()).toEqual([0, 1]);
    expect(await reader().getBalance({ address: recipient })).toBe(3n);
  });

  it("ethers sends a transaction, and signs a message and typed data for one charge each", async () => {
    const request = new FetchRequest(url);
    request.setHeader("authorization", authorization);
    const provider = new JsonRpcProvider(request, foundry.id, { staticNetwork: true, pollingInterval: 20 });
    try {
      const account = await provider.getSigner(0);
      expect(account.address).toBe(address);
      const sent = await account.sendTransaction({ to: recipient, value: 4n });
      expect(await sent.wait()).toMatchObject({ status: 1, from: address });
      const before = await signCharges();
      const signature = await account.signMessage("hello");
      expect(verifyMessage("hello", signature)).toBe(address);
      expect(await account.signMessage("hello")).toBe(signature);
      const [domain, types] = [
        { name: "x", chainId: foundry.id },
        { Mail: [{ name: "to", type: "address" }] },
      ];
      const typed = await account.signTypedData(domain, types, { to: recipient });
      expect(verifyTypedData(domain, types, { to: recipient }, typed)).toBe(address);
      expect((await signCharges()) - before).toBe(2);
    } finally {
      provider.destroy();
    }
  });

  it("nothing is answered without the token, and the log has no address of the node", async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_accounts", params: [] });
    const headers = { "content-type": "application/json" };
    expect((await fetch(url, { method: "POST", headers, body })).status).toBe(401);
    expect(signer.log.join("\n")).not.toContain(anvil.url);
  });
});

async function signCharges(): Promise<number> {
  const { baseUrl, apiKey, network } = service.access;
  let count = 0;
  for await (const { kind } of createClient({ baseUrl, apiKey, network }).listLedgerEntries())
    if ((kind as unknown) === LedgerEntryKind.sign) count++;
  return count;
}
