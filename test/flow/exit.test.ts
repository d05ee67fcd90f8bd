/** A user leaves with their dWallet, with and without the service, and signs with Ika alone; real cryptography. */
import { randomBytes } from "node:crypto";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { buffer, text } from "node:stream/consumers";
import { Curve, Hash, type IkaClient, publicKeyFromDWalletOutput, SignatureAlgorithm } from "@ika.xyz/sdk";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deriveUserKeys } from "../../src/client/crypto/user-keys.ts";
import {
  createClient,
  createRecovery,
  ExitDrillOutcome,
  type OnboardResult,
  submitLeave,
  submitRefusal,
  type TssClient,
} from "../../src/client/sdk/index.ts";
import { type AddedRecovery, addRecovery, joinPieces } from "../../src/client/seed/pieces/index.ts";
import { type Localnet, startLocalnet } from "../../src/localnet/localnet.ts";
import { findTriple } from "../../src/protocol/algorithms.ts";
import type { BackgroundLoop } from "../../src/service/platform/lifecycle/background-loop.ts";
import { createMetrics } from "../../src/service/platform/telemetry/metrics.ts";
import { createExitDrill } from "../../src/signer/exit-drill.ts";
import { runCli } from "../component/cli/run-cli.ts";
import { connectSdk, POLL } from "../component/localnet/sdk-driver.ts";
import { derivedKeys, giveParameters } from "../component/localnet/sdk-shortcuts.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { ownerOf } from "../support/database/exits.ts";
import { migratedFolder } from "../support/database/migrated-folder.ts";
import { environment } from "../support/environment.ts";
import { runTss, type ServiceProcess, startService } from "../support/service/service.ts";
import { silentLog } from "../support/silent-log.ts";
import { idsOf } from "../unit/client/sdk/chain-harness.ts";

/** The localnet's tables are the same for each test. */
const TABLES = path.join(tmpdir(), "ika-localnet", "mpc-cache");
const triple = findTriple("ED25519", "EdDSA", "SHA512")!;
const ED25519 = { curve: "ED25519", signatureAlgorithm: "EdDSA", hashScheme: "SHA512" } as const;
const message = new TextEncoder().encode("signed without the service");
const { folder, remove } = await migratedFolder();
const seeds = [1, 2, 3].map(() => new Uint8Array(randomBytes(32)));

let localnet: Localnet;
let service: ServiceProcess;
let client: TssClient;
const made: OnboardResult[] = [];
/** Of the second dWallet. */
let recovery: AddedRecovery;
/** Ika's client, after the first use. */
let knownIka: IkaClient | undefined;
/** The second dWallet's capability, after it has left. */
let capOfSecond: string;
let drill: BackgroundLoop | undefined;

beforeAll(async () => {
  localnet = await startLocalnet({ dataDirectory: path.join(folder, "localnet"), cacheDirectory: TABLES });
  service = await startService(folder, { LOCALNET_URL: localnet.url, PRESIGN_BUCKETS: "ED25519/EdDSA" });
  const { baseUrl, apiKey } = service.access;
  const { treasuryId } = localnet.treasury;
  client = createClient({ baseUrl, apiKey, network: "localnet", fullnodeUrl: localnet.url, treasuryId });
  for (const seed of seeds) made.push(await client.onboard({ seed, curve: "ED25519" }));
  const second = { seed: seeds[1]!, curve: "ED25519", dwalletId: made[1]!.dwallet.id } as const;
  recovery = await addRecovery(client, { ...second, threshold: 2, count: 3 });
}, 180_000);
afterAll(async () => {
  await service?.stop();
  await localnet?.close();
  remove();
});

/** Returns a key of the user with SUI and IKA. Default: a new key. */
async function funded(keypair = Ed25519Keypair.generate()): Promise<Ed25519Keypair> {
  const body = JSON.stringify({ FixedAmountRequest: { recipient: keypair.toSuiAddress() } });
  const headers = { "content-type": "application/json" };
  expect((await fetch(new URL("/v2/gas", localnet.url), { method: "POST", headers, body })).ok).toBe(true);
  return keypair;
}

/** Signs with Ika's SDK, the user's capability, coins and seed, without any service. */
async function signWithIka(owner: Ed25519Keypair, seed: Uint8Array, dwallet: ToSignWith, capId: string) {
  const ikaCoinType = `${localnet.ikaConfig.packages.ikaPackage}::ika::IKA`;
  const network = { url: localnet.url, ikaConfig: localnet.ikaConfig, ikaCoinType };
  const sdk = await connectSdk(network, owner, knownIka);
  if (knownIka === undefined) giveParameters(sdk.ika, Curve.ED25519, sdk.networkOutput);
  knownIka = sdk.ika;
  const keys = await derivedKeys(seed, Curve.ED25519);
  const dWallet = await sdk.ika.getDWalletInParticularState(dwallet.dwallet.id, "Active", POLL);
  const presign = await sdk.readyPresign(Curve.ED25519, SignatureAlgorithm.EdDSA);
  const share = await sdk.ika.getEncryptedUserSecretKeyShare(dwallet.encryptedUserSecretKeyShareId);
  const executed = await sdk.execute(keys, async (tx, ika, coins) => {
    const how = {
      curve: Curve.ED25519,
      signatureAlgorithm: SignatureAlgorithm.EdDSA,
      hashScheme: Hash.SHA512,
    } as const;
    await ika.requestSign({
      dWallet: dWallet as never,
      presign,
      encryptedUserSecretKeyShare: share,
      message,
      hashScheme: Hash.SHA512,
      signatureScheme: SignatureAlgorithm.EdDSA,
      messageApproval: ika.approveMessage({ dWalletCap: capId, ...how, message }),
      verifiedPresignCap: ika.verifyPresignCap({ presign }),
      ...coins,
    });
    tx.transferObjects([coins.suiCoin as never], owner.toSuiAddress());
  });
  const { state } = await sdk.ika.getSignInParticularState(
    ...([sdk.signIdOf(executed), Curve.ED25519, SignatureAlgorithm.EdDSA, "Completed", POLL] as const),
  );
  const output = Uint8Array.from(dWallet.state.Active.public_output);
  const publicKey = await publicKeyFromDWalletOutput(Curve.ED25519, output);
  return isValidSignature({
    ...triple,
    publicKey,
    message,
    signature: Uint8Array.from(state.Completed.signature),
  });
}

type ToSignWith = Pick<OnboardResult, "dwallet" | "encryptedUserSecretKeyShareId">;

/** A proxy of a fullnode that keeps every request body. */
async function startRecorder(target: string) {
  const bodies: Buffer[] = [];
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    bodies.push(body);
    const headers = { "content-type": request.headers["content-type"] ?? "" };
    const reply = await fetch(new URL(request.url ?? "", target), { method: "POST", headers, body });
    response.writeHead(reply.status, { "content-type": reply.headers.get("content-type") ?? "" });
    response.end(Buffer.from(await reply.arrayBuffer()));
  };
  const server = createServer((request, response) => void pass(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { url: `http://127.0.0.1:${port}`, bodies, close };
}

/** The contents of all files below a folder: the service's database with its write-ahead log, and the localnet. */
function filesBelow(root: string): Buffer {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Buffer.concat(files.map(({ parentPath, name }) => readFileSync(path.join(parentPath, name))));
}

describe("a user who leaves", { timeout: 600_000 }, () => {
  it("is told each day that they can, and nothing that could be submitted reaches a fullnode or the service", async () => {
    const seed = seeds[0]!;
    const { id: dwalletId } = made[0]!.dwallet;
    const recorder = await startRecorder(localnet.url);
    const { baseUrl, apiKey } = service.access;
    const { treasuryId } = localnet.treasury;
    const drilling = createClient({
      ...{ baseUrl, apiKey, network: "localnet", fullnodeUrl: recorder.url, treasuryId },
    });
    const progress = {
      kind: "active",
      dwallet: { dwalletId, publicKeyHex: "", sessionDigestHex: "" },
    } as const;
    const key = { name: "alice", curve: "ED25519", seed, createTimeMs: 0, progress } as const;
    const metrics = createMetrics();
    const lines: object[] = [];
    await new Promise<void>((resolve) => {
      const write = (fields: object) => void lines.push(fields);
      const log = { ...silentLog, info: write, error: write, warn: write };
      const drillingClient = {
        rehearseLeave: drilling.rehearseLeave,
        reportExitDrill: (...args: Parameters<typeof drilling.reportExitDrill>) =>
          drilling.reportExitDrill(...args).finally(resolve),
      };
      drill = createExitDrill({
        ...{ list: () => [key], client: drillingClient, log, metrics, everyMs: 86_400_000 },
      });
      drill.start();
    });
    await drill?.stop();
    metrics.close();
    const { exitDrill } = await client.getDWallet({ dwalletId });
    expect(exitDrill?.outcome).toBe(ExitDrillOutcome.could_leave);
    const [line] = lines;
    expect(line).toMatchObject({ audit: "exit-drill", keyName: "alice", dwalletId, outcome: "could_leave" });
    // Ed25519 is deterministic: the same wish has the signature that the drill made.
    const { owner: recipient } = await client.rehearseLeave({ seed, dwalletId });
    const wish = { seed, dwalletId, recipient, validForEpochs: 0 };
    const { signature, publicKey } = await client.signLeave(wish);
    const raw = Buffer.from(signature, "hex");
    expect(raw).toHaveLength(64);
    await recorder.close();
    const sent = Buffer.concat(recorder.bodies);
    const stored = filesBelow(folder);
    const logged = service.log.join("\n");
    expect([sent.includes(Buffer.from(publicKey, "hex")), stored.includes(dwalletId)]).toEqual([true, true]);
    for (const form of [raw, Buffer.from(signature), Buffer.from(raw.toString("base64"))])
      for (const place of [sent, stored, Buffer.from(logged)]) expect(place.includes(form)).toBe(false);
  });

  it("and has pieces of a recovery, some of which sign through the service", async () => {
    const { seed, dwalletId, curve } = await joinPieces(recovery.pieces.slice(1));
    const piecesOfSeed = { seed, dwalletId, acceptUnverifiedShare: true };
    const { signature } = await client.sign({ ...piecesOfSeed, message, ...ED25519 });
    const publicKey = Buffer.from(made[1]!.publicKeyHex, "hex");
    expect([curve, dwalletId]).toEqual(["ED25519", made[1]!.dwallet.id]);
    expect(isValidSignature({ ...triple, publicKey, message, signature })).toBe(true);
  });

  it("through the service has the capability to sign with Ika alone, and a repeat returns the same result", async () => {
    const [seed, dwallet, owner] = [seeds[0]!, made[0]!, await funded()];
    const dwalletId = dwallet.dwallet.id;
    await client.sign({ seed, dwalletId, message, ...ED25519 });
    const rehearsed = await client.rehearseLeave({ seed, dwalletId });
    expect(rehearsed).toMatchObject({ dwalletId, treasuryId: localnet.treasury.treasuryId });
    const leave = () => client.leave({ seed, dwalletId, recipient: owner.toSuiAddress() });
    const [left, same] = await Promise.all([leave(), leave()]);
    expect(left).toMatchObject({ dwalletId, recipient: owner.toSuiAddress() });
    expect(left.transactionDigest).toMatch(/^[1-9A-HJ-NP-Za-km-z]{43,44}$/);
    expect([same, await leave()]).toEqual([left, left]);
    const others = client.leave({ seed, dwalletId, recipient: `0x${"e".repeat(64)}` });
    await expect(others).rejects.toMatchObject({ reason: "DWALLET_LEFT" });
    await expect(client.rehearseLeave({ seed, dwalletId })).rejects.toMatchObject({ reason: "DWALLET_LEFT" });
    await expect(client.sign({ seed, dwalletId, message, ...ED25519 })).rejects.toMatchObject({
      reason: "DWALLET_LEFT",
    });
    const listed = [];
    for await (const row of client.listDWallets({ state: "Left" })) listed.push(row.dwalletId);
    expect(listed).toEqual([dwalletId]);
    await service.stop();
    const chain = { client: new SuiGrpcClient({ network: "localnet", baseUrl: localnet.url }) };
    expect(await ownerOf(chain, left.dwalletCapId)).toBe(owner.toSuiAddress());
    // By day, the recovery below signs with its capability.
    if (environment.isReference)
      expect(await signWithIka(owner, seed, dwallet, left.dwalletCapId)).toBe(true);
  });

  it("without the service signs the authorization, which any funded key submits", async () => {
    const [seed, dwallet, recipient] = [seeds[1]!, made[1]!, recovery.holderAddress];
    const args = { seed, dwalletId: dwallet.dwallet.id };
    const fullnode = localnet.url;
    // The service has stopped.
    expect((await client.rehearseLeave(args)).checkedAt).toBeInstanceOf(Date);
    const wrongPackage = client.rehearseLeave({ ...args, packageId: `0x${"e".repeat(64)}` });
    await expect(wrongPackage).rejects.toMatchObject({ reason: "AUTHORIZATION_REFUSED" });
    const refusal = await client.signRefusal(args);
    const refused = await submitRefusal({ authorization: refusal, fullnode, signer: await funded() });
    expect(refused).toEqual({ dwalletId: args.dwalletId });
    expect(await submitRefusal({ authorization: refusal, fullnode, signer: await funded() })).toEqual(
      refused,
    );
    const authorization = await client.signLeave({ ...args, recipient });
    const stolen = { ...authorization, recipient: `0x${"e".repeat(64)}` };
    await expect(
      submitLeave({ authorization: stolen, fullnode, signer: await funded() }),
    ).rejects.toMatchObject({
      reason: "AUTHORIZATION_REFUSED",
      metadata: { abort: "custody:7" },
    });
    const copy = JSON.parse(JSON.stringify(authorization)) as typeof authorization;
    const left = await submitLeave({ authorization: copy, fullnode, signer: await funded() });
    expect(await submitLeave({ authorization: copy, fullnode, signer: await funded() })).toEqual(left);
    await expect(
      submitRefusal({ authorization: refusal, fullnode, signer: await funded() }),
    ).rejects.toMatchObject({
      reason: "AUTHORIZATION_REFUSED",
      metadata: { abort: "custody:1" },
    });
    expect(
      await ownerOf(
        { client: new SuiGrpcClient({ network: "localnet", baseUrl: localnet.url }) },
        left.dwalletCapId,
      ),
    ).toBe(recipient);
    capOfSecond = left.dwalletCapId;
  });

  it("to its recovery signs with two pieces and Ika alone", async () => {
    const { pieces, holderAddress, encryptedUserSecretKeyShareId } = recovery;
    const files = [0, 2].map((at) => path.join(folder, `piece-${at}`));
    for (const [at, file] of files.entries()) writeFileSync(file, `${pieces[2 * at]}\n`, { mode: 0o600 });
    const seedFile = path.join(folder, "recovery-seed");
    const fullnodeUrl = localnet.url;
    // The service has stopped.
    const program = runTss(
      [
        ...["recover", "--network", "localnet", "--fullnode-url", fullnodeUrl, "--seed-out", seedFile],
        ...files.flatMap((file) => ["--piece-file", file]),
      ],
      {},
    );
    const [out, error] = await Promise.all([text(program.stdout!), text(program.stderr!)]);
    expect({ out, error }).toEqual({ out: expect.stringContaining("the chain confirms it"), error: "" });

    const seed = new Uint8Array(Buffer.from(readFileSync(seedFile, "utf8").trim(), "hex"));
    const { dwallet, userSecretKeyShareHex } = made[1]!;
    const alone = createRecovery({ network: "localnet", fullnodeUrl, ika: idsOf(localnet) });
    const source = { seed, dwalletId: dwallet.id, curve: dwallet.curve, acceptUnverifiedShare: true };
    expect(await alone.recoverShare(source)).toMatchObject({ userSecretKeyShareHex });
    const keys = deriveUserKeys(seed, dwallet.curve);
    const holder = await funded(Ed25519Keypair.fromSecretKey(keys.signerSecretKey.reveal()));
    expect(holder.toSuiAddress()).toBe(holderAddress);
    const held = { dwallet, encryptedUserSecretKeyShareId };
    expect(await signWithIka(holder, seed, held, capOfSecond)).toBe(true);
  });

  it("uses the command with an authorization or with only the seed", async () => {
    const [seed, dwallet, owner] = [seeds[2]!, made[2]!, await funded()];
    const dwalletId = dwallet.dwallet.id;
    const files = Object.fromEntries(
      ["seed", "key", "refusal"].map((name) => [name, path.join(folder, name)]),
    );
    const write = (name: string, content: string) => writeFileSync(files[name]!, content, { mode: 0o600 });
    write("seed", Buffer.from(seed).toString("hex"));
    write("key", owner.getSecretKey());
    write("refusal", JSON.stringify(await client.signRefusal({ seed, dwalletId })));
    const chain = ["--network", "localnet", "--fullnode", localnet.url];
    const paid = [...chain, "--key-file", files["key"]!, "--yes"];
    const run = async (...args: string[]) => {
      const { out, err: error } = await runCli(["treasury", ...args, ...paid]);
      return { out, error };
    };
    const refuse = () => run("refuse", "--authorization", files["refusal"]!);
    expect((await refuse()).out).toContain("Now only the owner can take the dWallet out.");
    expect((await refuse()).error).toContain("was already used");
    const signed = [
      "--seed-file",
      files["seed"]!,
      "--dwallet",
      dwalletId,
      "--recipient",
      owner.toSuiAddress(),
    ];
    const exit = () => run("exit", ...signed);
    const rehearse = async () => {
      const { out, err } = await runCli(["treasury", "rehearse-exit", ...chain, ...signed.slice(0, 4)]);
      return out + err;
    };
    expect(await rehearse()).toContain("The user could leave now.");
    chmodSync(files["seed"]!, 0o644);
    expect((await exit()).error).toContain("chmod 600");
    chmodSync(files["seed"]!, 0o600);
    const program = runTss(["treasury", "exit", ...signed, ...paid], {});
    expect(await text(program.stdout!)).toContain("now has the dWallet's capability");
    expect((await exit()).error).toContain("does not hold the dWallet");
    expect(await rehearse()).toContain("DWALLET_LEFT");
  });
});
