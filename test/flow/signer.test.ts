/**
 * A signer as a process beside a real service: keys and signatures over its protocols, and what is left of them when it
 * is killed. Libraries that neither the signer nor the service uses judge the signatures.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { connect } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createClient as createRpcClient,
  type Interceptor,
  type Transport,
} from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport as McpTransport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { toBase64 } from "@mysten/sui/utils";
import { verifyPersonalMessageSignature } from "@mysten/sui/verify";
import { Transaction as BitcoinTransaction, p2wpkh } from "@scure/btc-signer";
import {
  type Address,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  getTransactionEncoder,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from "@solana/kit";
import { Transaction as SpentTransaction } from "bitcoinjs-lib";
import {
  Signature,
  Transaction,
  TypedDataEncoder,
  verifyAuthorization,
  verifyMessage,
  verifyTypedData,
} from "ethers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ErrorInfoSchema } from "../../gen/proto/google/rpc/error_details_pb.ts";
import { type Key, Key_State, Signer } from "../../gen/proto/tss/signer/v1/signer_pb.ts";
import { ReserveSignResponseSchema } from "../../gen/proto/tss/v1/signing_pb.ts";
import { Curve, Hash, SignatureAlgorithm } from "../../gen/proto/tss/v1/types_pb.ts";
import { createClient, LedgerEntryKind, type TssClient } from "../../src/client/sdk/index.ts";
import { passphraseSeal } from "../../src/signer/seals/passphrase-seal.ts";
import { openKeyFile } from "../../src/signer/store/file-key-store.ts";
import { verifyBitcoinInput } from "../support/crypto/bitcoin-verifier.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { ownerOf } from "../support/database/exits.ts";
import { atNight } from "../support/environment.ts";
import { runTss, tssArguments } from "../support/service/service.ts";
import { type SharedService, sharedService } from "../support/service/shared-service.ts";
import { type ServiceProxy, startServiceProxy } from "../support/signer/service-proxy.ts";
import {
  SIGNER_PASSPHRASE,
  SIGNER_TOKEN,
  type SignerFolder,
  type SignerProcess,
  signerFolder,
  startSignerProcess,
} from "../support/signer/signer-process.ts";

const raw = {
  signatureAlgorithm: SignatureAlgorithm.EdDSA,
  hashScheme: Hash.SHA512,
} as const;
let service: SharedService;
let client: TssClient;
let proxy: ServiceProxy;
let files: SignerFolder;
let signer: SignerProcess;
const logs: string[][] = [];

beforeAll(async () => {
  service = await sharedService();
  const { baseUrl, apiKey, network } = service.access;
  client = createClient({ baseUrl, apiKey, network });
  proxy = await startServiceProxy(baseUrl);
  files = await signerFolder();
  await startAgain();
});
afterAll(async () => {
  await signer?.stop();
  await proxy?.close();
  files?.remove();
});

describe("a key and its signatures", () => {
  it("are made over REST with a token, and the service charges once for each", async () => {
    const before = await charges();
    const key = await rest("POST", "/v1/signer/keys", { name: "rest", curve: "ED25519" });
    expect(key).toMatchObject({ status: 200, body: { name: "rest", state: "active", curve: "ED25519" } });
    expect(await rest("GET", "/v1/signer/keys/rest")).toEqual(key);
    const message = Buffer.from("over REST");
    const payload = {
      message: message.toString("base64"),
      signatureAlgorithm: "EdDSA",
      hashScheme: "SHA512",
    };
    const request = { raw: payload, idempotencyKey: "rest-1" };
    const signed = await rest("POST", "/v1/signer/keys/rest/sign", request);
    expect(signed.status).toBe(200);
    expect(await rest("POST", "/v1/signer/keys/rest/sign", request)).toEqual(signed);
    const publicKey = Buffer.from(String(key.body["publicKey"]), "base64");
    const signature = Buffer.from(String(signed.body["signature"]), "base64");
    expect(isSignature(publicKey, message, signature)).toBe(true);
    expect(await charges()).toEqual({ dkg: before.dkg + 1, sign: before.sign + 1 });
  });

  it.each(["gRPC", "Connect"] as const)(
    "are made over %s on the socket without a token",
    async (protocol) => {
      const rpc = createRpcClient(Signer, onSocket(protocol));
      const name = "socket";
      const key = await rpc.createKey({ name, curve: Curve.ED25519 });
      const message = Buffer.from(`over ${protocol}`);
      const { signature } = await rpc.sign({ name, payload: { case: "raw", value: { message, ...raw } } });
      expect(isSignature(key.publicKey!, message, signature)).toBe(true);
    },
  );

  it("are listed in pages, in the order of their names", async () => {
    const rpc = createRpcClient(Signer, onSocket("gRPC"));
    const first = await rpc.listKeys({ pageSize: 1 });
    const second = await rpc.listKeys({ pageSize: 1, pageToken: first.nextPageToken });
    const names = [first, second].map(({ keys }) => keys.map(({ name }) => name));
    expect([...names, second.nextPageToken]).toEqual([["rest"], ["socket"], ""]);
    const foreign = rpc.listKeys({ pageToken: "xyz" });
    expect(await refusalOf(foreign)).toEqual([Code.InvalidArgument, "VALIDATION"]);
  });

  it("are one key and one charge for concurrent calls with one name", async () => {
    const before = await charges();
    const rpc = createRpcClient(Signer, onSocket("Connect"));
    const made = await Promise.all(
      [1, 2, 3].map(() => rpc.createKey({ name: "same", curve: Curve.ED25519 })),
    );
    made.push(await rpc.createKey({ name: "same", curve: Curve.ED25519 }));
    expect(new Set(made.map(({ dwalletId }) => dwalletId)).size).toBe(1);
    expect(await charges()).toEqual({ ...before, dkg: before.dkg + 1 });
    const other = rpc.createKey({ name: "same", curve: Curve.SECP256K1 });
    expect(await refusalOf(other)).toEqual([Code.AlreadyExists, "KEY_CURVE_DIFFERS"]);
  });

  it("are one signature and one charge for concurrent calls with one idempotency key", async () => {
    const before = await charges();
    const rpc = createRpcClient(Signer, onSocket("gRPC"));
    const payload = { case: "raw" as const, value: { message: Buffer.from("once"), ...raw } };
    const request = { name: "same", payload, idempotencyKey: "once" };
    const made = await Promise.all([1, 2, 3].map(() => rpc.sign(request)));
    expect(new Set(made.map(({ signature }) => hex(signature))).size).toBe(1);
    expect(await charges()).toEqual({ ...before, sign: before.sign + 1 });
    const other = { ...payload, value: { ...payload.value, message: Buffer.from("another") } };
    const reused = rpc.sign({ ...request, payload: other });
    expect(await refusalOf(reused)).toEqual([Code.AlreadyExists, "IDEMPOTENCY_KEY_REUSED"]);
  });

  const addressOf = (key: Key, kind: string) => key.addresses.find((one) => one.kind === kind)!.address;

  it("are Sui's, Solana's and Bitcoin's, which those libraries accept", async () => {
    const rpc = createRpcClient(Signer, onSocket("gRPC"));
    const ed25519 = await rpc.getKey({ name: "same" });
    const secp256k1 = await rpc.createKey({ name: "ethereum", curve: Curve.SECP256K1 });
    const text = Buffer.from("hello");
    const sui = await rpc.sign({ name: "same", payload: { case: "suiMessage", value: text } });
    const signer = await verifyPersonalMessageSignature(text, toBase64(sui.signature));
    expect(signer.toSuiAddress()).toBe(addressOf(ed25519, "sui"));

    const payer = addressOf(ed25519, "solana") as Address;
    const message = setTransactionMessageFeePayer(payer, createTransactionMessage({ version: 0 }));
    const blockhash = addressOf(ed25519, "solana") as unknown as Blockhash;
    const lifetime = { blockhash, lastValidBlockHeight: 1n };
    const unsigned = compileTransaction(setTransactionMessageLifetimeUsingBlockhash(lifetime, message));
    const octets = Uint8Array.from(getTransactionEncoder().encode(unsigned));
    const solana = await rpc.sign({ name: "same", payload: { case: "solanaTransaction", value: octets } });
    expect(solana.signedSolanaTransaction).toEqual(
      Uint8Array.of(1, ...solana.signature, ...unsigned.messageBytes),
    );
    expect(isSignature(ed25519.publicKey!, Uint8Array.from(unsigned.messageBytes), solana.signature)).toBe(
      true,
    );

    const { script } = p2wpkh(secp256k1.publicKey!);
    const spend = new BitcoinTransaction();
    spend.addInput({ txid: "17".repeat(32), index: 0, witnessUtxo: { script, amount: 1000n } });
    spend.addOutput({ script, amount: 900n });
    const psbt = spend.toPSBT();
    const bitcoin = await rpc.sign({ name: "ethereum", payload: { case: "bitcoinPsbt", value: psbt } });
    const [input] = SpentTransaction.fromBuffer(Buffer.from(bitcoin.bitcoinTransaction)).ins;
    const spent = [{ script, amountSats: 1000n }];
    expect(verifyBitcoinInput(bitcoin.bitcoinTransaction, 0, input!.witness, spent)).toBe(true);
    expect(bitcoin.psbtSignRequestIds).toEqual([bitcoin.signRequestId]);
  });

  // By day, an agent's transaction, the unit tests of payloads and the signer as an Ethereum node have these.
  it.each(atNight(["a message, typed data, a transaction and an authorization"], []))(
    "are Ethereum's: %s, which ethers accepts",
    async () => {
      const rpc = createRpcClient(Signer, onSocket("gRPC"));
      const name = "ethereum";
      const address = addressOf(await rpc.createKey({ name, curve: Curve.SECP256K1 }), "ethereum");
      const message = await rpc.sign({ name, payload: { case: "evmMessage", value: Buffer.from("hello") } });
      expect(verifyMessage("hello", hex(message.signature))).toBe(address);
      const domain = { name: "Mail", version: "1", chainId: 1 };
      const types = {
        Mail: [
          { name: "to", type: "address" },
          { name: "text", type: "string" },
        ],
      };
      const mail = { to: address, text: "hi" };
      const json = JSON.stringify(TypedDataEncoder.getPayload(domain, types, mail));
      const typed = await rpc.sign({ name, payload: { case: "evmTypedData", value: json } });
      expect(verifyTypedData(domain, types, mail, hex(typed.signature))).toBe(address);
      const unsigned = Transaction.from({
        type: 2,
        chainId: 5,
        to: address,
        value: 7,
        nonce: 0,
        gasLimit: 21_000,
      });
      const octets = Buffer.from(unsigned.unsignedSerialized.slice(2), "hex");
      const { signedEvmTransaction } = await rpc.sign({
        name,
        payload: { case: "evmTransaction", value: octets },
      });
      const signed = Transaction.from(hex(signedEvmTransaction));
      expect([signed.from, signed.unsignedSerialized]).toEqual([address, unsigned.unsignedSerialized]);
      const contract = "0x00000000000000000000000000000000000000aa";
      const authorization = { chainId: 1n, nonce: 0n, address: Buffer.from(contract.slice(2), "hex") };
      const { signature } = await rpc.sign({
        name: "ethereum",
        payload: { case: "evmAuthorization", value: authorization },
      });
      const [r, s] = [hex(signature.subarray(0, 32)), hex(signature.subarray(32, 64))];
      const parts = Signature.from({ r, s, yParity: signature[64] as 0 | 1 });
      expect(verifyAuthorization({ ...authorization, address: contract }, parts)).toBe(address);
    },
  );

  it.each(["gRPC", "Connect"] as const)(
    "tell their stages over %s, and end with the result",
    async (protocol) => {
      const rpc = createRpcClient(Signer, onSocket(protocol));
      const made = await collect(rpc.streamCreateKey({ name: `staged-${protocol}`, curve: Curve.ED25519 }));
      expect(made.slice(0, -1).map(({ event }) => event.case === "stage" && event.value.name)).toEqual(
        expect.arrayContaining(["network", "keys", "dkg", "activate"]),
      );
      const key = made.at(-1)!.event;
      if (key.case !== "key") throw new Error("the stream ends without the key");
      const message = Buffer.from("staged");
      const payload = { case: "raw" as const, value: { message, ...raw } };
      const events = await collect(rpc.streamSign({ name: key.value.name, payload }));
      const names = events.slice(0, -1).map(({ event }) => event.case === "stage" && event.value.name);
      expect(names.filter((name) => name === "reserve" || name === "submit" || name === "verify")).toEqual([
        "reserve",
        "submit",
        "verify",
      ]);
      const { event } = events.at(-1)!;
      if (event.case !== "signed") throw new Error("the stream ends without the signature");
      expect(isSignature(key.value.publicKey!, message, event.value.signature)).toBe(true);
    },
  );

  it("tell their stages as server-sent events, and end with a failure by its reason", async () => {
    const headers = {
      authorization: `Bearer ${SIGNER_TOKEN}`,
      "content-type": "application/json",
      accept: "text/event-stream",
    };
    const payload = { message: "eA==", signatureAlgorithm: "EdDSA", hashScheme: "SHA512" };
    const body = JSON.stringify({ raw: payload });
    const stream = (name: string) =>
      fetch(`${signer.url}/v1/signer/keys/${name}/sign/stream`, { method: "POST", headers, body });
    const reply = await stream("same");
    expect(reply.headers.get("content-type")).toContain("text/event-stream");
    const events = await reply.text();
    expect(events).toMatch(/data: \{"stage":\{"name":"reserve".*data: \{"signed":\{"signature":"/s);
    expect(await (await stream("unknown")).text()).toContain("KEY_NOT_FOUND");
  });

  it("are made many at a time, and a failed one does not affect the others", async () => {
    const rpc = createRpcClient(Signer, onSocket("Connect"));
    const key = await rpc.getKey({ name: "same" });
    const messages = [1, 2, 3].map((count) => Buffer.from(`message ${count}`));
    const requests = messages.map((message) => ({
      name: "same",
      payload: { case: "raw" as const, value: { message, ...raw } },
    }));
    const { results } = await rpc.signMany({ requests: [...requests, { ...requests[0]!, name: "unknown" }] });
    for (const [index, message] of messages.entries()) {
      const { result } = results[index]!;
      if (result.case !== "signed") throw new Error("a signature is missing");
      expect(isSignature(key.publicKey!, message, result.value.signature)).toBe(true);
    }
    expect(results[3]?.result).toMatchObject({ case: "failure", value: { reason: "KEY_NOT_FOUND" } });
  });
});

describe("an agent over the Model Context Protocol", () => {
  const receiver = "0x00000000000000000000000000000000000000aa";
  const payload = (value: bigint) =>
    Transaction.from({ type: 2, chainId: 5, to: receiver, value, nonce: 0, gasLimit: 21_000 })
      .unsignedSerialized;
  const args = (...more: string[]) => [
    "signer",
    "mcp",
    "--ledger",
    path.join(files.folder, "ledger"),
    ...more,
  ];
  const limits = ["--allow-sign", "ethereum", "--per-hour", "1", "--max-wei", "10"];

  it("reads, explains and gets bounded signatures over standard input, also when its host starts it again", async () => {
    const address = await (async () => {
      const { addresses } = await createRpcClient(Signer, onSocket("gRPC")).getKey({ name: "ethereum" });
      return addresses.find(({ kind }) => kind === "ethereum")!.address;
    })();
    const over = async <T>(use: (client: Client) => Promise<T>) => {
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: tssArguments(args(...limits)),
        env: { ...getDefaultEnvironment(), SIGNER_SOCKET: files.socket },
        stderr: "pipe",
      });
      const lines: string[] = [];
      transport.stderr!.on("data", (chunk) => lines.push(String(chunk)));
      logs.push(lines);
      const client = new Client({ name: "test", version: "1" });
      await client.connect(transport);
      try {
        return await use(client);
      } finally {
        await client.close();
      }
    };
    const sign = { key: "ethereum", kind: "evm_transaction", payload: payload(7n) };
    await over(async (client) => {
      const { keys } = await callTool(client, "list_keys", {});
      expect(keys).toContainEqual(expect.objectContaining({ name: "ethereum", may_sign: true }));
      expect(keys).toContainEqual(expect.objectContaining({ name: "same", may_sign: false }));
      expect(await callTool(client, "request_signature", { ...sign, key: "same" })).toMatchObject({
        reason: "KEY_NOT_ALLOWED",
      });
      expect(await callTool(client, "request_signature", { ...sign, payload: payload(11n) })).toMatchObject({
        reason: "LIMIT_EXCEEDED",
      });
      const all = await Promise.all([1, 2, 3].map(() => callTool(client, "request_signature", sign)));
      const [made = {}, ...others] = all.sort((a, b) => Number("reason" in a) - Number("reason" in b));
      expect(others.map(({ reason }) => reason)).toEqual(["TOO_MANY_SIGNATURES", "TOO_MANY_SIGNATURES"]);
      const { signed_transaction: octets } = made["signed"] as { signed_transaction: string };
      expect(Transaction.from(octets)).toMatchObject({ from: address, value: 7n });
      expect(JSON.stringify(made["explanation"])).toContain("7 wei");
    });
    await over(async (client) => {
      expect(await callTool(client, "request_signature", sign)).toMatchObject({
        reason: "TOO_MANY_SIGNATURES",
      });
    });
  });

  it("only reads over HTTP by default, and the log has no token", async () => {
    const token = path.join(files.folder, "agents-token");
    writeFileSync(token, "a".repeat(16) + "b".repeat(16), { mode: 0o600 });
    const child = runTss(
      args(
        ...["--listen-port", "0", "--listen-token-file", token],
        ...["--url", signer.url, "--token-file", path.join(files.folder, "secrets/token")],
      ),
      {},
    );
    const lines: string[] = [];
    logs.push(lines);
    child.stderr!.on("data", (chunk) => lines.push(String(chunk)));
    const exited = once(child, "exit");
    const [first] = (await once(createInterface({ input: child.stdout! }), "line")) as [string];
    const url = new URL(first.replace("ready at ", ""));
    const headers = { authorization: `Bearer ${readFileSync(token, "utf8")}` };
    const client = new Client({ name: "test", version: "1" });
    await client.connect(
      new StreamableHTTPClientTransport(url, { requestInit: { headers } }) as McpTransport,
    );
    const { addresses } = await callTool(client, "get_addresses", { key: "ethereum" });
    expect(addresses).toContainEqual(expect.objectContaining({ kind: "ethereum" }));
    const sign = { key: "ethereum", kind: "evm_transaction", payload: payload(1n) };
    expect(await callTool(client, "request_signature", sign)).toMatchObject({ reason: "KEY_NOT_ALLOWED" });
    await client.close();
    child.kill("SIGTERM");
    expect((await exited)[0]).toBe(0);
    expect(lines.join("")).toContain('"outcome":"KEY_NOT_ALLOWED"');
    expect(lines.join("")).not.toContain("aaaa");
  });
});

describe("a signer that is killed", () => {
  it.each(
    atNight(
      ["registerEncryptionKey", "createDWallet", "acceptDWallet"].flatMap((method) => [
        [method, "before"] as const,
        [method, "after"] as const,
      ]),
      [["acceptDWallet", "after"] as const],
    ),
  )(
    "at %s of an onboarding, %s the service gets it, makes the same key for one charge",
    async (method, when) => {
      const before = await charges();
      const name = `killed-${when}-${method}`;
      await killAt(method, when, () => create(name));
      const kept = await seedOf(name);
      const key = await create(name);
      expect(await seedOf(name)).toEqual(kept);
      expect(await charges()).toEqual({ ...before, dkg: before.dkg + 1 });
      await signs(key);
    },
  );

  it.each(atNight(["reserveSign", "submitSign"], ["submitSign"]))(
    "at %s of a signature returns it for one charge when the call is repeated",
    async (method) => {
      const key = await create("same");
      const before = await charges();
      const message = Buffer.from(`killed at ${method}`);
      const request = {
        name: key.name,
        payload: { case: "raw" as const, value: { message, ...raw } },
        idempotencyKey: `payment-${method}`,
      };
      await killAt(method, "after", () => createRpcClient(Signer, onSocket("Connect")).sign(request));
      const { signature } = await createRpcClient(Signer, onSocket("Connect")).sign(request);
      expect(isSignature(key.publicKey!, message, signature)).toBe(true);
      expect(await charges()).toEqual({ ...before, sign: before.sign + 1 });
    },
  );
});

describe("a signer does not trust the service", () => {
  it("and returns no signature if the service offers another presign", async () => {
    const key = await create("same");
    proxy.atNext("ReserveSign", async ({ pass }) => {
      const reply = await pass();
      const reserved = fromBinary(ReserveSignResponseSchema, reply.body);
      reserved.presign[reserved.presign.length - 1]! ^= 1;
      return { ...reply, body: toBinary(ReserveSignResponseSchema, reserved) };
    });
    const message = Buffer.from("x");
    const call = createRpcClient(Signer, onSocket("Connect")).sign({
      name: key.name,
      payload: { case: "raw", value: { message, ...raw } },
    });
    expect(await refusalOf(call)).toEqual([Code.FailedPrecondition, "PRESIGN_MISMATCH"]);
  });

  it("and passes on no text with the API key, which the service knows", async () => {
    await create("same");
    proxy.atNext("ReserveSign", async ({ headers }) => {
      const message = `your key is ${headers.authorization}, ${service.access.apiKey}`;
      const body = Buffer.from(JSON.stringify({ code: "failed_precondition", message }));
      return { status: 400, headers: { "content-type": "application/json" }, body };
    });
    const call = createRpcClient(Signer, onSocket("Connect")).sign({
      name: "same",
      payload: { case: "raw", value: { message: Buffer.from("x"), ...raw } },
    });
    const error = ConnectError.from(await call.catch((cause: unknown) => cause));
    expect(error.rawMessage).toContain("your key is ");
    expect(JSON.stringify([error.rawMessage, error.details])).not.toContain(service.access.apiKey);
  });
});

describe("a caller", () => {
  it.each([
    [undefined, "MISSING_TOKEN"],
    ["Bearer wrong", "INVALID_TOKEN"],
    [`Bearer ${SIGNER_TOKEN}0`, "INVALID_TOKEN"],
  ])("of the port with the header %s gets %s", async (authorization, reason) => {
    for (const path of ["/v1/signer/keys", "/metrics"]) {
      const reply = await fetch(signer.url + path, { headers: authorization ? { authorization } : {} });
      expect(reply.status).toBe(401);
      expect(await reply.text()).toContain(reason);
    }
  });

  it("of the port over gRPC needs the token too", async () => {
    const rpc = createRpcClient(Signer, createGrpcTransport({ baseUrl: signer.url }));
    expect(await refusalOf(rpc.listKeys({}))).toEqual([Code.Unauthenticated, "MISSING_TOKEN"]);
    const headers = { authorization: `Bearer ${SIGNER_TOKEN}` };
    expect(await rpc.getKey({ name: "same" }, { headers })).toMatchObject({ name: "same" });
  });

  it("of another user cannot connect to the socket", () => {
    expect(statSync(files.socket).mode & 0o777).toBe(0o600);
  });

  it.each([
    ["keys", { name: "../x", curve: "ED25519" }, "name"],
    ["keys", { name: "x", curve: "CURVE_UNSPECIFIED" }, "curve"],
    ["keys", { name: "x", curve: "ED25519", userReference: "" }, "user_reference"],
    ["keys/same/sign", { idempotencyKey: "with a space", evmMessage: "eA==" }, "idempotency_key"],
    ["keys/same/sign", { idempotencyKey: "x" }, "payload"],
    [
      "keys/same/sign",
      { raw: { message: "", signatureAlgorithm: "EdDSA", hashScheme: "SHA512" } },
      "raw.message",
    ],
    [
      "keys/same/sign",
      { raw: { message: "eA==", signatureAlgorithm: "Taproot", hashScheme: "SHA256" } },
      "raw.signature_algorithm",
    ],
    ["keys/same/sign", { evmMessage: "eA==" }, "evm_message"],
    ["keys/ethereum/sign", { evmTypedData: "{}" }, "evm_typed_data"],
    ["keys/ethereum/sign", { evmTransaction: "AQ==" }, "evm_transaction"],
  ])("of %s with %j gets an error that names %s", async (path, body, field) => {
    const reply = await rest("POST", `/v1/signer/${path}`, body);
    expect(reply.status).toBe(400);
    expect(JSON.stringify(reply.body)).toContain(`"field":"${field}"`);
    expect(JSON.stringify(reply.body)).not.toMatch(/regex|\^\[/);
  });

  it("finds the number of keys and signatures in the metrics", async () => {
    const [reply] = await once(get({ socketPath: files.socket, path: "/metrics" }), "response");
    const metrics = await text(reply);
    expect(metrics).toMatch(/^service_signer_keys [1-9]\d*$/m);
    expect(metrics).toMatch(/^service_signer_signatures_total\{outcome="signed"\} [1-9]\d*$/m);
  });
});

describe("a key that its owner takes out", () => {
  const owner = Ed25519Keypair.generate();
  const seedFile = () => path.join(files.folder, "leaving.seed");
  /** Runs a command beside the running signer. */
  const run = async (argv: readonly string[], more: Record<string, string> = {}, stop?: Promise<unknown>) => {
    const settings = files.environment({ ...service.access, baseUrl: proxy.url });
    const child = runTss(argv, { ...settings, ...more });
    void stop?.then(() => child.kill("SIGKILL"));
    const output = [text(child.stdout!), text(child.stderr!), once(child, "exit")] as const;
    const [out, err, [code]] = await Promise.all(output);
    logs.push([out, err]);
    return { out, err, code: code as number | null };
  };
  const leave = (name: string, ...more: string[]) =>
    ["signer", "leave", name, "--to", owner.toSuiAddress(), "--confirm", name, ...more] as const;
  /** The owner of a capability on the chain, which the output of a command names. */
  const ownerIn = async (out: string) => {
    const [, capability = ""] = /^capability +(0x\w{64})$/m.exec(out) ?? [];
    const chain = new SuiGrpcClient({ network: "localnet", baseUrl: service.access.fullnodeUrl });
    return await ownerOf({ client: chain }, capability);
  };

  it("leaves once, also if the command is killed, and then signs nothing any more", async () => {
    const key = await create("staged-gRPC");
    await signs(key);
    const killed = new Promise<void>((resolve) => {
      proxy.atNext("LeaveDWallet", async ({ pass }) => {
        await pass();
        resolve();
        return await new Promise(() => {});
      });
    });
    const first = await run(leave("staged-gRPC"), {}, killed);
    expect([first.code, first.out]).toEqual([null, ""]);
    // It was written before the service heard of the exit.
    const line = first.err.split("\n").find((each) => each.includes('"audit":"leave"'));
    expect(JSON.parse(line!)).toMatchObject({ dwalletId: key.dwalletId, recipient: owner.toSuiAddress() });
    const again = await run(leave("staged-gRPC"));
    expect([again.code, again.out]).toEqual([
      0,
      expect.stringMatching(/^transaction +[1-9A-HJ-NP-Za-km-z]{43,44}$/m),
    ]);
    expect(await ownerIn(again.out)).toBe(owner.toSuiAddress());
    expect(await refusalOf(signs(key))).toEqual([Code.FailedPrecondition, "DWALLET_LEFT"]);
    const elsewhere = [
      ...leave("staged-gRPC").slice(0, 3),
      "--to",
      `0x${"e".repeat(64)}`,
      "--confirm",
      "staged-gRPC",
    ];
    expect(await run(elsewhere)).toMatchObject({ code: 1, err: expect.stringContaining("DWALLET_LEFT") });
  });

  it("has its seed in a file, from which its share is recovered without the service", async () => {
    const { dwalletId = "" } = await createRpcClient(Signer, onSocket("Connect")).getKey({
      name: "staged-gRPC",
    });
    const { code, out } = await run(["signer", "export", "staged-gRPC", "--out", seedFile()]);
    const [, digest = ""] = /^session digest +([0-9a-f]{64})$/m.exec(out) ?? [];
    expect([code, statSync(seedFile()).mode & 0o777]).toEqual([0, 0o600]);
    expect(`0x${readFileSync(seedFile(), "utf8")}`).toBe(`${await seedOf("staged-gRPC")}\n`);
    const share = path.join(files.folder, "leaving.share");
    const named = ["--seed-file", seedFile(), "--dwallet", dwalletId, "--curve", "ED25519", "--out", share];
    const chain = ["--network", "localnet", "--fullnode-url", service.access.fullnodeUrl];
    const recovered = await run(["recover", ...named, ...chain, "--session-digest", digest]);
    expect([recovered.code, readFileSync(share, "utf8")]).toEqual([
      0,
      expect.stringMatching(/^[0-9a-f]{64,}\n$/),
    ]);
  });

  it("leaves past a service that does not answer, with a key that pays for the gas", async () => {
    await create("staged-Connect");
    const { treasuryId } = await client.raw.onboarding.getNetwork({});
    const { fullnodeUrl } = service.access;
    const body = JSON.stringify({ FixedAmountRequest: { recipient: owner.toSuiAddress() } });
    const headers = { "content-type": "application/json" };
    expect((await fetch(new URL("/v2/gas", fullnodeUrl), { method: "POST", headers, body })).ok).toBe(true);
    const gas = path.join(files.folder, "gas.key");
    writeFileSync(gas, owner.getSecretKey(), { mode: 0o600 });
    const chain = { SIGNER_FULLNODE_URLS: fullnodeUrl, SIGNER_TREASURY_ID: treasuryId };
    const argv = leave("staged-Connect", "--key-file", gas);
    const left = await run(argv, { ...chain, SIGNER_SERVICE_URL: "http://127.0.0.1:1" });
    expect(left).toMatchObject({ code: 0, err: expect.stringContaining('"audit":"leave"') });
    expect(await ownerIn(left.out)).toBe(owner.toSuiAddress());
    const calls = proxy.calls.filter((method) => method === "LeaveDWallet").length;
    expect((await run(argv, chain)).out).toBe(left.out);
    expect(proxy.calls.filter((method) => method === "LeaveDWallet")).toHaveLength(calls);
  });
});

it("the log has what was signed for which call, and no log has a seed or another secret", async () => {
  const key = await create("same");
  const message = Buffer.from("for the audit");
  const rpc = createRpcClient(Signer, onSocket("Connect"));
  const payload = { case: "raw" as const, value: { message, ...raw } };
  const headers = { "x-request-id": "audited-call" };
  await rpc.sign({ name: key.name, payload, idempotencyKey: "audited-1" }, { headers });
  const lines = signer.log.filter((line) => line.includes('"audit":"sign"') && line.includes("audited-call"));
  const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(parsed.map(({ outcome }) => outcome)).toEqual(["requested", "signed"]);
  for (const line of parsed)
    expect(line).toMatchObject({
      keyName: "same",
      signatureAlgorithm: "EdDSA",
      messageSha256: createHash("sha256").update(message).digest("hex"),
      idempotencyKey: "audited-1",
    });
  const all = logs.flat().join("\n");
  expect(logs.length).toBeGreaterThan(3);
  const { keys } = await openKeyFile(readFileSync(files.keyFile), passphraseSeal(SIGNER_PASSPHRASE));
  const secrets = [SIGNER_TOKEN, SIGNER_PASSPHRASE, service.access.apiKey];
  for (const { seed } of keys) secrets.push(hex(seed).slice(2), Buffer.from(seed).toString("base64"));
  expect(secrets.filter((secret) => all.includes(secret))).toEqual([]);
});

it("a signer stops cleanly, removes its socket, and has the keys when it starts again", async () => {
  expect(await signer.stop()).toBe(0);
  expect(statSync(files.socket, { throwIfNoEntry: false })).toBeUndefined();
  await startAgain();
  const key = await createRpcClient(Signer, onSocket("Connect")).getKey({ name: "same" });
  expect(key.state).toBe(Key_State.active);
});

describe("a signer with nothing but a master seed", () => {
  const master = "5eed".repeat(16);
  let environment: Record<string, string>;
  let own: SignerProcess;
  beforeAll(async () => {
    const file = path.join(files.folder, "callers.json");
    writeCallers(["derived"]);
    const { SIGNER_PASSPHRASE_FILE: _, SIGNER_TOKEN_FILE: __, ...common } = files.environment(service.access);
    environment = {
      ...common,
      SIGNER_STORE: "memory",
      SIGNER_MASTER_SEED_HEX: master,
      SIGNER_SOCKET: "off",
      SIGNER_ACCESS_FILE: file,
    };
    own = await startSignerProcess(environment);
    logs.push(own.log as string[]);
  });
  afterAll(() => own.stop());

  it("makes the same key again for no charge after all is lost, and signs with it", async () => {
    const before = await charges();
    const first = await make("derived", "user-7");
    expect(first).toMatchObject({ name: "derived", userReference: "user-7", state: Key_State.active });
    await own.kill();
    own = await startSignerProcess(environment);
    logs.push(own.log as string[]);
    expect((await rpc().listKeys({})).keys).toEqual([]);
    const again = await make("derived", "user-7");
    expect({ ...again, createTime: undefined }).toEqual({ ...first, createTime: undefined });
    expect(await charges()).toEqual({ ...before, dkg: before.dkg + 1 });
    const message = Buffer.from("after the loss");
    const { signature } = await rpc().sign({
      name: "derived",
      payload: { case: "raw", value: { message, ...raw } },
    });
    expect(isSignature(first.publicKey!, message, signature)).toBe(true);
    const found: string[] = [];
    for await (const { dwalletId } of client.listDWallets({ name: "derived", userReference: "user-7" }))
      found.push(dwalletId);
    expect(found).toEqual([first.dwalletId]);
    expect(logs.flat().join("\n")).not.toContain(master);
  });

  // By day, keys.test.ts has the refusal, and resume.test.ts that the service makes it.
  it.each(atNight(["pays for nothing, and names the field"], []))("of another seed %s", async () => {
    const before = await charges();
    const other = await startSignerProcess({ ...environment, SIGNER_MASTER_SEED_HEX: "0123".repeat(16) });
    const made = rpc(other).createKey({ name: "derived", curve: Curve.ED25519, userReference: "user-7" });
    expect(await refusalOf(made)).toEqual([Code.InvalidArgument, "VALIDATION"]);
    expect(await charges()).toEqual(before);
    await other.stop();
  });

  it("reads its callers again when it gets SIGHUP", async () => {
    await rpc().getKey({ name: "derived" });
    writeCallers(["another"]);
    await own.reload("the file of callers is read again");
    expect(await refusalOf(rpc().getKey({ name: "derived" }))).toEqual([
      Code.PermissionDenied,
      "CALLER_NOT_ALLOWED",
    ]);
  });

  function rpc(to = own) {
    const bearer: Interceptor = (next) => (request) => {
      request.header.set("authorization", `Bearer ${SIGNER_TOKEN}`);
      return next(request);
    };
    return createRpcClient(Signer, createGrpcTransport({ baseUrl: to.url, interceptors: [bearer] }));
  }

  function make(name: string, userReference: string): Promise<Key> {
    return rpc().createKey({ name, curve: Curve.ED25519, userReference });
  }

  function writeCallers(keys: readonly string[]): void {
    const tokenSha256 = createHash("sha256").update(SIGNER_TOKEN).digest("hex");
    const callers = [{ name: "backend", tokenSha256, keys, createKeys: true }];
    writeFileSync(path.join(files.folder, "callers.json"), JSON.stringify({ callers }), { mode: 0o644 });
  }
});

async function startAgain(): Promise<void> {
  signer = await startSignerProcess(files.environment({ ...service.access, baseUrl: proxy.url }));
  logs.push(signer.log as string[]);
}

/**
 * Makes a call, and kills the signer when it calls a method of the service: before the service gets that call, or after
 * the service has answered it. Then starts the signer again.
 */
async function killAt(method: string, when: "before" | "after", call: () => Promise<unknown>): Promise<void> {
  const name = method[0]!.toUpperCase() + method.slice(1);
  const killed = new Promise<void>((resolve) => {
    proxy.atNext(name.replace("Dwallet", "DWallet"), async ({ pass }) => {
      if (when === "after") await pass();
      await signer.kill();
      resolve();
      return undefined;
    });
  });
  const ended = await call().then(
    () => "succeeded",
    () => "failed",
  );
  expect(ended).toBe("failed");
  await killed;
  await startAgain();
}

function create(name: string): Promise<Key> {
  return createRpcClient(Signer, onSocket("Connect")).createKey({ name, curve: Curve.ED25519 });
}

async function signs({ name, publicKey }: Key): Promise<void> {
  const message = Buffer.from(`signed by ${name}`);
  const rpc = createRpcClient(Signer, onSocket("Connect"));
  const { signature } = await rpc.sign({ name, payload: { case: "raw", value: { message, ...raw } } });
  expect(isSignature(publicKey!, message, signature)).toBe(true);
}

async function seedOf(name: string): Promise<string> {
  const { keys } = await openKeyFile(readFileSync(files.keyFile), passphraseSeal(SIGNER_PASSPHRASE));
  const seed = keys.find((key) => key.name === name)?.seed;
  if (seed === undefined) throw new Error(`the key file has no seed of ${name}`);
  return hex(seed);
}

function onSocket(protocol: "gRPC" | "Connect"): Transport {
  const baseUrl = "http://localhost";
  return protocol === "gRPC"
    ? createGrpcTransport({ baseUrl, nodeOptions: { createConnection: () => connect(files.socket) } })
    : createConnectTransport({ baseUrl, httpVersion: "1.1", nodeOptions: { socketPath: files.socket } });
}

async function rest(method: string, path: string, body?: object) {
  const reply = await fetch(signer.url + path, {
    method,
    headers: { authorization: `Bearer ${SIGNER_TOKEN}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
}

async function refusalOf(call: Promise<unknown>): Promise<readonly [Code, string | undefined]> {
  const error = ConnectError.from(
    await call.then(
      () => new Error("not refused"),
      (cause: unknown) => cause,
    ),
  );
  return [error.code, error.findDetails(ErrorInfoSchema)[0]?.reason];
}

/** Counts the project's charges of each kind, less the refunded ones. */
async function charges(): Promise<{ readonly dkg: number; readonly sign: number }> {
  const counts = new Map<unknown, number>();
  for await (const { kind } of client.listLedgerEntries()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const of = (kind: unknown) => counts.get(kind) ?? 0;
  return {
    dkg: of(LedgerEntryKind.dkg) - of(LedgerEntryKind.dkg_refund),
    sign: of(LedgerEntryKind.sign) - of(LedgerEntryKind.refund),
  };
}

function isSignature(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  return isValidSignature({ signatureAlgorithm: "EdDSA", hash: "SHA512", publicKey, message, signature });
}

function hex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString("hex")}`;
}

/** Calls a tool, and reads the JSON of its result. */
async function callTool(
  client: Client,
  name: string,
  given: Record<string, unknown>,
): Promise<Readonly<Record<string, unknown>>> {
  const { content } = await client.callTool({ name, arguments: given }, undefined, { timeout: 600_000 });
  const [{ text: json }] = content as [{ text: string }];
  return JSON.parse(json) as Record<string, unknown>;
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
