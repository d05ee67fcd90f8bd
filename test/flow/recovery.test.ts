/** A user recovers their shares from the seed and the chain after the service is gone; real cryptography. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { GrpcTypes } from "@mysten/sui/grpc";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createClient,
  createRecovery,
  type OnboardResult,
  type Recovery,
  type TssClient,
} from "../../src/client/sdk/index.ts";
import { type Localnet, startLocalnet } from "../../src/localnet/localnet.ts";
import { findTriple } from "../../src/protocol/algorithms.ts";
import { DWallet, EncryptedUserSecretKeyShare } from "../../src/protocol/chain/chain-structs.ts";
import { startLyingFullnode } from "../component/cli/lying-fullnode.ts";
import { runCli } from "../component/cli/run-cli.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { migratedFolder } from "../support/database/migrated-folder.ts";
import { runTss, type ServiceProcess, startService } from "../support/service/service.ts";
import { idsOf } from "../unit/client/sdk/chain-harness.ts";

const curve = "ED25519";
const { folder, remove } = await migratedFolder();
const seed = new Uint8Array(randomBytes(32));
const otherSeed = new Uint8Array(randomBytes(32));
const seedFile = path.join(folder, "seed");

let localnet: Localnet;
let service: ServiceProcess;
/** It knew the service while it ran. */
let client: TssClient;
let recovery: Recovery;
let kept: OnboardResult;
let left: OnboardResult;

beforeAll(async () => {
  writeFileSync(seedFile, Buffer.from(seed).toString("hex"), { mode: 0o600 });
  localnet = await startLocalnet({
    dataDirectory: path.join(folder, "localnet"),
    cacheDirectory: path.join(tmpdir(), "ika-localnet", "mpc-cache"),
  });
  service = await startService(folder, { LOCALNET_URL: localnet.url, PRESIGN_BUCKETS: "ED25519/EdDSA" });
  const { baseUrl, apiKey } = service.access;
  const chain = { network: "localnet", fullnodeUrl: localnet.url, ika: idsOf(localnet) } as const;
  const { treasuryId } = localnet.treasury;
  recovery = createRecovery({ ...chain, treasuryId });
  const first = createClient({ baseUrl, apiKey, ...chain, treasuryId });
  kept = await first.onboard({ seed, curve });
  left = await first.onboard({ seed, curve });
  await first.onboard({ seed: otherSeed, curve });
  const recipient = `0x${"e".repeat(64)}`;
  await first.leave({ seed, dwalletId: left.dwallet.id, recipient });
  client = createClient({ baseUrl, apiKey, ...chain, treasuryId });
  await service.stop();
}, 240_000);
afterAll(async () => {
  await service?.stop();
  await localnet?.close();
  remove();
});

const idOf = ({ dwallet }: OnboardResult) => dwallet.id;
const held = () => ({
  dwalletId: idOf(kept),
  curve,
  state: "Active",
  encryptedUserSecretKeyShareId: kept.encryptedUserSecretKeyShareId,
});

describe("after the service has stopped", { timeout: 600_000 }, () => {
  it("a client and a recovery find the seed's dWallets in the Treasury, and recover their shares", async () => {
    for (const each of [client, recovery]) {
      expect(await each.findDWallets({ seed })).toEqual({ dwallets: [held()], isComplete: true });
      const recovered = await each.recoverShare({ seed, curve, dwalletId: idOf(kept) });
      expect(recovered).toEqual({
        userSecretKeyShareHex: kept.userSecretKeyShareHex,
        userPublicOutputHex: kept.userPublicOutputHex,
        encryptedUserSecretKeyShareId: kept.encryptedUserSecretKeyShareId,
      });
      const { publicKeyHex } = await each.readKey({ seed, curve, dwalletId: idOf(kept) });
      expect(publicKeyHex).toBe(kept.publicKeyHex);
    }
  });

  it("the share of a dWallet that has left is recovered by its id", async () => {
    const { userSecretKeyShareHex } = await recovery.recoverShare({ seed, curve, dwalletId: idOf(left) });
    expect(userSecretKeyShareHex).toBe(left.userSecretKeyShareHex);
  });

  it("another seed recovers nothing", async () => {
    const other = recovery.recoverShare({ seed: otherSeed, curve, dwalletId: idOf(kept) });
    await expect(other).rejects.toMatchObject({ reason: "SHARE_UNVERIFIED" });
  });
});

const recoverWith = (args: readonly string[]) => [
  ...["recover", "--network", "localnet", "--seed-file", seedFile, "--fullnode-url"],
  ...args,
];

/** Runs `tss recover` in this process, without any configuration of the service. */
const tssRecover = (...args: readonly string[]) => runCli(recoverWith(args));

/** Runs it in a process of its own. */
async function spawnRecover(...args: readonly string[]) {
  const program = runTss(recoverWith(args), {});
  const exit = new Promise<number | null>((resolve) => program.once("exit", resolve));
  const [out, err, exitCode] = await Promise.all([text(program.stdout!), text(program.stderr!), exit]);
  return { exitCode, out, err };
}

describe("the command", { timeout: 600_000 }, () => {
  it("lists the dWallets, and writes the client's share to a new file of the user alone", async () => {
    const listed = await tssRecover(localnet.url, "--json");
    expect(JSON.parse(listed.out)).toEqual({ dwallets: [held()], isComplete: true });
    const shown = await tssRecover(localnet.url);
    expect(shown.out).toContain(idOf(kept));
    expect(shown.out).not.toContain(idOf(left));

    const out = path.join(folder, "share");
    const one = ["--dwallet", idOf(kept), "--curve", curve, "--out", out];
    const written = await spawnRecover(localnet.url, ...one);
    expect(written).toMatchObject({ exitCode: 0, err: "" });
    expect(readFileSync(out, "utf8")).toBe(`${kept.userSecretKeyShareHex}\n`);
    expect(statSync(out).mode & 0o777).toBe(0o600);
    const again = await tssRecover(localnet.url, ...one);
    expect(again).toMatchObject({ exitCode: 1, err: expect.stringContaining("is not overwritten") });
    const said = [listed, shown, written, again].map((run) => run.out + run.err).join();
    for (const secret of [kept.userSecretKeyShareHex, Buffer.from(seed).toString("hex")])
      expect(said).not.toContain(secret);
  });

  it("recovers with the session digest of the onboarding, and with no other", async () => {
    const out = path.join(folder, "share-by-digest");
    const one = ["--dwallet", idOf(left), "--curve", curve, "--out", out, "--session-digest"];
    const wrong = await tssRecover(localnet.url, ...one, kept.sessionDigestHex);
    expect(wrong).toMatchObject({ exitCode: 1, err: expect.stringContaining("SHARE_UNVERIFIED") });
    expect(existsSync(out)).toBe(false);
    await tssRecover(localnet.url, ...one, left.sessionDigestHex);
    expect(readFileSync(out, "utf8")).toBe(`${left.userSecretKeyShareHex}\n`);
  });
});

describe("a fresh service whose database was deleted", { timeout: 600_000 }, () => {
  it("signs again with the dWallet that its owner brings, and with no other's", async () => {
    rmSync(path.join(folder, "pg"), { recursive: true });
    const empty = await migratedFolder();
    renameSync(path.join(empty.folder, "pg"), path.join(folder, "pg"));
    empty.remove();
    service = await startService(folder, { LOCALNET_URL: localnet.url, PRESIGN_BUCKETS: "ED25519/EdDSA" });
    const { baseUrl, apiKey } = service.access;
    const { treasuryId } = localnet.treasury;
    const fresh = createClient({
      baseUrl,
      apiKey,
      network: "localnet",
      fullnodeUrl: localnet.url,
      treasuryId,
    });
    const dwalletId = idOf(kept);
    const unknown = fresh.getDWallet({ dwalletId });
    await expect(unknown).rejects.toMatchObject({ reason: "DWALLET_NOT_FOUND" });
    const foreign = fresh.adoptDWallet({ seed: otherSeed, curve, dwalletId });
    await expect(foreign).rejects.toMatchObject({ reason: "SHARE_UNVERIFIED" });
    const gone = fresh.adoptDWallet({ seed, curve, dwalletId: idOf(left) });
    await expect(gone).rejects.toMatchObject({ reason: "CUSTODY_MISMATCH" });

    const before = (await fresh.balance()).balanceMicroUsd;
    const adopted = await fresh.adoptDWallet({ seed, curve, dwalletId });
    const { publicKeyHex, addresses, encryptedUserSecretKeyShareId, sessionDigestHex } = kept;
    const same = { publicKeyHex, addresses, encryptedUserSecretKeyShareId, sessionDigestHex };
    expect(adopted).toEqual({ dwallet: { id: dwalletId, curve }, ...same });
    expect((await fresh.balance()).balanceMicroUsd).toBe(before);

    const message = new TextEncoder().encode("signed by a service that had forgotten the dWallet");
    const algorithm = { signatureAlgorithm: "EdDSA", hashScheme: "SHA512" } as const;
    const { signature } = await fresh.sign({ seed, curve, dwalletId, ...algorithm, message });
    const triple = findTriple("ED25519", "EdDSA", "SHA512")!;
    const publicKey = Buffer.from(publicKeyHex, "hex");
    expect(isValidSignature({ ...triple, publicKey, message, signature })).toBe(true);
  });
});

type ShareObject = ReturnType<typeof EncryptedUserSecretKeyShare.parse>;

/** Changes the objects of one kind in the replies of a fullnode. */
function lieAbout(kind: string, change: (object: GrpcTypes.Object) => void) {
  const message = (bytes: Uint8Array): Uint8Array => {
    const reply = GrpcTypes.BatchGetObjectsResponse.fromBinary(bytes);
    for (const { result } of reply.objects)
      if (result.oneofKind === "object" && result.object.objectType?.endsWith(kind)) change(result.object);
    return GrpcTypes.BatchGetObjectsResponse.toBinary(reply);
  };
  return { changes: { call: "BatchGetObjects", message } };
}

const lieAboutShare = (change: (share: ShareObject) => ShareObject) =>
  lieAbout("::EncryptedUserSecretKeyShare", (object) => {
    const content = object.contents!;
    content.value = EncryptedUserSecretKeyShare.serialize(
      change(EncryptedUserSecretKeyShare.parse(content.value!)) as never,
    ).toBytes();
  });

describe("a lying fullnode gets an error and no share", { timeout: 600_000 }, () => {
  it.each([
    [
      "a share of another type",
      lieAbout("::EncryptedUserSecretKeyShare", (object) => {
        object.objectType = object.objectType!.replace(
          "::EncryptedUserSecretKeyShare",
          "::PartialUserSignature",
        );
      }),
      false,
      "OBJECT_MISMATCH",
    ],
    [
      "a share of another owner",
      lieAboutShare((share) => ({ ...share, encryption_key_address: `0x${"7".repeat(64)}` })),
      false,
      "SHARE_UNVERIFIED",
    ],
    [
      "another encrypted share",
      lieAboutShare((share) => {
        const bytes = [...share.encrypted_centralized_secret_share_and_proof];
        bytes[bytes.length - 1]! ^= 1;
        return { ...share, encrypted_centralized_secret_share_and_proof: bytes };
      }),
      true,
      "CRYPTO_FAILED",
    ],
    [
      "another public output",
      lieAbout("::DWallet", (object) => {
        const dwallet = DWallet.parse(object.contents!.value!);
        const output = [...dwallet.state.Active!];
        output[output.length - 1]! ^= 1;
        object.contents!.value = DWallet.serialize({ ...dwallet, state: { Active: output } }).toBytes();
      }),
      false,
      "SHARE_UNVERIFIED",
    ],
  ])("if it shows %s", async (_what, lie, acceptUnverifiedShare, reason) => {
    const fullnode = await startLyingFullnode(localnet.url, lie);
    try {
      const lied = createRecovery({ network: "localnet", fullnodeUrl: fullnode.url, ika: idsOf(localnet) });
      const share = lied.recoverShare({ seed, curve, dwalletId: idOf(kept), acceptUnverifiedShare });
      await expect(share).rejects.toMatchObject({ reason });
      if (acceptUnverifiedShare) return;
      const out = path.join(folder, `lied-${reason}`);
      const one = ["--dwallet", idOf(kept), "--curve", curve, "--out", out];
      const { exitCode, err } = await tssRecover(fullnode.url, ...one);
      expect({ exitCode, err }).toMatchObject({ exitCode: 1, err: expect.stringContaining(reason) });
      expect(existsSync(out)).toBe(false);
    } finally {
      fullnode.close();
    }
  });
});
