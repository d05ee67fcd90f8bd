import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Signing, SignRequest_Status } from "../../gen/proto/tss/v1/signing_pb.ts";
import { tryNetwork } from "../../src/cli/demo/try-network.ts";
import type { Stage, TryReport } from "../../src/cli/demo/try-report.ts";
import { createAdminClient, TssError } from "../../src/client/sdk/admin/index.ts";
import { createDefaultTransport } from "../../src/client/sdk/calls/transport.ts";
import { createReceiptClient } from "../../src/client/sdk/receipts/index.ts";
import { ALGORITHM_TRIPLES, type AlgorithmTriple } from "../../src/protocol/algorithms.ts";
import { runNetworkDoctor } from "../../src/service/operator/health/doctor/network/network-doctor.ts";
import { printed, runCli } from "../component/cli/run-cli.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { environment } from "../support/environment.ts";
import { pollUntil } from "../support/poll-until.ts";
import { bakedFolder } from "../support/service/baked-folder.ts";
import { type ServiceProcess, startService } from "../support/service/service.ts";

const EDDSA = ALGORITHM_TRIPLES.filter(({ signatureAlgorithm }) => signatureAlgorithm === "EdDSA");
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const unlessSealed = (error: unknown): undefined => {
  if (!(error instanceof TssError && error.reason === "WRONG_STATE")) throw error;
};
const seed = globalThis.crypto.getRandomValues(new Uint8Array(32));

describe("a trial of a network", async () => {
  const baked = await bakedFolder();
  const folder = mkdtempSync(path.join(tmpdir(), "tss-try-"));
  let service: ServiceProcess;
  beforeAll(async () => {
    const buckets = ALGORITHM_TRIPLES.map((triple) => `${triple.curve}/${triple.signatureAlgorithm}`);
    service = await startService(baked.folder, {
      PRESIGN_BUCKETS: environment.isReference ? [...new Set(buckets)].join() : "ED25519/EdDSA",
      PRESIGN_POOL_LOW_WATER: "3",
    });
  });
  afterAll(async () => {
    await service?.stop();
    baked.remove();
    rmSync(folder, { recursive: true });
  });

  const attempt = (triples: readonly AlgorithmTriple[], change: object = {}): Promise<TryReport> =>
    tryNetwork({
      access: { ...service.access, fullnodeUrl: undefined, ...change },
      triples,
      seed,
      startedAt: "2026-01-01T00:00:00Z",
      isReference: false,
      note: () => {},
    });
  const readyCount = async (algorithm: string): Promise<number> => {
    const { baseUrl, adminApiKey: adminKey, network } = service.access;
    const { buckets } = await createAdminClient({ baseUrl, adminKey, network }).getPresignHealth({});
    return buckets.find(({ signatureAlgorithmName: name }) => name === algorithm)?.ready ?? 0;
  };
  const fault = (settings: object) =>
    fetch(`${service.access.fullnodeUrl}/localnet/faults`, {
      method: "POST",
      body: JSON.stringify(settings),
    });

  test("onboards on each curve and signs with each combination, and says what each stage cost", async () => {
    const triples = environment.isReference ? ALGORITHM_TRIPLES : EDDSA;
    const { stages } = await attempt(triples);
    expect(stages.filter(({ status }) => status !== "ok")).toEqual([]);
    const curves = new Set(triples.map(({ curve }) => curve)).size;
    expect(stages).toHaveLength(2 + curves + triples.length);
    const keys = new Map(stages.map(({ name, ids }) => [name, ids?.["publicKeyHex"] ?? ""]));
    for (const { curve, signatureAlgorithm, hash } of triples) {
      const onboard = stages.find(({ name }) => name === `onboard ${curve}`)!;
      const sign = stages.find(({ name }) => name === `sign ${curve} ${signatureAlgorithm} ${hash}`)!;
      expect(onboard.seen).toMatch(/Active, its output of version 2$/);
      expect(onboard.cost).toMatchObject({ creditMicroUsd: "20000" });
      expect(sign.cost).toMatchObject({ creditMicroUsd: "10000" });
      for (const { cost, transactions } of [onboard, sign]) {
        expect(BigInt(cost!.gasMist)).toBeGreaterThan(0n);
        expect(BigInt(cost!.ika) + BigInt(cost!.sui)).toBeGreaterThan(0n);
        expect(transactions!.map(({ status }) => status)).toEqual(transactions!.map(() => "success"));
      }
      expect(sign.transactions![0]!.events.join()).toContain("::treasury::SignPaid");
      const [signature = ""] = sign.seen.split(",");
      const claim = {
        signatureAlgorithm,
        hash,
        message: new TextEncoder().encode("tss try"),
        publicKey: Buffer.from(keys.get(`onboard ${curve}`)!, "hex"),
        signature: Buffer.from(signature, "hex"),
      };
      expect(isValidSignature(claim)).toBe(true);
    }
  });

  test("after it, the command gets the receipt of the signature, which verifies off line and fails for another seal", async () => {
    const { baseUrl, apiKey } = service.access;
    const as = { TSS_URL: baseUrl, TSS_API_KEY: apiKey };
    const client = createReceiptClient({ baseUrl, apiKey });
    const signs = createClient(Signing, createDefaultTransport(baseUrl));
    const headers = { authorization: `Bearer ${apiKey}` };
    const { signRequests } = await signs.listSigns(
      { pageSize: 1, status: SignRequest_Status.completed },
      { headers },
    );
    const { signRequestId } = signRequests[0]!;
    // A project may ask for five receipts a second.
    const receipt = await pollUntil(() => client.getReceipt({ signRequestId }).catch(unlessSealed), {
      intervalMs: 500,
    });
    const file = path.join(folder, "receipt.json");
    writeFileSync(file, await printed(["receipt", "get", signRequestId, "--json"], as));
    const verify = (seal: Uint8Array, publicKey = receipt.publicKey) =>
      runCli(["receipt", "verify", file, "--expect-seal", hex(seal), "--dwallet-key", hex(publicKey)]);
    const { sealHash } = receipt.auditSeal!;
    expect(await verify(sealHash)).toMatchObject({
      exitCode: 0,
      out: expect.stringMatching(
        /price +\$0\.01[\s\S]*The receipt is valid\.\nThe seal covers the price and the ledger entry\.$/,
      ),
    });
    expect(await verify(new Uint8Array(32))).toMatchObject({
      exitCode: 1,
      out: expect.stringContaining("the seal is not the expected one"),
    });
    expect((await verify(sealHash, receipt.publicKey.with(0, 1))).out).toContain("another public key");
    rmSync(file);
  });

  test("after it, the doctor dry-runs batches of signatures with halves of the client's own cryptography", async () => {
    await pollUntil(async () => (await readyCount("EdDSA")) >= 3);
    const settings = { LOCALNET_URL: service.access.fullnodeUrl, SUBMIT_BATCH_SIZE: "3" };
    const findings = await runNetworkDoctor({ name: "localnet" }, settings);
    const signature = findings.find(({ name }) => name === "dry run: signature");
    expect(signature).toMatchObject({
      status: "ok",
      found: expect.stringMatching(/3 of EdDSA [\d.]+ SUI of gas, \d+ bytes, \d+ new objects, \d+ events/),
    });
    for (const { signatureAlgorithm } of environment.isReference ? ALGORITHM_TRIPLES : EDDSA)
      expect(signature?.found).toContain(` of ${signatureAlgorithm} `);
  });

  test("a stage that the network refuses names the reference engine, and its report holds no secret", async () => {
    await fault({ rejectSessions: { sign: 1 } });
    const file = path.join(folder, "report.json");
    const { exitCode, out, err } = await runCli(["try", "--curve", "ED25519", "--bundle", file], {
      DATA_DIR: baked.folder,
    });
    await fault({ rejectSessions: {} });
    expect({ exitCode, out }).toMatchObject({ exitCode: 1 });
    expect(out).toContain("FAILED   sign ED25519 EdDSA SHA512");
    expect(out).toContain("--reference");
    expect(out).toContain("createReferenceEngine()");
    expect(err).toContain(`wrote ${file}`);
    const text = readFileSync(file, "utf8");
    const { stages, versions } = JSON.parse(text) as TryReport;
    const failed = stages.at(-1) as Stage;
    expect(failed).toMatchObject({
      status: "failed",
      ids: { signRequestId: expect.any(String), dwalletId: expect.any(String) },
      failure: { metadata: { signRequestId: expect.any(String) } },
      objects: [{ type: expect.stringContaining("::coordinator_inner::DWallet") }],
    });
    expect(failed.transactions![0]!.events.join()).toContain("SignRequestEvent");
    expect(versions).toMatchObject({ node: process.version, "@ika.xyz/sdk": "0.4.1" });
    for (const secret of [service.access.apiKey, service.access.adminApiKey])
      expect(text).not.toContain(secret);
    expect(readdirSync(folder)).toEqual(["report.json"]);
  });

  test("a failure of the fullnode skips what needs it, and no text shows the URL's key, the seed or the share", async () => {
    const url = "http://127.0.0.1:1/v2/0123456789abcdef0123?key=fedcba9876";
    const report = await attempt(EDDSA, { fullnodeUrl: url });
    expect(report.stages.map(({ status }) => status)).toEqual(["ok", "failed", "skipped", "skipped"]);
    const text = JSON.stringify(report);
    expect(text).not.toMatch(/0123456789abcdef0123|fedcba9876/);
    expect(text).not.toContain(Buffer.from(seed).toString("hex"));
    expect(text).not.toContain(service.access.apiKey);
  });

  test("a project without credit fails before it spends anything", async () => {
    const made = await printed(["project", "create", "--name", "poor", "--json"], { DATA_DIR: baked.folder });
    const report = await attempt(EDDSA, { apiKey: (JSON.parse(made) as { apiKey: string }).apiKey });
    expect(report.stages[0]).toMatchObject({ status: "failed", failure: { reason: "INSUFFICIENT_CREDIT" } });
    expect(report.stages.slice(2).every(({ status }) => status === "skipped")).toBe(true);
  });
});
