/** What a recovery is made of: only the fresh seed's own share on the chain, whatever the service says. */
import { Code } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ShareDWalletRequest } from "../../../../gen/proto/tss/v1/sharing_pb.ts";
import {
  deriveUserKeys,
  signDWalletOutput,
  signerAddressOf,
} from "../../../../src/client/crypto/user-keys.ts";
import { recoverShare } from "../../../../src/client/sdk/actions/recovery/recover-share.ts";
import {
  acceptShare,
  registerRecipient,
  shareWith,
} from "../../../../src/client/sdk/actions/sharing/share-with.ts";
import { TssError } from "../../../../src/client/sdk/errors.ts";
import {
  type AddRecoveryArgs,
  addRecovery,
  joinPieces,
  type RecoveryClient,
} from "../../../../src/client/seed/pieces/index.ts";
import { makeImportedDWallet } from "../../../support/crypto/made-dwallet.ts";
import {
  createFakeService,
  DWALLET,
  DWALLET_ID,
  type FakeService,
  HELD_SHARE_ID,
  RECIPIENT_KEY_ID,
  SEED,
  SESSION_DIGEST,
  SHARE_ID,
  SIGNERS,
  serviceError,
  shareOf,
} from "../sdk/fake-service.ts";

const curve = "ED25519";
/** The seed whose keys are those of the other user of the fake service. */
const RECOVERY_SEED = new Uint8Array(32).fill(22);
const holderAddress = SIGNERS.other.signerAddress;
const args = {
  seed: SEED,
  curve,
  dwalletId: DWALLET_ID,
  threshold: 2,
  count: 3,
  recoverySeed: RECOVERY_SEED,
} as const;

let service: FakeService;
let isAccepted: boolean;
/** What the service says besides the truth. */
let lie: FakeService["script"]["lie"];

beforeEach(() => {
  service = createFakeService();
  isAccepted = false;
  lie = () => {};
  const { script } = service;
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
    if (method === "acceptShare") {
      Object.assign(reply, { holderAddress });
      isAccepted = true;
    }
    if (method === "listHolders")
      Object.assign((reply as unknown as { holders: object[] }).holders[0]!, { holderAddress });
    lie(method, reply);
  };
});

/** The actions of a client on the fake service, with the keys of each seed. */
function clientOf({ context }: FakeService): RecoveryClient {
  const engine = {
    ...context.engine,
    deriveUserKeys: async ({ seed }: { seed: Uint8Array }) => deriveUserKeys(seed, curve),
  };
  const own = { ...context, engine };
  return {
    registerRecipient: (...rest) => registerRecipient(own, ...rest),
    shareWith: (...rest) => shareWith(own, ...rest),
    acceptShare: (...rest) => acceptShare(own, ...rest),
    recoverShare: (...rest) => recoverShare(own, ...rest),
  };
}

describe("a recovery", () => {
  test("is shared with the address of the seed that its pieces give", async () => {
    const added = await addRecovery(clientOf(service), { ...args, userReference: "heirs" });
    expect(added).toMatchObject({
      dwalletId: DWALLET_ID,
      holderAddress,
      encryptedUserSecretKeyShareId: HELD_SHARE_ID,
    });
    expect(added.pieces).toHaveLength(3);
    const joined = await joinPieces(added.pieces.slice(1));
    expect(joined).toMatchObject({ seed: RECOVERY_SEED, dwalletId: DWALLET_ID, curve, holderAddress });
    const shared = service.seen.find(({ method }) => method === "shareDWallet")?.request;
    expect(shared).toMatchObject({ recipientAddress: holderAddress, userReference: "heirs" });
  });

  test("of an imported key accepts the public key that the owner's share has proved", async () => {
    const { script } = service;
    const imported = makeImportedDWallet(shareOf(SEED, SESSION_DIGEST), new Uint8Array(32).fill(0x5a));
    script.made = imported;
    script.isImportedKey = true;
    script.dwalletState = () => ({ Active: imported.output });
    script.decryptedShare = imported.userSecretKeyShare;
    script.heldShare = () => ({
      encryption_key_address: holderAddress,
      state: isAccepted
        ? { KeyHolderSigned: signDWalletOutput(SIGNERS.other, imported.output) }
        : { NetworkVerificationCompleted: true },
    });
    script.shareState = () => ({ KeyHolderSigned: signDWalletOutput(SIGNERS.own, imported.output) });
    const { pieces } = await addRecovery(clientOf(service), args);
    expect((await joinPieces(pieces)).seed).toEqual(RECOVERY_SEED);
  });

  test.each<[string, () => void, string]>([
    [
      "registers the key for somebody else",
      () => {
        service.script.registeredSigner = SIGNERS.own.signerAddress;
      },
      "OUTPUT_MISMATCH",
    ],
    [
      "names a key of its own on the chain",
      () => {
        service.script.recipientKey = () => ({
          encryption_key: SIGNERS.own.encryptionKey,
          signer_public_key: SIGNERS.own.signerPublicKey,
          signer_address: SIGNERS.own.signerAddress,
        });
      },
      "RECIPIENT_MISMATCH",
    ],
    [
      "puts its key under the recovery's address",
      () => {
        service.script.recipientKey = () => ({ encryption_key: SIGNERS.own.encryptionKey });
      },
      "RECIPIENT_MISMATCH",
    ],
    [
      "answers with somebody else's share",
      () => {
        service.script.heldShare = () => ({ encryption_key_address: SIGNERS.own.signerAddress });
      },
      "SHARE_MISMATCH",
    ],
    [
      "shows a share that does not fit the dWallet",
      () => {
        service.script.decryptedShare = Uint8Array.of(0, 32, 7, ...new Uint8Array(31));
      },
      "SHARE_MISMATCH",
    ],
    [
      "does not accept the share",
      () => {
        service.script.before = (method) => {
          if (method === "acceptShare") throw serviceError(Code.FailedPrecondition, "WRONG_STATE");
        };
      },
      "WRONG_STATE",
    ],
  ])("has no pieces if the service %s, and the error names the holder", async (_, change, reason) => {
    change();
    const failing = addRecovery(clientOf(service), args);
    await expect(failing).rejects.toMatchObject({ reason, metadata: { holderAddress } });
  });

  test("consents to no other recipient than its own key, whatever the client's registration returns", async () => {
    const client = clientOf(service);
    const encryptionKeyId = RECIPIENT_KEY_ID;
    await addRecovery(
      { ...client, registerRecipient: async () => ({ address: SIGNERS.own.signerAddress, encryptionKeyId }) },
      args,
    );
    const { request } = service.seen.find(({ method }) => method === "shareDWallet")!;
    expect((request as ShareDWalletRequest).recipientAddress).toBe(holderAddress);
  });

  test.each<[string, Partial<AddRecoveryArgs>]>([
    ["seed", { seed: new Uint8Array(31) }],
    ["dwalletId", { dwalletId: "0x1" }],
    ["count", { count: 1 }],
    ["count", { count: 17 }],
    ["count", { count: 2.5 }],
    ["threshold", { threshold: 1 }],
    ["threshold", { threshold: 4 }],
    ["threshold", { threshold: Number.NaN }],
    ["recoverySeed", { recoverySeed: new Uint8Array(31) }],
    ["recoverySeed", { recoverySeed: SEED }],
    // Everybody knows the seed that an overwritten one has become.
    ["recoverySeed", { recoverySeed: new Uint8Array(32) }],
    ["userReference", { userReference: "" }],
    ["projectId", { projectId: "mine" }],
    ["sessionDigestHex", { sessionDigestHex: "5e" }],
    ["timeoutMs", { timeoutMs: 0 }],
  ])("with a malformed %s is refused before anything is sent", async (field, wrong) => {
    await expect(addRecovery(clientOf(service), { ...args, ...wrong })).rejects.toMatchObject({
      reason: "VALIDATION",
      metadata: { field },
    });
    expect(service.seen).toEqual([]);
  });
});

describe("the seeds of a recovery", () => {
  const shared = {
    dwalletId: DWALLET_ID,
    holderAddress,
    encryptedUserSecretKeyShareId: HELD_SHARE_ID,
  } as const;
  const recovered = { encryptedUserSecretKeyShareId: HELD_SHARE_ID };
  let given: Uint8Array[];

  beforeEach(() => {
    given = [];
    vi.useFakeTimers();
  });
  afterEach(() => void vi.useRealTimers());

  /** A client that keeps the seeds that it gets. `recover` answers each look at the chain. */
  function recordingClient(recover: () => unknown = () => recovered): RecoveryClient {
    const keep =
      (reply: () => unknown) =>
      async ({ seed }: { seed: Uint8Array }) => {
        given.push(seed);
        return reply() as never;
      };
    return {
      registerRecipient: keep(() => ({ address: "", encryptionKeyId: RECIPIENT_KEY_ID })),
      shareWith: keep(() => shared),
      acceptShare: keep(() => ({})),
      recoverShare: keep(recover),
    };
  }
  const { recoverySeed: _, ...fresh } = args;

  test("are fresh each time, and no copy outlives the call", async () => {
    const first = await addRecovery(recordingClient(), fresh);
    const second = await addRecovery(recordingClient(), fresh);
    const seeds = await Promise.all([first, second].map(({ pieces }) => joinPieces(pieces)));
    for (const [at, { seed }] of seeds.entries())
      expect(signerAddressOf(seed, curve)).toBe([first, second][at]!.holderAddress);
    expect(first.holderAddress).not.toBe(second.holderAddress);
    expect(given.length).toBe(8);
    for (const seed of given) expect(seed).toEqual(new Uint8Array(32));
    expect(SEED).toEqual(new Uint8Array(32).fill(21));
  });

  test("are overwritten also after a failure, except those of the caller", async () => {
    const recoverySeed = new Uint8Array(32).fill(22);
    const failing = recordingClient(() => {
      throw new TssError("CHAIN_UNAVAILABLE", "no fullnode answers");
    });
    await expect(addRecovery(failing, { ...args, recoverySeed })).rejects.toMatchObject({
      reason: "CHAIN_UNAVAILABLE",
      metadata: { holderAddress },
    });
    for (const seed of given) expect(seed).toEqual(new Uint8Array(32));
    expect(recoverySeed).toEqual(RECOVERY_SEED);
  });

  test("are split once a fullnode that lags behind shows the accepted share", async () => {
    const replies = ["SHARE_UNVERIFIED", "SHARE_MISMATCH", "OUTPUT_MISMATCH"];
    const lagging = recordingClient(() => {
      const reason = replies.shift();
      if (reason !== undefined) throw new TssError(reason, "not yet");
      return recovered;
    });
    const adding = addRecovery(lagging, args);
    await vi.advanceTimersByTimeAsync(2_000);
    expect((await adding).pieces).toHaveLength(3);
  });

  test("are split also if the chain still has the accepted share of an earlier attempt", async () => {
    const again: RecoveryClient = {
      ...recordingClient(),
      recoverShare: async ({ encryptedUserSecretKeyShareId = SHARE_ID }) =>
        ({ encryptedUserSecretKeyShareId }) as never,
    };
    const adding = addRecovery(again, args);
    const settled = Promise.allSettled([adding]);
    await vi.advanceTimersByTimeAsync(31_000);
    expect(await settled).toMatchObject([
      { status: "fulfilled", value: { encryptedUserSecretKeyShareId: HELD_SHARE_ID } },
    ]);
  });

  test("are not split after the caller's abort", async () => {
    const abort = new AbortController();
    const never = recordingClient(() => {
      throw new TssError("SHARE_UNVERIFIED", "not yet");
    });
    const adding = addRecovery(never, args, { signal: abort.signal });
    const refused = expect(adding).rejects.toMatchObject({ reason: "ABORTED", metadata: { holderAddress } });
    await vi.advanceTimersByTimeAsync(700);
    abort.abort();
    await refused;
    for (const seed of given) expect(seed).toEqual(new Uint8Array(32));
  });

  test.each<[string, () => unknown, string]>([
    [
      "the acceptance",
      () => {
        throw new TssError("OUTPUT_MISMATCH", "the seed's signer did not sign this public output");
      },
      "OUTPUT_MISMATCH",
    ],
    ["another share", () => ({ encryptedUserSecretKeyShareId: SHARE_ID }), "SHARE_MISMATCH"],
  ])(
    "are not split if the chain never shows what the service reports: %s",
    async (_what, recover, reason) => {
      const adding = addRecovery(recordingClient(recover), args);
      const refused = expect(adding).rejects.toMatchObject({ reason, metadata: { holderAddress } });
      await vi.advanceTimersByTimeAsync(31_000);
      await refused;
    },
  );
});
