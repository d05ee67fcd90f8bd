/**
 * What each call of the contract costs the service's event loop: processor time of its main thread a call, over gRPC, on
 * a real PostgreSQL, with GetSign as the baseline. What the loop does by itself meanwhile is measured while nobody calls
 * and taken off. Calls that lead to a transaction include the work on the chain that they cause.
 *
 * `npx tsx bench/rpc-cpu.ts [--calls 200] [--profile FOLDER]`; PostgreSQL as in TEST_DATABASE_URL, else on 127.0.0.1. Linux
 * only. GetProtocolParameters is left out: the stand-in network has no parameters.
 */
import { execFileSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Admin, ApiKey_Scope } from "../gen/proto/tss/v1/admin_pb.ts";
import { Billing } from "../gen/proto/tss/v1/billing_pb.ts";
import { Onboarding } from "../gen/proto/tss/v1/onboarding_pb.ts";
import { Signing, SignRequest_Status } from "../gen/proto/tss/v1/signing_pb.ts";
import { Curve, Hash, SignatureAlgorithm } from "../gen/proto/tss/v1/types_pb.ts";
import { startSimLocalnet } from "../test/sim/sim-localnet.ts";
import { dkgOfForm } from "../test/support/dkg-form.ts";
import { testDatabase } from "../test/support/postgres.ts";
import { layoutOfSignMessage } from "../test/support/rows.ts";
import { ROOT } from "../test/support/source-files.ts";
import { startBenchService } from "./support/bench-service.ts";
import { makeSigner } from "./support/make-signer.ts";
import { mainThreadMs } from "./support/thread-time.ts";

const { values } = parseArgs({
  options: { calls: { type: "string", default: "200" }, profile: { type: "string" } },
});
const CALLS = Number(values.calls);
const AT_ONCE = 8;
const IDLE_MS = 3000;
const SETTLE_MS = 1500;
const ADMIN_API_KEY = "bench-bench-bench-bench-bench-bench";
const MESSAGE = new TextEncoder().encode("one message of thirty-two octets");
const HALF = layoutOfSignMessage();

execFileSync(process.execPath, ["--import", "tsx", "tools/build.ts"], { cwd: ROOT });
const folder = mkdtempSync(path.join(tmpdir(), "bench-rpc-"));
const stops: (() => unknown)[] = [() => rmSync(folder, { recursive: true })];
try {
  await measure();
} finally {
  for (const stop of stops.reverse()) await stop();
}

async function measure(): Promise<void> {
  const postgres = await testDatabase();
  if (postgres === undefined) throw new Error("this needs a PostgreSQL server");
  stops.push(postgres.drop);
  const localnet = await startSimLocalnet();
  stops.push(localnet.stop);
  const environment = {
    DATABASE_URL: postgres.url,
    DATA_DIR: folder,
    LOCALNET_URL: localnet.url,
    ADMIN_API_KEY,
    PRESIGN_BUCKETS: "SECP256K1/ECDSASecp256k1",
    PRESIGN_POOL_LOW_WATER: String(2 * CALLS),
    PRESIGN_POOL_HIGH_WATER: String(3 * CALLS),
    PRESIGN_BATCH_SIZE: "32",
    MAX_OPEN_RESERVATIONS_PER_PROJECT: "10000",
    MAX_DKGS_PER_PROJECT_PER_DAY: "1000000",
    FULLNODE_CALLER_READS_PER_SECOND: "100000",
    FULLNODE_PROJECT_READS_PER_SECOND: "100000",
    BILLING_DEPOSIT_MASTER_SEED_HEX: "07".repeat(32),
    BILLING_USD_PRICES: "SUI=3.5,IKA=0.02",
    RATE_LIMIT_WRITE_PER_SECOND: "0",
    RATE_LIMIT_CHAIN_PER_SECOND: "0",
    RATE_LIMIT_READ_PER_SECOND: "0",
    RATE_LIMIT_VERIFY_PER_SECOND: "0",
    RATE_LIMIT_STREAM_PER_SECOND: "0",
    RATE_LIMIT_OPEN_PER_SECOND: "0",
    // The stand-in's network key has no parameters to build, which the service would go on about.
    LOG_LEVEL: "silent",
    PORT: "0",
  };
  const service = await startBenchService(environment, values.profile && path.resolve(values.profile));
  stops.push(service.stop);
  const { apiKey, dwalletId } = await makeSigner(service.url, ADMIN_API_KEY, 0);
  const transport = createGrpcTransport({ baseUrl: service.url });
  const clientOf = <S extends DescService>(desc: S): Client<S> => createClient(desc, transport);
  const under = (key: string) => ({
    headers: { authorization: `Bearer ${key}`, "x-network": "localnet", "idempotency-key": randomUUID() },
  });
  const user = () => under(apiKey);
  const admin = () => under(ADMIN_API_KEY);
  const [signing, onboarding] = [clientOf(Signing), clientOf(Onboarding)];
  const [billing, operator] = [clientOf(Billing), clientOf(Admin)];

  const startedMs = performance.now();
  const idleBefore = mainThreadMs(service.pid);
  await sleep(IDLE_MS);
  const idleMs = (mainThreadMs(service.pid) - idleBefore) / (performance.now() - startedMs);

  const rows: { name: string; ms: number; refused: number }[] = [];
  /** Makes each call some at a time, waits until what it caused is over, and notes what it cost. */
  const cost = async <T>(
    name: string,
    call: (index: number) => Promise<T>,
    count = CALLS,
    over: () => Promise<unknown> = async () => undefined,
  ): Promise<T[]> => {
    const [before, beganMs] = [mainThreadMs(service.pid), performance.now()];
    const results: T[] = [];
    const refusals: unknown[] = [];
    let next = 0;
    const caller = async () => {
      for (let index = next++; index < count; index = next++) {
        try {
          results[index] = await call(index);
        } catch (error) {
          refusals.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, caller));
    await over();
    const used = mainThreadMs(service.pid) - before - idleMs * (performance.now() - beganMs);
    rows.push({ name, ms: used / count, refused: refusals.length });
    if (refusals.length > 0)
      process.stderr.write(`${name}: ${refusals.length} of ${count}: ${refusals[0]}\n`);
    return results;
  };

  const signs = { dwalletId, signatureAlgorithm: SignatureAlgorithm.ECDSASecp256k1, hashScheme: Hash.SHA256 };
  // The pool fills, and what runs for the first time is compiled.
  while ((await operator.getPresignHealth({}, admin())).buckets.every(({ ready }) => ready < 2 * CALLS))
    await sleep(300);
  const warm = await signing.reserveSign({ ...signs, message: MESSAGE }, user());
  for (let index = 0; index < 300; index++)
    await signing.getSign({ signRequestId: warm.signRequestId }, user());

  await cost("GetSign", () => signing.getSign({ signRequestId: warm.signRequestId }, user()), 5 * CALLS);
  const reserved = await cost("ReserveSign", () =>
    signing.reserveSign({ ...signs, message: MESSAGE }, user()),
  );
  await cost(
    "SubmitSign, to the verified signature",
    (index) =>
      signing.submitSign({ signRequestId: reserved[index]!.signRequestId, userSignMessage: HALF }, user()),
    CALLS,
    async () => {
      const open = { status: SignRequest_Status.queued };
      const sent = { status: SignRequest_Status.submitted };
      for (const filter of [open, sent])
        while ((await signing.listSigns(filter, user())).signRequests.length > 0) await sleep(200);
    },
  );
  await cost("WatchSign of one that is completed", async (index) => {
    for await (const _ of signing.watchSign({ signRequestId: reserved[index]!.signRequestId }, user()));
  });
  await cost("ListSigns", () => signing.listSigns({ pageSize: 20 }, user()));

  await cost("GetNetwork", () => onboarding.getNetwork({}, user()));
  const network = await onboarding.getNetwork({}, user());
  const signers = Array.from({ length: CALLS }, () => new Ed25519Keypair());
  const encryptionKeys = signers.map(() => new Uint8Array(randomBytes(261)));
  const publicKeyOf = (index: number) => signers[index]!.getPublicKey().toRawBytes();
  const signatures = await Promise.all(signers.map((signer, index) => signer.sign(encryptionKeys[index]!)));
  const keys = await cost("RegisterEncryptionKey", (index) =>
    onboarding.registerEncryptionKey(
      {
        curve: Curve.SECP256K1,
        encryptionKey: encryptionKeys[index]!,
        signature: signatures[index]!,
        signerPublicKey: publicKeyOf(index),
      },
      user(),
    ),
  );
  const dkg = dkgOfForm();
  const made = await cost(
    "CreateDWallet",
    (index) =>
      onboarding.createDWallet(
        {
          curve: Curve.SECP256K1,
          encryptionKeyId: keys[index]!.encryptionKeyId,
          networkEncryptionKeyId: network.networkEncryptionKeyId,
          senderAddress: network.senderAddresses[0]!,
          sessionIdentifier: new Uint8Array(randomBytes(32)),
          signerPublicKey: publicKeyOf(index),
          ...dkg,
        },
        user(),
      ),
    CALLS,
    () => sleep(SETTLE_MS),
  );
  const waiting = await cost("GetDWallet", (index) =>
    onboarding.getDWallet({ dwalletId: made[index]!.dwalletId }, user()),
  );
  const outputs = await Promise.all(
    waiting.map(({ publicOutput }, index) => signers[index]!.sign(publicOutput!)),
  );
  await cost("AcceptDWallet", (index) =>
    onboarding.acceptDWallet(
      {
        dwalletId: made[index]!.dwalletId,
        encryptedUserSecretKeyShareId: waiting[index]!.encryptedUserSecretKeyShareId,
        userOutputSignature: outputs[index]!,
      },
      user(),
    ),
  );
  await cost("ListDWallets", () => onboarding.listDWallets({ pageSize: 20 }, user()));
  await cost("ListEncryptionKeys", () => onboarding.listEncryptionKeys({ pageSize: 20 }, user()));

  await cost("GetBalance", () => billing.getBalance({}, user()));
  await cost("GetPricing", () => billing.getPricing({}, user()));
  await cost("ListLedgerEntries", () => billing.listLedgerEntries({ pageSize: 20 }, user()));
  await cost("GetDepositAddress", () => billing.getDepositAddress({}, user()));
  await cost("ListDeposits", () => billing.listDeposits({ pageSize: 20 }, user()));
  await cost("DeclareDeposit of no transaction", (index) =>
    billing
      .declareDeposit({ txDigest: `${index}`.padStart(44, "2").replaceAll("0", "z") }, user())
      .catch(() => undefined),
  );

  const projects = await cost("CreateProject", (index) =>
    operator.createProject({ name: `made ${index}` }, admin()),
  );
  const projectOf = (index: number) => projects[index]!.project!.projectId;
  const apiKeys = await cost("CreateApiKey", (index) =>
    operator.createApiKey(
      { projectId: projectOf(index), name: "made", scopes: [ApiKey_Scope.sign] },
      admin(),
    ),
  );
  const apiKeyIdOf = (index: number) => apiKeys[index]!.apiKey!.apiKeyId;
  await cost("SetAllowedAddresses", (index) =>
    operator.setAllowedAddresses({ apiKeyId: apiKeyIdOf(index), allowedAddresses: ["10.0.0.0/8"] }, admin()),
  );
  await cost("RotateApiKey", (index) => operator.rotateApiKey({ apiKeyId: apiKeyIdOf(index) }, admin()));
  await cost("RevokeApiKey", (index) => operator.revokeApiKey({ apiKeyId: apiKeyIdOf(index) }, admin()));
  await cost("AdjustCredit", (index) =>
    operator.adjustCredit({ projectId: projectOf(index), amountMicroUsd: 1n, reason: "bench" }, admin()),
  );
  await cost("ListProjects", () => operator.listProjects({ pageSize: 20 }, admin()));
  await cost("ListApiKeys", (index) => operator.listApiKeys({ projectId: projectOf(index) }, admin()));
  const adminKeys = await cost("CreateAdminKey", (index) =>
    operator.createAdminKey({ name: `made-${index}` }, admin()),
  );
  await cost("ListAdminKeys", () => operator.listAdminKeys({ pageSize: 20 }, admin()));
  await cost("RevokeAdminKey", (index) =>
    operator.revokeAdminKey({ adminKeyId: adminKeys[index]!.adminKey!.adminKeyId }, admin()),
  );
  await cost("GetTreasury", () => operator.getTreasury({}, admin()));
  await cost("GetPresignHealth", () => operator.getPresignHealth({}, admin()));
  await cost("ListChainTransactions", () => operator.listChainTransactions({ pageSize: 20 }, admin()));
  const { auditEvents } = await operator.listAuditEvents({ pageSize: 20 }, admin());
  await cost("ListAuditEvents", () => operator.listAuditEvents({ pageSize: 20 }, admin()));
  await cost("ListAuditSeals", () => operator.listAuditSeals({ pageSize: 20 }, admin()));
  const sealed = auditEvents.at(-1)!;
  await cost("GetAuditProof", () => operator.getAuditProof({ auditEventId: sealed.auditEventId }, admin()));
  await cost("RefillPresigns of one", () =>
    operator.refillPresigns({ curve: 0, signatureAlgorithm: 0, count: 1 }, admin()),
  );

  const baseline = rows[0]!.ms;
  console.log(`idle: ${(idleMs * 100).toFixed(1)} % of one core\n`);
  console.log("| call | ms of the event loop | ratio to GetSign |\n|---|---|---|");
  for (const { name, ms } of rows.sort((left, right) => right.ms - left.ms))
    console.log(`| ${name} | ${ms.toFixed(2)} | ${(ms / baseline).toFixed(1)} |`);
}
