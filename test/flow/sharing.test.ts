/**
 * A dWallet that its owner shares with another user of the project, with real cryptography on one service: the recipient
 * signs until the owner removes it, and nothing that is interrupted is charged twice.
 */
import { randomBytes } from "node:crypto";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createClient,
  HolderState,
  LedgerEntryKind,
  type OnboardResult,
  type RecipientKey,
  type TssClient,
  type TssError,
} from "../../src/client/sdk/index.ts";
import { addRecovery, joinPieces } from "../../src/client/seed/pieces/index.ts";
import { findTriple } from "../../src/protocol/algorithms.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { atNight } from "../support/environment.ts";
import { bakedFolder } from "../support/service/baked-folder.ts";
import { type ServiceProcess, startService } from "../support/service/service.ts";

const curve = "ED25519";
const algorithm = { curve, signatureAlgorithm: "EdDSA", hashScheme: "SHA512" } as const;
const triple = findTriple("ED25519", "EdDSA", "SHA512")!;
const PRICE = 9_000n;
const settings = { PRESIGN_BUCKETS: "ED25519/EdDSA", BILLING_PRICE_SHARE_MICRO_USD: String(PRICE) };
const { folder, remove } = await bakedFolder();
const [alice, bob, carol] = ["alice", "bob", "carol"].map((userReference) => ({
  userReference,
  seed: new Uint8Array(randomBytes(32)),
})) as [TestUser, TestUser, TestUser];
let service: ServiceProcess;
let wallet: OnboardResult;
let toBob: RecipientKey;

interface TestUser {
  readonly userReference: string;
  readonly seed: Uint8Array;
}

beforeAll(async () => {
  service = await startService(folder, settings);
  wallet = await backend().onboard({ ...alice, curve });
}, 120_000);
afterAll(async () => {
  await service?.stop();
  remove();
});

describe("a shared dWallet", { timeout: 600_000 }, () => {
  it("is signed with by its recipient, whom nobody but its owner chose", async () => {
    const [owner, recipient, other] = await Promise.all([alice, bob, carol].map(sessionOf));
    toBob = await recipient!.registerRecipient({ ...bob, curve });
    const shared = { ...alice, ...toShare(toBob), userReference: "bob" };
    const early = recipient!.sign(signature(bob));
    await expect(early).rejects.toMatchObject({ reason: "DWALLET_NOT_FOUND" });
    const foreign = backend().shareWith({ ...shared, seed: bob.seed });
    await expect(foreign).rejects.toMatchObject({ reason: "SHARE_UNVERIFIED" });

    const before = await balance();
    const sent = await owner!.shareWith(shared);
    expect(await owner!.shareWith(shared)).toEqual(sent);
    expect(await balance()).toBe(before - PRICE);
    const holder = { holderAddress: toBob.address, userReference: "bob" };
    expect(await holders(owner!)).toMatchObject([holder]);
    expect(await holders(recipient!)).toMatchObject([{ ...holder, state: HolderState.AwaitingAcceptance }]);
    await expect(holders(other!)).rejects.toMatchObject({ reason: "DWALLET_NOT_FOUND" });

    const accepted = await recipient!.acceptShare({ ...bob, curve, dwalletId: wallet.dwallet.id });
    expect(accepted).toMatchObject({
      publicKeyHex: wallet.publicKeyHex,
      userSecretKeyShareHex: wallet.userSecretKeyShareHex,
      encryptedUserSecretKeyShareId: sent.encryptedUserSecretKeyShareId,
    });
    expect(await balance()).toBe(before - PRICE);
    await signs(recipient!, bob);
    await signs(owner!, alice);
    await expect(other!.sign(signature(bob))).rejects.toMatchObject({ reason: "DWALLET_NOT_FOUND" });
  });

  it("is neither shared further, left nor changed by its recipient", async () => {
    const [recipient, other] = await Promise.all([bob, carol].map(sessionOf));
    const toCarol = await other!.registerRecipient({ ...carol, curve });
    const dwalletId = wallet.dwallet.id;
    const further = backend().shareWith({ ...bob, ...toShare(toCarol), userReference: "carol" });
    await expect(further).rejects.toMatchObject({ reason: "SHARE_UNVERIFIED" });
    const removal = recipient!.removeHolder({ dwalletId, holderAddress: toBob.address });
    await expect(removal).rejects.toMatchObject({ reason: "DWALLET_NOT_FOUND" });
    await expect(recipient!.getDWallet({ dwalletId })).rejects.toMatchObject({ reason: "DWALLET_NOT_FOUND" });
  });

  it("is no longer signed with by a removed recipient, whose old consent counts no more", async () => {
    const [owner, recipient] = await Promise.all([alice, bob].map(sessionOf));
    const dwalletId = wallet.dwallet.id;
    const removed = await owner!.removeHolder({ dwalletId, holderAddress: toBob.address });
    expect(removed).toMatchObject({ state: HolderState.Removed, removeTime: expect.anything() });
    await expect(recipient!.sign(signature(bob))).rejects.toMatchObject({ reason: "DWALLET_NOT_FOUND" });
    await signs(owner!, alice);
  });
});

describe("sharing makes one share for one charge", { timeout: 600_000 }, () => {
  // By day, where the service has most to remember.
  it.each(
    atNight<readonly [string, "before" | "after"]>(
      [
        ["shareDWallet", "before"],
        ["shareDWallet", "after"],
      ],
      [["shareDWallet", "after"]],
    ),
  )("even if the connection is cut at %s, %s the service gets the call", async (method, when) => {
    const person = { userReference: "dave", seed: new Uint8Array(randomBytes(32)) };
    const recipient = await backend().registerRecipient({ ...person, curve });
    const shared = shareOf(recipient, person);
    const before = await charges();
    const cut = backend(cuttingAt(method, when).transport).shareWith(shared);
    await expect(cut).rejects.toMatchObject({ reason: "UNREACHABLE" });
    const [first, second] = await Promise.all([1, 2].map(() => backend().shareWith(shared)));
    expect(second).toEqual(first);
    expect(await charges()).toBe(before + 1);
    const dwalletId = wallet.dwallet.id;
    const lost = backend(cuttingAt("acceptShare", "after").transport).acceptShare({
      ...person,
      curve,
      dwalletId,
    });
    await expect(lost).rejects.toMatchObject({ reason: "UNREACHABLE" });
    await backend().acceptShare({ ...person, curve, dwalletId });
    await signs(await sessionOf(person), person);
    expect(await charges()).toBe(before + 1);
  });

  it.each(atNight(["send", "verify"], ["verify"]))(
    "even if the service is killed at %s and restarts",
    async (stage) => {
      const person = { userReference: "erin", seed: new Uint8Array(randomBytes(32)) };
      const recipient = await backend().registerRecipient({ ...person, curve });
      const shared = shareOf(recipient, person);
      const before = await charges();
      const giveUp = new AbortController();
      const killed = backend().shareWith(shared, {
        signal: giveUp.signal,
        onProgress(begun) {
          if (begun === stage) void service.crash().then(() => giveUp.abort());
        },
      });
      await expect(killed).rejects.toBeDefined();
      service = await startService(folder, settings);
      await backend().shareWith(shared);
      await backend().acceptShare({ ...person, curve, dwalletId: wallet.dwallet.id });
      await signs(await sessionOf(person), person);
      expect(await charges()).toBe(before + 1);
    },
  );
});

describe("a recovery that is added", { timeout: 600_000 }, () => {
  it("is one holder for one charge, although the service is killed after each call and the call is repeated", async () => {
    const recoverySeed = new Uint8Array(randomBytes(32));
    const asked = { ...alice, curve, dwalletId: wallet.dwallet.id, userReference: "frank" } as const;
    const args = { ...asked, recoverySeed, threshold: 2, count: 3 };
    const before = await charges();
    const addresses: unknown[] = [];
    for (const method of ["registerEncryptionKey", "shareDWallet", "acceptShare"]) {
      const { isCut, transport } = cuttingAt(method, "after");
      const interrupted = addRecovery(backend(transport), args);
      await interrupted.catch(({ metadata }: TssError) => addresses.push(metadata["holderAddress"]));
      expect(isCut()).toBe(true);
      await service.crash();
      service = await startService(folder, settings);
    }
    const { pieces, holderAddress } = await addRecovery(backend(), args);
    expect(addresses).toEqual([holderAddress, holderAddress, holderAddress]);
    expect(await charges()).toBe(before + 1);
    const ofRecovery = (await holders(backend())).filter((one) => one.holderAddress === holderAddress);
    expect(ofRecovery).toMatchObject([{ state: HolderState.Accepted }]);
    const { seed } = await joinPieces(pieces.slice(1));
    await signs(backend(), { userReference: "frank", seed });
  });
});

/** What the owner gives `shareWith` for another user. */
function shareOf(
  recipient: Awaited<ReturnType<TssClient["registerRecipient"]>>,
  { userReference }: { readonly userReference: string },
) {
  return { ...alice, curve, dwalletId: wallet.dwallet.id, recipient, userReference } as const;
}

function backend(transport?: Transport): TssClient {
  const { baseUrl, apiKey } = service.access;
  return createClient({ baseUrl, apiKey, network: "localnet", transport, reconnectTimeoutMs: 0 });
}

/** A client with a session of this user alone. */
async function sessionOf({ userReference }: TestUser): Promise<TssClient> {
  const { token } = await backend().sessions.create({ userReference, scopes: ["onboard", "sign", "read"] });
  const { baseUrl } = service.access;
  return createClient({ baseUrl, session: async () => ({ token }), network: "localnet" });
}

/** What is shared with the recipient. */
function toShare(recipient: RecipientKey) {
  return { curve, dwalletId: wallet.dwallet.id, recipient } as const;
}

function signature({ seed }: TestUser) {
  const message = new Uint8Array(randomBytes(30));
  return {
    ...algorithm,
    seed,
    dwalletId: wallet.dwallet.id,
    message,
    acceptUnverifiedShare: seed !== alice.seed,
  };
}

/** Expects that the user signs with the dWallet. */
async function signs(client: TssClient, user: TestUser): Promise<void> {
  const args = signature(user);
  const made = await client.sign(args);
  const publicKey = Buffer.from(wallet.publicKeyHex, "hex");
  expect(isValidSignature({ ...triple, publicKey, message: args.message, signature: made.signature })).toBe(
    true,
  );
}

const holders = (client: TssClient) => client.listHolders({ dwalletId: wallet.dwallet.id });

const balance = async () => (await backend().balance()).balanceMicroUsd;

/** Counts the charges for shares, less the refunds. */
async function charges(): Promise<number> {
  let count = 0;
  for await (const { kind } of backend().listLedgerEntries()) {
    if (kind === LedgerEntryKind.share) count++;
    if (kind === LedgerEntryKind.share_refund) count--;
  }
  return count;
}

/** A connection that is cut permanently at the first call of a method. */
function cuttingAt(method: string, when: "before" | "after"): { transport: Transport; isCut(): boolean } {
  const inner = createConnectTransport({ baseUrl: service.access.baseUrl, useBinaryFormat: true });
  let isCut = false;
  const cut = () => new ConnectError("the connection was cut", Code.Unavailable);
  const passes = async <T>(name: string, perform: () => Promise<T>): Promise<T> => {
    if (isCut) throw cut();
    if (name !== method) return await perform();
    isCut = true;
    if (when === "after") await perform();
    throw cut();
  };
  const transport: Transport = {
    unary: (called, ...rest) => passes(called.localName, () => inner.unary(called, ...rest)),
    stream: (called, ...rest) => passes(called.localName, () => inner.stream(called, ...rest)),
  };
  return { transport, isCut: () => isCut };
}
