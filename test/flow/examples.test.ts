/** The guide's examples and the programs of `examples/`, each run unchanged against one service. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { fromBase58 } from "@mysten/sui/utils";
import { encodeAddress } from "@polkadot/util-crypto";
import { parseTransaction, recoverTransactionAddress, type TransactionSerializedEIP1559 } from "viem";
import { beforeAll, describe, expect, it, vi } from "vitest";
import {
  createClient,
  type OnboardResult,
  type SignArgs,
  type TssClient,
} from "../../src/client/sdk/index.ts";
import { findTriple } from "../../src/protocol/algorithms.ts";
import { runProgram } from "../interop/run-program.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { programMissing } from "../support/environment.ts";
import { guideExamples, type Substitutes } from "../support/repository/guide-examples.ts";
import { runExample } from "../support/repository/run-example.ts";
import { ROOT } from "../support/repository/source-files.ts";
import { type SharedService, sharedService } from "../support/service/shared-service.ts";

const ECDSA = findTriple("SECP256K1", "ECDSASecp256k1", "KECCAK256")!;
const ECDSA_NAMES = {
  curve: "SECP256K1",
  signatureAlgorithm: "ECDSASecp256k1",
  hashScheme: "KECCAK256",
} as const;
const EDDSA = findTriple("ED25519", "EdDSA", "SHA512")!;
const PATIENT = { timeoutMs: 300_000 };
const seed = globalThis.crypto.getRandomValues(new Uint8Array(32));
const python = await pythonWithCodeGenerators();
let service: SharedService;
let client: TssClient;
let key: OnboardResult;

type Guide = Record<string, (...args: unknown[]) => Promise<unknown>>;
const guide = async (section: string, substitutes?: Substitutes) =>
  (await guideExamples("docs/sdk.md", section, substitutes)) as Guide;

beforeAll(async () => {
  // The guide's examples print their results.
  vi.spyOn(console, "log").mockReturnValue();
  service = await sharedService();
  const { baseUrl, apiKey, network } = service.access;
  client = createClient({ baseUrl, apiKey, network });
  const { makeKey } = await guide("Make a key");
  key = (await makeKey!(client, seed)) as OnboardResult;
});

describe("an example of the guide", () => {
  const keyArgs = () => ({ seed, dwalletId: key.dwallet.id, sessionDigestHex: key.sessionDigestHex });
  const isSigned = (message: string, signature: Uint8Array) => {
    const publicKey = Buffer.from(key.publicKeyHex, "hex");
    return isValidSignature({ ...ECDSA, publicKey, message: new TextEncoder().encode(message), signature });
  };

  it("makes a key with a name, and finds it again", async () => {
    const { treasuryAddress } = await guide("Make a key");
    const address = await treasuryAddress!(client, seed);
    expect(address).toMatch(/^0x[0-9a-fA-F]{40}$/);
    expect(await treasuryAddress!(client, seed)).toBe(address);
    expect(key.addresses.map((known) => known.address)).not.toContain(address);
  });

  it("signs a text", async () => {
    const { signText } = await guide("Sign");
    const signature = (await signText!(client, keyArgs(), "hi")) as Uint8Array;
    expect(isSigned("hi", signature)).toBe(true);
  });

  it("recovers the share", async () => {
    const { recover } = await guide("Recover the share");
    expect(await recover!(client, seed, key.dwallet.id)).toBe(key.userSecretKeyShareHex);
  });

  it("signs for one charge even if the first attempt is interrupted", async () => {
    const { signPatiently } = await guide("Interrupted actions");
    const before = await client.balance();
    const { curve, signatureAlgorithm, hash: hashScheme } = ECDSA;
    const message = new TextEncoder().encode("patience");
    const args: SignArgs = { ...keyArgs(), curve, signatureAlgorithm, hashScheme, message };
    let isFirst = true;
    const impatient: TssClient = {
      ...client,
      sign(given) {
        const abort = new AbortController();
        const onProgress = (stage: string) => {
          if (isFirst && stage === "submit") abort.abort();
        };
        return client.sign(given, { onProgress, signal: abort.signal }).finally(() => {
          isFirst = false;
        });
      },
    };
    const { signature } = (await signPatiently!(impatient, args)) as { signature: Uint8Array };
    expect(isFirst).toBe(false);
    expect(isSigned("patience", signature)).toBe(true);
    const { signPriceMicroUsd } = await client.prices();
    const after = await client.balance();
    expect(before.balanceMicroUsd - after.balanceMicroUsd).toBe(signPriceMicroUsd);
  });

  it("makes one key, even if it runs several times with its saved token", async () => {
    const { makeKeyForSure } = await guide("Interrupted actions");
    const tokens = new Map<string, string>();
    const made = (await makeKeyForSure!(client, seed, tokens)) as OnboardResult;
    const again = (await makeKeyForSure!(client, seed, tokens)) as OnboardResult;
    expect(again).toMatchObject({ kind: "onboard", dwallet: made.dwallet });
  });

  it("reports on the project, and follows a request to its end", async () => {
    const { report, follow } = await guide("Read what the service knows");
    const lines = (await report!(client)) as string[];
    expect(lines[0]).toMatch(/^\d+ micro-USD may be spent$/);
    expect(lines).toContain(`${key.dwallet.id} SECP256K1`);
    expect(await follow!(client, lines.at(-1))).toBe(true);
  });

  it("opens an account with a working key", async () => {
    const { openAccount } = await guide("Operators");
    const { baseUrl, adminApiKey, network } = service.access;
    const apiKey = (await openAccount!(baseUrl, adminApiKey, "a shop")) as string;
    const shop = createClient({ baseUrl, apiKey, network });
    const names: string[] = [];
    for await (const { dwalletId } of shop.listDWallets()) names.push(dwalletId);
    expect(names).toEqual([]);
    await expect(shop.balance()).rejects.toMatchObject({ reason: "SCOPE_MISSING" });
  });

  it("computes on its own worker, and closes it", async () => {
    const { baseUrl, apiKey } = service.access;
    const made: unknown = await guide("Engines", { "http://127.0.0.1:3000": baseUrl, "tss_local_…": apiKey });
    const { client: working, engine } = made as { client: TssClient; engine: { close(): Promise<void> } };
    const message = new TextEncoder().encode("from a worker");
    const { signature } = await working.sign({ ...keyArgs(), ...ECDSA_NAMES, message });
    expect(isSigned("from a worker", signature)).toBe(true);
    await engine.close();
    await expect(working.sign({ ...keyArgs(), ...ECDSA_NAMES, message })).rejects.toThrow();
  });

  it("makes a key in the code of a page", async () => {
    const { baseUrl } = service.access;
    const { makeKey } = await guide("Browsers", { "http://127.0.0.1:3000": baseUrl });
    const session = () =>
      client.sessions.create({ userReference: "page", scopes: ["onboard", "sign", "read"] });
    const dwalletId = await makeKey!(globalThis.crypto.getRandomValues(new Uint8Array(32)), session);
    expect(dwalletId).toMatch(/^0x[0-9a-f]{64}$/);
  });

  it("gives a user a session, whose client acts for that user until the sessions end", async () => {
    const { baseUrl } = service.access;
    const { beginSession, openClient, endSessions } = await guide("Sessions", {
      "http://127.0.0.1:3000": baseUrl,
    });
    const page = (await openClient!(() => beginSession!(client, "user-42"))) as TssClient;
    expect(await page.account()).toMatchObject({ session: { userReference: "user-42" } });
    expect(await endSessions!(client, "user-42")).toBe(1);
    await expect(page.account()).rejects.toMatchObject({ reason: "SESSION_REVOKED" });
  });

  it("makes a client and sends no request", async () => {
    for (const section of ["Make a client", "Which chain the client trusts"])
      expect(Object.keys(await guide(section))).toEqual(["client"]);
  });
});

describe("the example", () => {
  it("node prints a signature under the key's address", async () => {
    const printed = await runExample("node", service.access, ["a message"]);
    const [, address = ""] = /^solana (\S+)$/m.exec(printed) ?? [];
    const [, hex = ""] = /^signature ([0-9a-f]{128})$/m.exec(printed) ?? [];
    const message = new TextEncoder().encode("a message");
    const signature = Buffer.from(hex, "hex");
    expect(isValidSignature({ ...EDDSA, publicKey: fromBase58(address), message, signature })).toBe(true);
    expect(printed).toMatch(/^balance [\d.]+ USD$/m);
  });

  it("ethers-transaction prints a transaction from the key's address", async () => {
    const printed = await runExample("ethers-transaction", service.access);
    const [, address] = /^address (0x[0-9a-fA-F]{40})$/m.exec(printed) ?? [];
    const [, transaction] = /^transaction (0x02[0-9a-f]+)$/m.exec(printed) ?? [];
    expect(printed).toContain(`from ${address}\n`);
    const serializedTransaction = transaction as TransactionSerializedEIP1559;
    expect(parseTransaction(serializedTransaction)).toMatchObject({ chainId: 11_155_111, value: 10n ** 16n });
    expect(await recoverTransactionAddress({ serializedTransaction })).toBe(address);
  });

  it("solana-transfer prints a transaction with a valid signature", async () => {
    const printed = await runExample("solana-transfer", service.access);
    const [, address = ""] = /^address (\S+)$/m.exec(printed) ?? [];
    const [, transaction = ""] = /^transaction (\S+)$/m.exec(printed) ?? [];
    expect(printed).toMatch(/^verified true$/m);
    const wire = Buffer.from(transaction, "base64");
    expect(wire[0]).toBe(1);
    const [signature, message] = [wire.subarray(1, 65), wire.subarray(65)];
    expect(isValidSignature({ ...EDDSA, publicKey: fromBase58(address), message, signature })).toBe(true);
  });

  it("sui-transfer pays the recipient on the local network", async () => {
    const printed = await runExample("sui-transfer", service.access);
    const [, address] = /^address (0x[0-9a-f]{64})$/m.exec(printed) ?? [];
    expect(printed).toContain(`verified ${address}\n`);
    const [, digest = ""] = /^digest (\w{43,44})$/m.exec(printed) ?? [];
    expect(printed).toMatch(/^recipient 1000 MIST$/m);
    const sui = new SuiGrpcClient({ network: "localnet", baseUrl: service.access.fullnodeUrl });
    const { Transaction } = await sui.getTransaction({ digest, include: { effects: true } });
    expect(Transaction?.effects.status.success).toBe(true);
  });

  it("polkadot-transfer prints an extrinsic with the signature of the sender", async () => {
    const printed = await runExample("polkadot-transfer", service.access);
    const [, address = ""] = /^address (1\w{46,47})$/m.exec(printed) ?? [];
    expect(printed).toMatch(/^verified sr25519 true$/m);
    const [, hex = ""] = /^extrinsic 0x([0-9a-f]+)$/m.exec(printed) ?? [];
    const extrinsic = Buffer.from(hex, "hex");
    // The length in two bytes, the version, and the sender's kind and key.
    expect(extrinsic.readUInt16LE(0) >> 2).toBe(extrinsic.length - 2);
    expect(encodeAddress(extrinsic.subarray(4, 36), 0)).toBe(address);
  });

  it("curl prints the project's dWallets and an error's reason", async () => {
    const printed = await inFolder(async (folder) => {
      const { code, out } = await runProgram("sh", [script("curl/main.sh")], "", {}, { folder });
      expect(code).toBe(0);
      return out.toString();
    });
    expect(printed).toMatch(/^network localnet$/m);
    expect(printed).toContain(`dwallet ${key.dwallet.id} SECP256K1 -\n`);
    expect(printed).toMatch(/^dwallet 0x[0-9a-f]{64} SECP256K1 treasury$/m);
    expect(printed).toMatch(/^error SIGN_REQUEST_NOT_FOUND$/m);
  });

  it.skipIf(python === undefined)(
    "grpc-python prints what was signed, from stubs that it generates",
    async () => {
      const printed = await inFolder(async (folder) => {
        await generatePython(folder);
        const environment = { PYTHONPATH: path.join(folder, "client/python") };
        const { code, out, err } = await runProgram(
          python!,
          [script("grpc-python/main.py")],
          "",
          environment,
          {
            ...PATIENT,
            folder,
          },
        );
        expect({ code, err }).toEqual({ code: 0, err: "" });
        return out.toString();
      });
      expect(printed).toContain(`dwallet ${key.dwallet.id} ${key.publicKeyHex}\n`);
      expect(printed).toMatch(/^completed [0-9a-f]{128,130}$/m);
      expect(printed).toMatch(/^error SIGN_REQUEST_NOT_FOUND$/m);
    },
  );
});

const script = (name: string) => path.join(ROOT, "examples", name);

/** Runs an example in a folder with the files that a service leaves for its developers. */
async function inFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), "example-"));
  try {
    mkdirSync(path.join(folder, ".data"));
    writeFileSync(path.join(folder, ".data/dev.json"), JSON.stringify(service.access));
    return await run(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Generates the Python client of the contracts, as the examples say. */
async function generatePython(folder: string): Promise<void> {
  const buf = path.join(ROOT, "node_modules/.bin/buf");
  const argv = ["generate", "--template", path.join(ROOT, "buf.gen.python.yaml"), "-o", folder];
  const { code, err } = await runProgram(buf, argv, "", {}, { ...PATIENT, folder: ROOT });
  expect({ code, err }).toEqual({ code: 0, err: "" });
}

/** A Python with grpc, if protoc and gRPC's plugin are also installed. */
async function pythonWithCodeGenerators(): Promise<string | undefined> {
  const runs = async (program: string, argv: readonly string[]) =>
    (await runProgram(program, argv).catch(() => undefined))?.code === 0;
  const generators = (await runs("protoc", ["--version"])) && (await runs("which", ["grpc_python_plugin"]));
  for (const program of generators ? ["/usr/bin/python3", "python3"] : []) {
    if (await runs(program, ["-c", "import grpc, google.protobuf"])) return program;
  }
  programMissing("protoc, grpc_python_plugin and Python with grpc", "the example grpc-python");
  return undefined;
}
