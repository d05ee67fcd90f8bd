/**
 * Actions that are interrupted at every step and resumed by their token, with real cryptography, on one service. The
 * interruptions are a cut connection, a dead client process and a killed service. Each time there is one dWallet, one
 * charge and one signature.
 */
import { randomBytes } from "node:crypto";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createClient,
  LedgerEntryKind,
  type OnboardResult,
  type SignArgs,
  type TssClient,
  TssError,
} from "../../src/client/sdk/index.ts";
import { findTriple } from "../../src/protocol/algorithms.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { atNight } from "../support/environment.ts";
import { bakedFolder } from "../support/service/baked-folder.ts";
import { type ServiceProcess, startService } from "../support/service/service.ts";

const curve = "ED25519";
const algorithm = { curve, signatureAlgorithm: "EdDSA", hashScheme: "SHA512" } as const;
const triple = findTriple("ED25519", "EdDSA", "SHA512")!;
const settings = {
  PRESIGN_BUCKETS: "ED25519/EdDSA",
  BILLING_PRICE_DKG_MICRO_USD: "7000",
};
const { folder, keys, remove } = await bakedFolder();
const signer = { seed: keys.ED25519.seed, key: keys.ED25519.onboarded };
let service: ServiceProcess;

beforeAll(async () => {
  service = await startService(folder, settings);
});
afterAll(async () => {
  await service?.stop();
  remove();
});

describe("an onboarding makes one dWallet for one charge", () => {
  it.each(cutsOf(["getNetwork", "registerEncryptionKey", "createDWallet", "acceptDWallet"]))(
    "even if the connection is cut at %s, %s the service gets the call",
    async (method, when) => {
      const seed = newSeed();
      const money = await moneyOf("dkg");
      const error = await failureOf(newClient(cuttingAt(method, when)).onboard({ seed, curve }));
      expect(error).toMatchObject({ reason: "UNREACHABLE", resumeToken: expect.any(String) });
      await resumesOnboarding(error.resumeToken!, seed, money);
    },
  );

  it.each(
    atNight(
      ["network", "parameters", "keys", "register", "prepare", "create", "dkg", "accept", "activate"],
      ["create"],
    ),
  )("even if the client dies at %s and only the token is left", async (stage) => {
    const seed = newSeed();
    const money = await moneyOf("dkg");
    const token = await tokenOfKilled(stage, (options) => newClient().onboard({ seed, curve }, options));
    await resumesOnboarding(token, seed, money);
  });

  // The simulation kills the service at each of its calls (test/sim/kills.test.ts).
  it.each(atNight(["register", "create", "dkg", "accept", "activate"], ["accept"]))(
    "even if the service is killed at %s and restarts",
    async (stage) => {
      const seed = newSeed();
      const money = await moneyOf("dkg");
      const token = await tokenOfCrashed(stage, (options) => newClient().onboard({ seed, curve }, options));
      await signs(seed, await resumesOnboarding(token, seed, money));
    },
  );

  /** Resumes twice at once, like two tabs. */
  async function resumesOnboarding(token: string, seed: Uint8Array, money: Money): Promise<OnboardResult> {
    const results = await Promise.all([1, 2].map(() => newClient().resume(token, { seed })));
    const [first, second] = results;
    if (first?.kind !== "onboard") throw new Error("another action was resumed");
    expect(second).toMatchObject({ dwallet: first.dwallet, publicKeyHex: first.publicKeyHex });
    const made = await recent((client) => client.listDWallets(), money.dwalletCount);
    expect(made.map(({ dwalletId }) => dwalletId)).toEqual([first.dwallet.id]);
    expect(await moneyOf("dkg")).toEqual({
      dwalletCount: money.dwalletCount + 1,
      chargeCount: money.chargeCount + 1,
    });
    return first;
  }
});

describe("a name makes one dWallet for one charge", () => {
  const name = "treasury";
  const seed = newSeed();

  it("even if several clients use it at once, and one uses it again", async () => {
    const money = await moneyOf("dkg");
    const made = await Promise.all([1, 2, 3].map(() => newClient().getOrCreate({ seed, curve, name })));
    const again = await newClient().getOrCreate({ seed, curve, name });
    expect(new Set([...made, again].map(({ dwallet }) => dwallet.id)).size).toBe(1);
    expect(await moneyOf("dkg")).toEqual({
      dwalletCount: money.dwalletCount + 1,
      chargeCount: money.chargeCount + 1,
    });
    await signs(seed, again);
  });

  it("and refuses another seed", async () => {
    const other = newClient().getOrCreate({ seed: newSeed(), curve, name });
    await expect(other).rejects.toMatchObject({ reason: "SHARE_UNVERIFIED" });
  });
});

describe("signing makes one signature for one charge", () => {
  it.each(cutsOf(["reserveSign", "submitSign", "watchSign"]))(
    "even if the connection is cut at %s, %s the service gets the call",
    async (method, when) => {
      const args = signArgs();
      const money = await moneyOf("sign");
      const error = await failureOf(newClient(cuttingAt(method, when)).sign(args));
      expect(error).toMatchObject({ reason: "UNREACHABLE", resumeToken: expect.any(String) });
      await resumesSignature(error.resumeToken!, args, money);
    },
  );

  it.each(
    atNight(
      ["dwallet", "parameters", "share", "reserve", "compute", "submit", "queued", "submitted"],
      ["submit"],
    ),
  )("even if the client dies at %s and only the token is left", async (stage) => {
    const args = signArgs();
    const money = await moneyOf("sign");
    // The network holds the session back, so that the client sees the request as submitted.
    await pauseSessions(true);
    const token = await tokenOfKilled(stage, (options) => newClient().sign(args, options));
    await pauseSessions(false);
    await resumesSignature(token, args, money);
  });

  // By day, service-crash.test.ts kills the service between the submission and the signature.
  it.each(atNight(["reserve", "compute", "submit", "queued", "submitted"], []))(
    "even if the service is killed at %s and restarts",
    async (stage) => {
      const args = signArgs();
      const money = await moneyOf("sign");
      // The localnet ends together with the service, and would continue without a pause after the restart.
      await pauseSessions(true);
      const token = await tokenOfCrashed(stage, (options) => newClient().sign(args, options));
      await resumesSignature(token, args, money);
    },
  );

  it("even if the service is killed at verify: the client returns the signature, and resumes after the restart", async () => {
    const args = signArgs();
    const money = await moneyOf("sign");
    let token = "";
    let crashed: Promise<void> | undefined;
    const { signature } = await newClient().sign(args, {
      onResumeToken(given) {
        token = given;
      },
      onProgress(stage) {
        if (stage === "verify") crashed = service.crash();
      },
    });
    expect(isSignature(signer.key.publicKeyHex, args.message, signature)).toBe(true);
    await crashed;
    service = await startService(folder, settings);
    await resumesSignature(token, args, money);
  });

  async function resumesSignature(token: string, args: SignArgs, money: Money): Promise<void> {
    const { seed, message } = args;
    const results = await Promise.all([1, 2].map(() => newClient().resume(token, { seed, message })));
    const [first, second] = results;
    if (first?.kind !== "sign") throw new Error("another action was resumed");
    const { publicKeyHex } = signer.key;
    expect(isSignature(publicKeyHex, message, first.signature)).toBe(true);
    expect(second).toMatchObject({ signRequestId: first.signRequestId, signature: first.signature });
    expect(await moneyOf("sign")).toEqual({ ...money, chargeCount: money.chargeCount + 1 });
    const completed = newClient().listSigns({ dwalletId: args.dwalletId, pageSize: 1 });
    for await (const request of completed) {
      expect(Buffer.from(request.message)).toEqual(Buffer.from(message));
      break;
    }
    // A submitted request can be resumed without a secret, however it was interrupted.
    expect(await newClient().resume(token, { seed, message })).toMatchObject({ signature: first.signature });
  }
});

/**
 * The places at which a connection is cut: after the service got the last call, which has most to remember, and at
 * night before and after each call.
 */
function cutsOf(methods: readonly string[]): readonly (readonly [string, "before" | "after"])[] {
  const after = methods.map((method) => [method, "after"] as const);
  return atNight([...methods.map((method) => [method, "before"] as const), ...after], after.slice(-1));
}

/** A client object without state from any other. */
function newClient(transport?: Transport): TssClient {
  const { baseUrl, apiKey } = service.access;
  return createClient({ baseUrl, apiKey, network: "localnet", transport, reconnectTimeoutMs: 0 });
}

/**
 * A connection that is cut permanently at the first call of a method: before the service gets it, or before its reply
 * arrives.
 */
function cuttingAt(method: string, when: "before" | "after"): Transport {
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
  return {
    unary: (called, ...rest) => passes(called.localName, () => inner.unary(called, ...rest)),
    stream: (called, ...rest) => passes(called.localName, () => inner.stream(called, ...rest)),
  };
}

/** Starts an action with these options. */
type Begin = (options: {
  readonly onProgress: (begun: string) => void;
  readonly onResumeToken: (token: string) => void;
  readonly signal: AbortSignal;
}) => Promise<unknown>;

/** Starts an action, aborts it when a stage begins, and returns the newest token that it issued. */
async function tokenOfKilled(stage: string, begin: Begin): Promise<string> {
  const kill = new AbortController();
  let newest = "";
  const error = await failureOf(
    begin({
      signal: kill.signal,
      onResumeToken(token) {
        newest = token;
      },
      onProgress(begun) {
        if (begun === stage) kill.abort();
      },
    }),
  );
  expect(error.metadata["stage"]).toBe(stage);
  expect(error.resumeToken).toBe(newest);
  return newest;
}

/**
 * Starts an action, kills the service when a stage begins, and restarts it. Returns the newest token that the action
 * issued. The client gives up once the service is gone.
 */
async function tokenOfCrashed(stage: string, begin: Begin): Promise<string> {
  const giveUp = new AbortController();
  let newest = "";
  let isReached = false;
  const error = await failureOf(
    begin({
      signal: giveUp.signal,
      onResumeToken(token) {
        newest = token;
      },
      onProgress(begun) {
        if (begun !== stage) return;
        isReached = true;
        void service.crash().then(() => giveUp.abort());
      },
    }),
  );
  expect(isReached).toBe(true);
  expect(error.resumeToken).toBe(newest);
  service = await startService(folder, settings);
  return newest;
}

/** Makes the localnet hold all sessions back, or releases them. */
async function pauseSessions(paused: boolean): Promise<void> {
  const { fullnodeUrl } = service.access;
  const reply = await fetch(new URL("/localnet/faults", fullnodeUrl), {
    method: "POST",
    body: JSON.stringify({ paused }),
  });
  if (!reply.ok) throw new Error(`the localnet answers ${reply.status}`);
}

async function failureOf(action: Promise<unknown>): Promise<TssError> {
  const error = await action.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (error instanceof TssError) return error;
  throw new Error("the action was not interrupted", { cause: error });
}

function newSeed(): Uint8Array {
  return new Uint8Array(randomBytes(32));
}

function signArgs(): SignArgs {
  const { seed, key } = signer;
  const message = new Uint8Array(randomBytes(40));
  return { ...algorithm, seed, dwalletId: key.dwallet.id, sessionDigestHex: key.sessionDigestHex, message };
}

/** Expects that the dWallet belongs to the seed and signs. */
async function signs(seed: Uint8Array, { dwallet, publicKeyHex }: OnboardResult): Promise<void> {
  const message = new Uint8Array(randomBytes(20));
  const { signature } = await newClient().sign({ ...algorithm, seed, dwalletId: dwallet.id, message });
  expect(isSignature(publicKeyHex, message, signature)).toBe(true);
}

function isSignature(publicKeyHex: string, message: Uint8Array, signature: Uint8Array): boolean {
  return isValidSignature({ ...triple, publicKey: Buffer.from(publicKeyHex, "hex"), message, signature });
}

interface Money {
  readonly dwalletCount: number;
  readonly chargeCount: number;
}

/** Counts the project's dWallets, and its charges of one kind less the refunded ones. */
async function moneyOf(kind: "dkg" | "sign"): Promise<Money> {
  const back = kind === "dkg" ? LedgerEntryKind.dkg_refund : LedgerEntryKind.refund;
  let chargeCount = 0;
  for await (const entry of newClient().listLedgerEntries()) {
    if (entry.kind === LedgerEntryKind[kind]) chargeCount++;
    if (entry.kind === back) chargeCount--;
  }
  return { dwalletCount: (await recent((client) => client.listDWallets(), 0)).length, chargeCount };
}

/** The new items of a list, the newest first. */
async function recent<T>(list: (client: TssClient) => AsyncIterable<T>, knownCount: number): Promise<T[]> {
  const items: T[] = [];
  for await (const item of list(newClient())) items.push(item);
  return items.slice(0, items.length - knownCount);
}
