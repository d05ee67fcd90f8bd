/** dWallets as signers of other libraries: independent engines accept what they sign. */
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { Transaction as SuiTransaction } from "@mysten/sui/transactions";
import {
  Address,
  Transaction as BitcoinTransaction,
  OutScript,
  p2wpkh,
  TEST_NETWORK,
} from "@scure/btc-signer";
import {
  AccountRole,
  appendTransactionMessageInstruction,
  createTransactionMessage,
  type Instruction,
  address as kitAddress,
  lamports,
  pipe,
  setTransactionMessageFeePayerSigner,
  signTransactionMessageWithSigners,
} from "@solana/kit";
import { JsonRpcProvider } from "ethers";
import { FailedTransactionMetadata, LiteSVM } from "litesvm";
import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  getAddress,
  getContract,
  type Hex,
  http,
  parseEther,
  parseSignature,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Curve, createClient, type TssClient } from "../../src/client/sdk/index.ts";
import { quotePsbt } from "../../src/client/signers/bitcoin/index.ts";
import { DWalletSigner } from "../../src/client/signers/ethers/index.ts";
import type { KnownKey } from "../../src/client/signers/message-signer.ts";
import { createDWalletSolanaSigner } from "../../src/client/signers/solana/index.ts";
import { createDWalletSuiSigner, type SuiKey } from "../../src/client/signers/sui/index.ts";
import {
  createDWalletAccount,
  type DWalletAccount,
  dwalletAccount,
} from "../../src/client/signers/viem/index.ts";
import { hexToBytes } from "../../src/protocol/bytes.ts";
import { solanaAddress, suiAddress } from "../../src/protocol/signatures/addresses.ts";
import { ANVIL_KEY, type Anvil, permitToken, startAnvil } from "../support/chain/anvil.ts";
import { verifyBitcoinInput } from "../support/crypto/bitcoin-verifier.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { atNight } from "../support/environment.ts";
import { guideExamples } from "../support/repository/guide-examples.ts";
import { runExample } from "../support/repository/run-example.ts";
import { bakedFolder } from "../support/service/baked-folder.ts";
import { type ServiceProcess, startService } from "../support/service/service.ts";

const BUCKETS = "SECP256K1/ECDSASecp256k1,SECP256K1/Taproot,SECP256R1/ECDSASecp256r1,ED25519/EdDSA";
const SIGN_PRICE_MICRO_USD = 10_000n;
const FEE_SATS = 10_000n;
const baked = await bakedFolder();
let service: ServiceProcess;
let client: TssClient;
const keys = new Map<Curve, KnownKey>();
let guide: Record<
  "ethereumAddressOf" | "payWithViem" | "payWithEthers" | "signWithSolana" | "payWithSui" | "signWithBitcoin",
  (...args: unknown[]) => Promise<unknown>
>;

beforeAll(async () => {
  // The guide's examples print their results.
  vi.spyOn(console, "log").mockReturnValue();
  service = await startService(baked.folder, { PRESIGN_BUCKETS: BUCKETS });
  const { baseUrl, apiKey, network } = service.access;
  guide = (await guideExamples("docs/sdk.md", "Signers for other libraries")) as typeof guide;
  client = createClient({ baseUrl, apiKey, network });
  for (const curve of ["SECP256K1", "ED25519", "SECP256R1"] as const) {
    const { seed, onboarded } = baked.keys[curve];
    const { dwallet, publicKeyHex, sessionDigestHex } = onboarded;
    keys.set(curve, { seed, dwalletId: dwallet.id, publicKeyHex, sessionDigestHex });
  }
});
afterAll(async () => {
  await service?.stop();
  baked.remove();
});

describe("on an Ethereum node", () => {
  const dev = privateKeyToAccount(ANVIL_KEY);
  const recipient = "0x00000000000000000000000000000000000000aa";
  let anvil: Anvil;
  let account: DWalletAccount;
  const connect = () => {
    const transport = http(anvil.url);
    return {
      reader: createPublicClient({ chain: foundry, transport, pollingInterval: 20 }),
      test: createTestClient({ chain: foundry, transport, mode: "anvil" }),
      relay: createWalletClient({ account: dev, chain: foundry, transport }),
      wallet: createWalletClient({ account, chain: foundry, transport }),
    };
  };

  beforeAll(async () => {
    anvil = await startAnvil();
    account = await createDWalletAccount(client, keys.get("SECP256K1")!);
    await connect().test.setBalance({ address: account.address, value: parseEther("10") });
  });
  afterAll(async () => {
    await anvil?.stop();
  });

  it("viem's account makes one signature, for one charge, with one idempotency key", async () => {
    const transaction = {
      type: "eip1559",
      chainId: foundry.id,
      nonce: 0,
      gas: 21_000n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 1n,
      to: recipient,
      value: 1n,
    } as const;
    const before = await client.balance();
    const once = account.withOptions({ idempotencyKey: "transfer-0" });
    const signed = await once.signTransaction(transaction);
    expect(await once.signTransaction(transaction)).toBe(signed);
    const after = await client.balance();
    expect(before.balanceMicroUsd - after.balanceMicroUsd).toBe(SIGN_PRICE_MICRO_USD);
    const { reader } = connect();
    const hash = await reader.sendRawTransaction({ serializedTransaction: signed });
    expect((await reader.waitForTransactionReceipt({ hash })).status).toBe("success");
  });

  // The unit tests compare these with the libraries' own accounts by day.
  it.each(atNight(["makes two transfers for two requests"], []))("viem's account %s", async () => {
    const { wallet, reader } = connect();
    const before = await reader.getBalance({ address: recipient });
    for (const nonce of [1, 2]) {
      const hash = await wallet.sendTransaction({ to: recipient, value: 5n });
      const receipt = await reader.waitForTransactionReceipt({ hash });
      expect(receipt).toMatchObject({ status: "success", from: account.address.toLowerCase() });
      expect(await reader.getTransaction({ hash })).toMatchObject({ nonce });
    }
    expect(await reader.getBalance({ address: recipient })).toBe(before + 10n);
  });

  it.each(atNight(["signs a permit for one token transfer and no other"], []))(
    "viem's account %s",
    async () => {
      const { reader, relay } = connect();
      const { abi, bytecode } = permitToken();
      const hash = await relay.deployContract({ abi, bytecode, args: [1_000n] });
      const { contractAddress } = await reader.waitForTransactionReceipt({ hash });
      const token = getContract({
        abi,
        address: contractAddress!,
        client: { public: reader, wallet: relay },
      });
      const permit = {
        owner: account.address,
        spender: dev.address,
        value: 7n,
        nonce: 0n,
        deadline: 2n ** 64n,
      };
      // Here the account knows its public key from the start.
      const known = dwalletAccount(client, keys.get("SECP256K1")!);
      const signature = await known.signTypedData({
        domain: {
          name: "Uniswap V2",
          version: "1",
          chainId: foundry.id,
          verifyingContract: contractAddress!,
        },
        types: {
          Permit: [
            { name: "owner", type: "address" },
            { name: "spender", type: "address" },
            { name: "value", type: "uint256" },
            { name: "nonce", type: "uint256" },
            { name: "deadline", type: "uint256" },
          ],
        },
        primaryType: "Permit",
        message: permit,
      });
      const { r, s, v } = parseSignature(signature);
      const { owner, spender, deadline } = permit;
      await expect(token.simulate["permit"]!([owner, spender, 8n, deadline, v, r, s])).rejects.toThrow(
        "INVALID_SIGNATURE",
      );
      const permitted = await token.write["permit"]!([owner, spender, 7n, deadline, v, r, s]);
      expect((await reader.waitForTransactionReceipt({ hash: permitted })).status).toBe("success");
      expect(await token.read["allowance"]!([owner, spender])).toBe(7n);
    },
  );

  it.each(atNight(["delegates to a contract by an authorization that another account sends"], []))(
    "viem's account %s",
    async () => {
      const { reader, relay, wallet } = connect();
      const delegate = "0x00000000000000000000000000000000000000bb";
      const authorization = await wallet.signAuthorization({ contractAddress: delegate });
      const hash = await relay.sendTransaction({ authorizationList: [authorization], to: dev.address });
      expect((await reader.waitForTransactionReceipt({ hash })).status).toBe("success");
      expect(await reader.getCode({ address: account.address })).toBe(`0xef0100${delegate.slice(2)}`);
    },
  );

  it.each(atNight(["signs a message, which viem verifies"], []))("viem's account %s", async () => {
    const message = "hello";
    const signature = await account.signMessage({ message });
    const { reader } = connect();
    expect(await reader.verifyMessage({ address: account.address, message, signature })).toBe(true);
  });

  it("the guide's examples for viem and ethers send the transactions that they describe", async () => {
    const { publicKeyHex: _, ...key } = keys.get("SECP256K1")!;
    expect(await guide.ethereumAddressOf(client, key)).toBe(account.address);
    const { reader } = connect();
    const before = await reader.getBalance({ address: recipient });
    for (const name of ["payWithViem", "payWithEthers"] as const) {
      const hash = (await guide[name](client, key, anvil.url)) as Hex;
      expect((await reader.waitForTransactionReceipt({ hash })).status).toBe("success");
    }
    expect(await reader.getBalance({ address: recipient })).toBe(before + parseEther("0.2"));
  });

  it("the example viem-transfer prints the hash of a transfer that the node knows", async () => {
    const printed = await runExample("viem-transfer", service.access, [anvil.url]);
    const [, hash] = /^hash (0x[0-9a-f]{64}) success$/m.exec(printed) ?? [];
    const { from, value } = await connect().reader.getTransaction({ hash: hash as Hex });
    expect([getAddress(from), value]).toEqual([/^from (\S+)$/m.exec(printed)?.[1], parseEther("1")]);
  });

  it.each(atNight(["transfers, and delegates"], []))("ethers' signer %s", async () => {
    const provider = new JsonRpcProvider(anvil.url, foundry.id, { staticNetwork: true, pollingInterval: 20 });
    try {
      const signer = new DWalletSigner(client, keys.get("SECP256K1")!, provider);
      const to = "0x00000000000000000000000000000000000000cc";
      const sent = await signer.sendTransaction({ to, value: 9n, gasLimit: 21_000n });
      expect(await sent.wait()).toMatchObject({ status: 1, from: account.address });
      expect(await provider.getBalance(to)).toBe(9n);
      const { relay, reader } = connect();
      const { address, chainId, nonce, signature } = await signer.authorize({ address: to });
      const hash = await relay.sendTransaction({
        to: dev.address,
        authorizationList: [
          {
            address: address as `0x${string}`,
            chainId: Number(chainId),
            nonce: Number(nonce),
            r: signature.r as `0x${string}`,
            s: signature.s as `0x${string}`,
            yParity: signature.yParity,
          },
        ],
      });
      expect((await reader.waitForTransactionReceipt({ hash })).status).toBe("success");
      expect(await provider.getCode(account.address)).toBe(`0xef0100${to.slice(2)}`);
    } finally {
      provider.destroy();
    }
  });
});

it("Solana's runtime accepts a transfer, and refuses it with another signature", async () => {
  const signer = await createDWalletSolanaSigner(client, keys.get("ED25519")!);
  const svm = new LiteSVM();
  const recipient = kitAddress(solanaAddress(new Uint8Array(32).fill(9)));
  svm.airdrop(signer.address, lamports(10_000_000_000n));
  const data = new Uint8Array(12);
  new DataView(data.buffer).setUint32(0, 2, true);
  new DataView(data.buffer).setBigUint64(4, 1_000_000_000n, true);
  const transfer: Instruction = {
    programAddress: kitAddress("11111111111111111111111111111111"),
    accounts: [
      { address: signer.address, role: AccountRole.WRITABLE_SIGNER },
      { address: recipient, role: AccountRole.WRITABLE },
    ],
    data,
  };
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayerSigner(signer, empty),
    (paid) => svm.setTransactionMessageLifetimeUsingLatestBlockhash(paid),
    (dated) => appendTransactionMessageInstruction(transfer, dated),
  );
  const signed = await signTransactionMessageWithSigners(message);
  const wrong = Uint8Array.from(signed.signatures[signer.address]!);
  wrong[40]! ^= 1;
  const forged = { ...signed, signatures: { [signer.address]: wrong } } as typeof signed;
  expect(svm.sendTransaction(forged)).toBeInstanceOf(FailedTransactionMetadata);
  expect(svm.sendTransaction(signed)).not.toBeInstanceOf(FailedTransactionMetadata);
  expect(svm.getBalance(recipient)).toBe(1_000_000_000n);
});

// The guide's example signs on ED25519.
it.each(atNight<SuiKey["curve"]>(["ED25519", "SECP256K1", "SECP256R1"], ["SECP256R1"]))(
  "a Sui fullnode accepts a transfer that is signed on %s",
  async (curve) => {
    const { fullnodeUrl } = service.access;
    const sui = new SuiGrpcClient({ network: "localnet", baseUrl: fullnodeUrl, format: "binary" });
    const signer = await createDWalletSuiSigner(client, { ...keys.get(curve)!, curve } satisfies SuiKey);
    const owner = signer.toSuiAddress();
    await fund(fullnodeUrl, owner);
    const recipient = `0x${"5".repeat(63)}${["ED25519", "SECP256K1", "SECP256R1"].indexOf(curve)}`;
    const transaction = new SuiTransaction();
    transaction.transferObjects([transaction.splitCoins(transaction.gas, [77n])[0]!], recipient);
    const result = await signer.signAndExecuteTransaction({ transaction, client: sui });
    expect(result.$kind).toBe("Transaction");
    const { balance } = await sui.core.getBalance({ owner: recipient });
    expect(balance.balance).toBe("77");
  },
);

it("the guide's examples for Solana and Sui sign and pay", async () => {
  const { publicKeyHex, ...key } = keys.get("ED25519")!;
  const publicKey = hexToBytes(publicKeyHex);
  const signature = (await guide.signWithSolana(client, key)) as Uint8Array;
  const message = new TextEncoder().encode("hello");
  expect(
    isValidSignature({ signatureAlgorithm: "EdDSA", hash: "SHA512", publicKey, message, signature }),
  ).toBe(true);
  const { fullnodeUrl } = service.access;
  await fund(fullnodeUrl, suiAddress("ED25519", publicKey));
  expect(await guide.payWithSui(client, key, fullnodeUrl)).toMatch(/^\w{43,44}$/);
});

it("the guide's example for Bitcoin signs a PSBT for the quoted price, by Bitcoin's rules", async () => {
  const key = keys.get("SECP256K1")!;
  // The example below spends an output of each kind, and a Taproot signature takes the least time.
  const { transaction, spent } = spending(key, atNight(["P2WPKH", "P2TR"], ["P2TR"]));
  const quote = await quotePsbt(client, key, transaction.toPSBT());
  expect(quote).toMatchObject({
    priceMicroUsd: BigInt(spent.length) * SIGN_PRICE_MICRO_USD,
    feeSats: FEE_SATS,
  });
  const before = await client.balance();
  const psbt = await guide.signWithBitcoin(client, key, transaction.toPSBT());
  const after = await client.balance();
  expect(before.balanceMicroUsd - after.balanceMicroUsd).toBe(quote.priceMicroUsd);
  expectSpent(psbt as Uint8Array, spent);
});

it("the example bitcoin-psbt prints a transaction that spends both outputs", async () => {
  const printed = await runExample("bitcoin-psbt", service.access);
  const [, first = "", second = ""] = /^addresses (\S+) (\S+)$/m.exec(printed) ?? [];
  const [, hex = ""] = /^transaction ([0-9a-f]+)$/m.exec(printed) ?? [];
  const spent = [first, second].map((address) => ({
    script: OutScript.encode(Address(TEST_NETWORK).decode(address)),
    amountSats: 60_000n,
  }));
  const transaction = BitcoinTransaction.fromRaw(hexToBytes(hex), { allowUnknownInputs: true });
  for (const index of spent.keys()) {
    const witness = transaction.getInput(index).finalScriptWitness!;
    expect(verifyBitcoinInput(hexToBytes(hex), index, witness, spent)).toBe(true);
  }
});

interface SpentOutput {
  readonly script: Uint8Array;
  readonly amountSats: bigint;
}

/** A transaction that spends one output of each of these kinds of a key. */
function spending(
  { publicKeyHex }: KnownKey,
  kinds: readonly ("P2WPKH" | "P2TR")[],
): { transaction: BitcoinTransaction; spent: SpentOutput[] } {
  const publicKey = hexToBytes(publicKeyHex);
  const scripts = {
    P2WPKH: p2wpkh(publicKey).script,
    P2TR: Uint8Array.of(0x51, 32, ...publicKey.subarray(1)),
  };
  const spent = kinds.map((kind) => ({ script: scripts[kind], amountSats: 60_000n }));
  const transaction = new BitcoinTransaction();
  for (const [index, { script, amountSats: amount }] of spent.entries())
    transaction.addInput({ txid: "17".repeat(32), index, witnessUtxo: { script, amount } });
  const total = spent.reduce((sum, { amountSats }) => sum + amountSats, 0n);
  transaction.addOutput({ script: scripts.P2TR, amount: total - FEE_SATS });
  return { transaction, spent };
}

function expectSpent(psbt: Uint8Array, spent: readonly SpentOutput[]): void {
  const signed = BitcoinTransaction.fromPSBT(psbt);
  signed.finalize();
  for (const index of spent.keys()) {
    const witness = signed.getInput(index).finalScriptWitness!;
    expect(verifyBitcoinInput(signed.extract(), index, witness, spent)).toBe(true);
  }
}

async function fund(fullnodeUrl: string, recipient: string): Promise<void> {
  const given = await fetch(new URL("/v2/gas", fullnodeUrl), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ FixedAmountRequest: { recipient } }),
  });
  expect(given.ok).toBe(true);
}
