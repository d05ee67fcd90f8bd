/**
 * A program that dies at any call of an import, a recovery or a half for later, and begins again. The service and the
 * chain live on. Whatever the service charges for has the same identity in both runs.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import { describe, expect, test } from "vitest";
import {
  SignRequest_Hold_State as HoldState,
  SignRequest_Status as Status,
} from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { deriveUserKeys, signDWalletOutput } from "../../../../src/client/crypto/user-keys.ts";
import { importKey } from "../../../../src/client/sdk/actions/imports/import-key.ts";
import { signLater } from "../../../../src/client/sdk/actions/later/sign-later.ts";
import { recoverShare } from "../../../../src/client/sdk/actions/recovery/recover-share.ts";
import { resume } from "../../../../src/client/sdk/actions/resume.ts";
import {
  acceptShare,
  registerRecipient,
  shareWith,
} from "../../../../src/client/sdk/actions/sharing/share-with.ts";
import { createMadeHalves } from "../../../../src/client/sdk/actions/signing/made-halves.ts";
import type { ClientContext } from "../../../../src/client/sdk/context.ts";
import { addRecovery, joinPieces } from "../../../../src/client/seed/pieces/index.ts";
import { ed25519PublicKey } from "../../../support/crypto/private-keys.ts";
import {
  createFakeService,
  DWALLET,
  DWALLET_ID,
  type FakeService,
  HELD_SHARE_ID,
  MESSAGE,
  RECIPIENT_KEY_ID,
  SEED,
  type SeenCall,
  SHARE_ID,
  SIGN_REQUEST_ID,
  SIGNERS,
} from "../../../unit/client/sdk/fake-service.ts";

const curve = "ED25519";
const PRIVATE_KEY = new Uint8Array(32).fill(0x5a);
/** The seed whose keys are those of the other user of the fake service. */
const RECOVERY_SEED = new Uint8Array(32).fill(22);
const own = { seed: SEED, curve, dwalletId: DWALLET_ID } as const;

/** What a program does, and does again after it died. */
interface Program {
  readonly name: string;
  /** Prepares the service. */
  prepare(service: FakeService): void;
  /** Runs in a new process, which has only the token that the last one stored. Returns what shows success. */
  run(context: ClientContext, life: Life): Promise<unknown>;
  readonly result: unknown;
  /** The call that the service charges for, and what it charges once. */
  readonly charged: string;
  identityOf(call: SeenCall): string | null;
}

interface Life {
  readonly signal: AbortSignal;
  token: string | undefined;
}

const IMPORT: Program = {
  name: "an import of a key",
  prepare() {},
  async run(context, life) {
    const onResumeToken = (token: string): void => {
      life.token = token;
    };
    const options = { signal: life.signal, onResumeToken };
    const args = { seed: SEED, curve, privateKey: PRIVATE_KEY } as const;
    const made =
      life.token === undefined
        ? await importKey(context, args, options)
        : await resume(context, life.token, args, options);
    return "publicKeyHex" in made && made.publicKeyHex;
  },
  result: bytesToHex(ed25519PublicKey(PRIVATE_KEY)),
  charged: "createDWallet",
  identityOf: ({ request }) => bytesToHex((request as { sessionIdentifier: Uint8Array }).sessionIdentifier),
};

const RECOVERY: Program = {
  name: "a recovery by pieces",
  prepare({ script }) {
    let isAccepted = false;
    const holderAddress = SIGNERS.other.signerAddress;
    script.dwalletState = () => ({ Active: DWALLET.output });
    script.listedShares = () => [SHARE_ID, HELD_SHARE_ID];
    script.registeredSigner = holderAddress;
    script.heldShare = () => ({
      encryption_key_address: holderAddress,
      state: isAccepted
        ? { KeyHolderSigned: signDWalletOutput(SIGNERS.other, DWALLET.output) }
        : { NetworkVerificationCompleted: true },
    });
    script.lie = (method, reply) => {
      if (method === "registerEncryptionKey") Object.assign(reply, { encryptionKeyId: RECIPIENT_KEY_ID });
      if (method === "acceptShare") isAccepted = true;
      if (method === "acceptShare") Object.assign(reply, { holderAddress });
      if (method === "listHolders")
        Object.assign((reply as unknown as { holders: object[] }).holders[0]!, { holderAddress });
    };
  },
  async run(context, { signal }) {
    const engine = {
      ...context.engine,
      deriveUserKeys: async ({ seed }: { seed: Uint8Array }) => deriveUserKeys(seed, curve),
    };
    const withKeys = { ...context, engine };
    const client = {
      registerRecipient: registerRecipient.bind(undefined, withKeys),
      shareWith: shareWith.bind(undefined, withKeys),
      acceptShare: acceptShare.bind(undefined, withKeys),
      recoverShare: recoverShare.bind(undefined, withKeys),
    };
    const pieces = { threshold: 2, count: 3, recoverySeed: RECOVERY_SEED };
    const added = await addRecovery(client, { ...own, ...pieces }, { signal });
    return (await joinPieces(added.pieces)).seed;
  },
  result: RECOVERY_SEED,
  charged: "shareDWallet",
  identityOf: ({ request }) => (request as { recipientAddress: string }).recipientAddress,
};

const LATER: Program = {
  name: "a half for later",
  prepare({ script }) {
    script.dwalletState = () => ({ Active: DWALLET.output });
    script.signStatuses = [Status.queued];
    script.holdStates = [HoldState.verifying, HoldState.verifying, HoldState.held];
    script.lie = (method) => {
      if (method === "submitSign") script.reservedStatus = Status.queued;
    };
  },
  async run(context, { signal }) {
    const algorithm = { signatureAlgorithm: "EdDSA", hashScheme: "SHA512" } as const;
    const args = { ...own, ...algorithm, message: MESSAGE, holdSeconds: 3_600 };
    const later = await signLater(context, args, { signal, idempotencyKey: "payment-of-Monday" });
    return later.signRequestId;
  },
  result: SIGN_REQUEST_ID,
  charged: "reserveSign",
  identityOf: ({ headers }) => headers.get("idempotency-key"),
};

/** A place at which a program dies: before the service gets its nth call, or before the program gets the nth reply. */
interface Death {
  readonly when: "call" | "reply";
  readonly number: number;
}

/** Runs a program, and again after its death if there is one. Returns what the last run did. */
async function live(program: Program, death?: Death) {
  const service = createFakeService();
  const { script, context } = service;
  program.prepare(service);
  const { lie } = script;
  const kill = new AbortController();
  const counts = { call: 0, reply: 0 };
  const isLast = (when: Death["when"]): boolean => {
    counts[when]++;
    return !kill.signal.aborted && death?.when === when && death.number === counts[when];
  };
  script.before = () => {
    if (!isLast("call")) return;
    kill.abort();
    throw new Error("the call does not arrive");
  };
  script.lie = (method, reply) => {
    lie(method, reply);
    if (isLast("reply")) kill.abort();
  };
  const life: Life = { signal: kill.signal, token: undefined };
  const first = program.run(context, life);
  if (death === undefined) return { service, result: await first, counts };
  // Nobody learns how the dead program's run ends: after its last reply it may succeed.
  await first.catch((error: unknown) => expect(error).toMatchObject({ reason: "ABORTED" }));
  expect(kill.signal.aborted).toBe(true);
  const anew = { ...context, madeHalves: createMadeHalves(context.engine), activeDWallets: new Map() };
  const next: Life = { signal: new AbortController().signal, token: life.token };
  return { service, result: await program.run(anew, next), counts };
}

describe.each([IMPORT, RECOVERY, LATER])("$name", (program) => {
  test("succeeds after a death at each of its calls and replies, and is charged for as one", async () => {
    const { counts, result: alive } = await live(program);
    expect(alive).toEqual(program.result);
    const numbers = (when: Death["when"]): Death[] =>
      Array.from({ length: counts[when] }, (_, at) => ({ when, number: at + 1 }));
    const deaths = [...numbers("call"), ...numbers("reply")];
    expect(deaths.length).toBeGreaterThan(6);
    for (const death of deaths) {
      const { service, result } = await live(program, death);
      const where = `${death.when} ${death.number}`;
      expect(result, where).toEqual(program.result);
      const charged = service.seen.filter(({ method }) => method === program.charged).map(program.identityOf);
      expect(new Set(charged).size, where).toBe(1);
    }
  });
});
