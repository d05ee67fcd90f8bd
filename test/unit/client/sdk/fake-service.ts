import type { Message } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type Code,
  ConnectError,
  createRouterTransport,
  type HandlerContext,
  type Interceptor,
} from "@connectrpc/connect";
import { ErrorInfoSchema, RetryInfoSchema } from "../../../../gen/proto/google/rpc/error_details_pb.ts";
import { Account } from "../../../../gen/proto/tss/v1/account_pb.ts";
import { DWallet_State, DWalletKind, Onboarding } from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Holder_State, Sharing } from "../../../../gen/proto/tss/v1/sharing_pb.ts";
import {
  Signing,
  type SignRequest_Hold_State,
  SignRequest_Status,
} from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { Curve, Hash, SignatureAlgorithm } from "../../../../gen/proto/tss/v1/types_pb.ts";
import { deriveUserShare } from "../../../../src/client/crypto/derive-user-share.ts";
import {
  deriveUserKeys,
  signDWalletOutput,
  signEncryptionKey,
} from "../../../../src/client/crypto/user-keys.ts";
import { createMadeHalves } from "../../../../src/client/sdk/actions/signing/made-halves.ts";
import { createServiceCaller } from "../../../../src/client/sdk/calls/service-calls.ts";
import { withHeaders } from "../../../../src/client/sdk/calls/transport.ts";
import { createNetworkSource } from "../../../../src/client/sdk/chain/network.ts";
import { type ClientContext, createRawClients } from "../../../../src/client/sdk/context.ts";
import { hexToBytes } from "../../../../src/protocol/bytes.ts";
import type { ChainReader } from "../../../../src/protocol/chain/chain-reader.ts";
import {
  DWallet,
  EncryptedUserSecretKeyShare,
  EncryptionKey,
} from "../../../../src/protocol/chain/chain-structs.ts";
import { sessionIdentifierDigest } from "../../../../src/protocol/chain/session-identifier.ts";
import {
  custodyPlaces,
  custodyTableId,
  TreasuryDWallet,
} from "../../../../src/protocol/chain/treasury-custody.ts";
import { presignSession } from "../../../support/chain/chain-bytes.ts";
import { custodyObjects, treasuryContent } from "../../../support/chain/treasury-bytes.ts";
import { MADE_PARAMETERS, type MadeDWallet, makeDWallet } from "../../../support/crypto/made-dwallet.ts";
import { vectorOf } from "../../../support/crypto/signature-vectors.ts";
import { fakeEngine } from "./fake-engine.ts";

/** A signature with a presign and a curve that the service has. */
const VECTOR = vectorOf("EdDSA");
export const SEED = new Uint8Array(32).fill(21);
export const DWALLET_ID = `0x${"d".repeat(64)}`;
export const SHARE_ID = `0x${"5".repeat(64)}`;
/** A share that an owner has sent to the seed's key, and the key of another user. */
export const HELD_SHARE_ID = `0x${"6a".repeat(32)}`;
export const RECIPIENT_KEY_ID = `0x${"3e".repeat(32)}`;
export const NETWORK_KEY_ID = `0x${"e".repeat(64)}`;
export const SIGN_REQUEST_ID = "01890a5d-ac96-774b-bcce-b302099a8057";
export const PROJECT_ID = "01890a5d-ac96-774b-bcce-b302099a8058";
export const HOLD_EXPIRES_AT = new Date(1_800_000_000_000);
export const PRESIGN_ID = `0x${"2".repeat(64)}`;
export const SIGN_SESSION_ID = `0x${"b".repeat(64)}`;
export const MESSAGE = new TextEncoder().encode("a message");
export const TREASURY_ID = `0x${"7".repeat(64)}`;
const CAP_ID = `0x${"c".repeat(64)}`;
const HELD = { dwalletId: DWALLET_ID, capId: CAP_ID, curveNumber: 2 };
const HELD_RECORD = { curve: 2, is_refused: false, release: null };
const SENDER = `0x${"a".repeat(64)}`;
const KEYS = deriveUserKeys(SEED, "ED25519");
const OTHER_KEYS = deriveUserKeys(new Uint8Array(32).fill(22), "ED25519");
export const SESSION_DIGEST = new Uint8Array(32).fill(4);
/** The existing dWallet until an onboarding makes another. Its share is derived from the seed. */
export const DWALLET: MadeDWallet = makeDWallet(shareOf(SEED, SESSION_DIGEST));

/** By the chain's numbers. */
export const EDDSA = {
  curve: VECTOR.triple.curveNumber,
  signatureAlgorithm: VECTOR.triple.signatureAlgorithmNumber,
};

/** One call that reached the service. */
export interface SeenCall {
  readonly method: string;
  readonly headers: Headers;
  readonly request: unknown;
}

/** The settings that a test may change before or while a client runs. Each function may throw a ConnectError. */
export interface Script {
  network: string;
  /** The dWallet's state on the chain; undefined: it does not exist. */
  dwalletState: () => Parameters<typeof DWallet.serialize>[0]["state"] | undefined;
  /** The dWallet on the chain. An onboarding replaces it. */
  made: MadeDWallet;
  /** Whether the chain says that the dWallet's key was imported. */
  isImportedKey: boolean;
  /** The DKG's session as the service reports it, and as the chain has it. */
  sessionDigest: Uint8Array;
  chainSession: Uint8Array | undefined;
  /** The result of the engine's decryption. */
  decryptedShare: Uint8Array;
  /** The tables as the fullnode lists them: the shares of the dWallet, and the dWallets of the Treasury with owners. */
  listedShares: () => readonly string[];
  listedDWallets: () => readonly { readonly dwalletId: string; readonly owner: string }[];
  /** The share object on the chain. Default: signed by the seed's signer over the output. */
  shareState: () => ShareState;
  /** Changes of the share that an owner has sent to the seed's key, and of the other user's encryption key, if they exist. */
  heldShare: () => Partial<Parameters<typeof EncryptedUserSecretKeyShare.serialize>[0]> | undefined;
  recipientKey: () => Partial<Parameters<typeof EncryptionKey.serialize>[0]> | undefined;
  /** The dWallets that the service lists for any name. Each one is the dWallet with these fields. */
  named: () => { readonly name: string; readonly dwalletId?: string }[];
  encryptionKeyAddress: string;
  /** The dWallet that the share object names, and the id in the dWallet object. */
  shareDWalletId: string;
  dwalletObjectId: string;
  registeredSigner: string;
  /** The owner of the dWallet in the Treasury's records; undefined: the Treasury does not hold the capability. */
  custodyOwner: string | undefined;
  /** How the service handles an authorization. Default: the recipient gets the capability. */
  leave: (recipient: string) => void;
  /** The owner of the capability on Sui. */
  capHolder: () => string | undefined;
  /** Changes a reply before the client receives it. */
  lie: (method: string, reply: Message) => void;
  /** Runs before each call is answered. */
  before: (method: string, context: HandlerContext) => void;
  /** The presign that the service hands out, and the one on the chain; undefined: none. */
  presign: Uint8Array;
  chainPresign: () => Uint8Array | undefined;
  reservedStatus: SignRequest_Status;
  reservedOutput: () => Uint8Array;
  /** The hold that the service confirms; undefined for one that knows none. */
  reservedHoldSeconds: (asked: number | undefined) => number | undefined;
  /** The states of a request's hold, one per read; the last one stays. Empty: it has no hold. */
  holdStates: SignRequest_Hold_State[];
  /** Runs before each message of a watch. A watch ends with its error. */
  watching: (cursor: string) => void | Promise<void>;
  onlyHeartbeats: boolean;
  /** The sign request's states, one per read; the last one stays. */
  signStatuses: SignRequest_Status[];
  signature: () => Uint8Array;
  failureReason: string;
}

type ShareState = Parameters<typeof EncryptedUserSecretKeyShare.serialize>[0]["state"];

/** A service, a chain and an engine that know one dWallet, and the client context on them. */
export interface FakeService {
  readonly context: ClientContext;
  readonly script: Script;
  readonly seen: SeenCall[];
  /** The number of calls of each method, in the order of first calls. */
  counts(): Record<string, number>;
  /** The calls of the engine, in order. */
  readonly engineCalls: string[];
}

/** Creates a fake service. Without changes to the script every action succeeds. */
export function createFakeService(): FakeService {
  const seen: SeenCall[] = [];
  const engineCalls: string[] = [];
  let isAccepted = false;
  const script: Script = {
    network: "localnet",
    dwalletState: () =>
      isAccepted ? { Active: script.made.output } : { AwaitingKeyHolderSignature: script.made.output },
    made: DWALLET,
    isImportedKey: false,
    sessionDigest: SESSION_DIGEST,
    chainSession: undefined,
    decryptedShare: DWALLET.userSecretKeyShare,
    listedShares: () => [SHARE_ID],
    listedDWallets: () => [{ dwalletId: DWALLET_ID, owner: KEYS.signerAddress }],
    shareState: () => ({ KeyHolderSigned: signDWalletOutput(KEYS, script.made.output) }),
    heldShare: () => ({}),
    reservedHoldSeconds: (asked) => asked,
    holdStates: [],
    recipientKey: () => ({}),
    named: () => [],
    encryptionKeyAddress: KEYS.signerAddress,
    shareDWalletId: DWALLET_ID,
    dwalletObjectId: DWALLET_ID,
    registeredSigner: KEYS.signerAddress,
    custodyOwner: KEYS.signerAddress,
    leave(recipient) {
      script.custodyOwner = undefined;
      script.capHolder = () => recipient;
    },
    capHolder: () => custodyPlaces(treasuryContent(TREASURY_ID), DWALLET_ID).capEntryId,
    lie: () => {},
    before: () => {},
    watching: () => {},
    onlyHeartbeats: false,
    presign: VECTOR.presign!,
    chainPresign: () => presignSession(PRESIGN_ID, { Completed: VECTOR.presign! }, EDDSA),
    reservedStatus: SignRequest_Status.prepared,
    reservedOutput: () => script.made.output,
    signStatuses: [SignRequest_Status.queued, SignRequest_Status.submitted, SignRequest_Status.completed],
    signature: () => script.made.sign(MESSAGE),
    failureReason: "NETWORK_REJECTED",
  };
  const note = (method: string, request: unknown, context: HandlerContext): void => {
    seen.push({ method, headers: context.requestHeader, request });
    script.before(method, context);
  };
  const dwallet = (state: DWallet_State) => ({
    dwalletId: DWALLET_ID,
    curve: Curve.ED25519,
    state,
    encryptedUserSecretKeyShareId: SHARE_ID,
    encryptionKeyId: `0x${"1".repeat(64)}`,
    networkEncryptionKeyId: NETWORK_KEY_ID,
    txDigest: "dkg digest",
    sessionDigest: script.sessionDigest,
  });
  const held = () => ({
    dwalletId: DWALLET_ID,
    holderAddress: KEYS.signerAddress,
    encryptedUserSecretKeyShareId: HELD_SHARE_ID,
  });
  const signRequest = () => {
    const status = script.signStatuses.length > 1 ? script.signStatuses.shift()! : script.signStatuses[0]!;
    const hold = script.holdStates.length > 1 ? script.holdStates.shift() : script.holdStates[0];
    return {
      signRequestId: SIGN_REQUEST_ID,
      status,
      ...(hold !== undefined && {
        hold: { state: hold, expireTime: timestampFromDate(HOLD_EXPIRES_AT), txDigest: "half digest" },
      }),
      dwalletId: DWALLET_ID,
      curve: Curve.ED25519,
      signatureAlgorithm: SignatureAlgorithm.EdDSA,
      hashScheme: Hash.SHA512,
      message: MESSAGE,
      ...(status === SignRequest_Status.completed
        ? { signature: script.signature(), signSessionId: SIGN_SESSION_ID, txDigest: "sign digest" }
        : {}),
      ...(status === SignRequest_Status.failed
        ? { failure: { reason: script.failureReason, message: "in words", refunded: true } }
        : {}),
    };
  };
  const lying: Interceptor = (next) => async (request) => {
    const response = await next(request);
    const tell = (message: Message) => script.lie(request.method.localName, message);
    if (!response.stream) {
      tell(response.message);
      return response;
    }
    return { ...response, message: lied(response.message, tell) };
  };
  const transport = createRouterTransport(
    ({ service }) => {
      service(Onboarding, {
        getNetwork(request, context) {
          note("getNetwork", request, context);
          return {
            network: script.network,
            fullnodeUrl: "http://fullnode.invalid",
            senderAddresses: [SENDER],
            networkEncryptionKeyId: NETWORK_KEY_ID,
            treasuryId: TREASURY_ID,
          };
        },
        registerEncryptionKey(request, context) {
          note("registerEncryptionKey", request, context);
          return {
            encryptionKeyId: `0x${"1".repeat(64)}`,
            curve: request.curve,
            signerAddress: script.registeredSigner,
          };
        },
        createDWallet(request, context) {
          note("createDWallet", request, context);
          script.isImportedKey = request.kind === DWalletKind.imported_key;
          script.sessionDigest = sessionIdentifierDigest(request.sessionIdentifier, request.senderAddress);
          return dwallet(DWallet_State.AwaitingNetworkDKGVerification);
        },
        acceptDWallet(request, context) {
          note("acceptDWallet", request, context);
          isAccepted = true;
          return { ...dwallet(DWallet_State.Active), acceptTxDigest: "accept digest" };
        },
        adoptDWallet(request, context) {
          note("adoptDWallet", request, context);
          return dwallet(DWallet_State.Active);
        },
        leaveDWallet(request, context) {
          note("leaveDWallet", request, context);
          script.leave(request.recipient);
          return {
            dwalletId: DWALLET_ID,
            dwalletCapId: CAP_ID,
            recipient: request.recipient,
            txDigest: "said",
          };
        },
        getDWallet(request, context) {
          note("getDWallet", request, context);
          return dwallet(DWallet_State.Active);
        },
        listDWallets(request, context) {
          note("listDWallets", request, context);
          return { dwallets: script.named().map((row) => ({ ...dwallet(DWallet_State.Active), ...row })) };
        },
      });
      service(Sharing, {
        shareDWallet(request, context) {
          note("shareDWallet", request, context);
          return {
            dwalletId: request.dwalletId,
            holderAddress: request.recipientAddress,
            state: Holder_State.AwaitingNetworkVerification,
            encryptedUserSecretKeyShareId: HELD_SHARE_ID,
          };
        },
        acceptShare(request, context) {
          note("acceptShare", request, context);
          return { ...held(), state: Holder_State.Accepted };
        },
        listHolders(request, context) {
          note("listHolders", request, context);
          return { holders: [{ ...held(), state: Holder_State.AwaitingAcceptance }] };
        },
      });
      service(Account, {
        getAccount(request, context) {
          note("getAccount", request, context);
          return { projectId: PROJECT_ID };
        },
      });
      service(Signing, {
        reserveSign(request, context) {
          note("reserveSign", request, context);
          return {
            signRequestId: SIGN_REQUEST_ID,
            status: script.reservedStatus,
            presignId: PRESIGN_ID,
            presign: script.presign,
            dwalletPublicOutput: script.reservedOutput(),
            holdSeconds: script.reservedHoldSeconds(request.holdSeconds),
          };
        },
        submitSign(request, context) {
          note("submitSign", request, context);
          return signRequest();
        },
        getSign(request, context) {
          note("getSign", request, context);
          return signRequest();
        },
        async *watchSign(request, context) {
          note("watchSign", request, context);
          for (;;) {
            await script.watching(request.cursor);
            if (script.onlyHeartbeats) {
              yield { cursor: request.cursor };
              continue;
            }
            const state = signRequest();
            yield { signRequest: state, cursor: `cursor ${state.status}` };
            if (state.status === SignRequest_Status.completed || state.status === SignRequest_Status.failed)
              return;
            // A stream that keeps sending counts like a call that is repeated forever.
            script.before("watchSign", context);
          }
        },
      });
    },
    { transport: { interceptors: [lying] } },
  );
  const headers = { authorization: "Bearer tss_local_test", "x-network": "localnet" };
  const raw = createRawClients(withHeaders(transport, headers));
  const access = { raw, call: createServiceCaller(0) };
  const chain: ChainReader = {
    async getObjects(objectIds) {
      const state = script.dwalletState();
      const contents = new Map<string, Uint8Array>();
      if (objectIds.includes(DWALLET_ID) && state !== undefined)
        contents.set(DWALLET_ID, encodeDWallet(script, state));
      for (const [id, content] of custodyObjects(TREASURY_ID, { ...HELD, owner: script.custodyOwner }))
        if (objectIds.includes(id)) contents.set(id, content);
      if (objectIds.includes(SHARE_ID)) contents.set(SHARE_ID, encodeShare(script));
      const heldShare = script.heldShare();
      if (objectIds.includes(HELD_SHARE_ID) && heldShare !== undefined)
        contents.set(HELD_SHARE_ID, encodeHeldShare(heldShare));
      const recipientKey = script.recipientKey();
      if (objectIds.includes(RECIPIENT_KEY_ID) && recipientKey !== undefined)
        contents.set(RECIPIENT_KEY_ID, encodeRecipientKey(recipientKey));
      const presign = script.chainPresign();
      if (objectIds.includes(PRESIGN_ID) && presign !== undefined) contents.set(PRESIGN_ID, presign);
      return contents;
    },
  };
  const engine = fakeEngine(engineCalls, script, SEED);
  return {
    seen,
    engineCalls,
    script,
    counts: () => {
      const counts: Record<string, number> = {};
      for (const { method } of seen) counts[method] = (counts[method] ?? 0) + 1;
      return counts;
    },
    context: {
      network: "localnet",
      ...access,
      engine,
      parameters: { load: async () => MADE_PARAMETERS },
      getNetwork: createNetworkSource(access, "localnet").read,
      chainReader: async () => chain,
      ownerOf: async () => script.capHolder(),
      chainPosition: async () => ({
        chainIdentifier: "4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S",
        epoch: 0n,
      }),
      async *tableEntries(_action, { tableId }) {
        seen.push({ method: "tableEntries", headers: new Headers(), request: tableId });
        if (tableId === custodyTableId(treasuryContent(TREASURY_ID)))
          yield* script.listedDWallets().map(({ dwalletId, owner }) => ({
            name: hexToBytes(dwalletId.slice(2)),
            value: TreasuryDWallet.serialize({ ...HELD_RECORD, owner }).toBytes(),
          }));
        else yield* script.listedShares().map((id) => ({ name: hexToBytes(id.slice(2)), value: undefined }));
      },
      lastChange: async () => undefined,
      fullnodeClients: async () => [],
      treasuryId: async () => TREASURY_ID,
      async *chainSessions() {
        seen.push({ method: "chainSessions", headers: new Headers(), request: undefined });
        if (script.chainSession !== undefined) yield script.chainSession;
      },
      madeHalves: createMadeHalves(engine),
      activeDWallets: new Map(),
    },
  };
}

async function* lied<T extends Message>(messages: AsyncIterable<T>, tell: (message: T) => void) {
  for await (const message of messages) {
    tell(message);
    yield message;
  }
}

/** An error as the service sends it. */
export function serviceError(
  code: Code,
  reason: string,
  options: { metadata?: Record<string, string>; retryAfterMs?: number } = {},
): ConnectError {
  const error = new ConnectError("public text", code, { "x-request-id": "request-7" });
  error.details = [
    { desc: ErrorInfoSchema, value: { reason, domain: "tss", metadata: options.metadata ?? {} } },
  ];
  if (options.retryAfterMs !== undefined) {
    const seconds = Math.floor(options.retryAfterMs / 1000);
    const retryDelay = { seconds: BigInt(seconds), nanos: (options.retryAfterMs - seconds * 1000) * 1e6 };
    error.details.push({ desc: RetryInfoSchema, value: { retryDelay } });
  }
  return error;
}

function encodeDWallet(
  { dwalletObjectId: id, isImportedKey }: Script,
  state: Parameters<typeof DWallet.serialize>[0]["state"],
): Uint8Array {
  const table = { id: `0x${"0".repeat(64)}`, size: 0 };
  return DWallet.serialize({
    id,
    created_at_epoch: 0,
    curve: 2,
    public_user_secret_key_share: null,
    dwallet_cap_id: CAP_ID,
    dwallet_network_encryption_key_id: NETWORK_KEY_ID,
    is_imported_key_dwallet: isImportedKey,
    encrypted_user_secret_key_shares: table,
    sign_sessions: table,
    state,
  }).toBytes();
}

function encodeShare(script: Script): Uint8Array {
  return EncryptedUserSecretKeyShare.serialize({
    id: SHARE_ID,
    created_at_epoch: 0,
    dwallet_id: script.shareDWalletId,
    encrypted_centralized_secret_share_and_proof: [1, 2, 3],
    encryption_key_id: `0x${"1".repeat(64)}`,
    encryption_key_address: script.encryptionKeyAddress,
    source_encrypted_user_secret_key_share_id: null,
    state: script.shareState(),
  }).toBytes();
}

function encodeHeldShare(
  change: Partial<Parameters<typeof EncryptedUserSecretKeyShare.serialize>[0]>,
): Uint8Array {
  return EncryptedUserSecretKeyShare.serialize({
    id: HELD_SHARE_ID,
    created_at_epoch: 0,
    dwallet_id: DWALLET_ID,
    encrypted_centralized_secret_share_and_proof: [1, 2, 3],
    encryption_key_id: `0x${"1".repeat(64)}`,
    encryption_key_address: KEYS.signerAddress,
    source_encrypted_user_secret_key_share_id: SHARE_ID,
    state: { NetworkVerificationCompleted: true },
    ...change,
  }).toBytes();
}

function encodeRecipientKey(change: Partial<Parameters<typeof EncryptionKey.serialize>[0]>): Uint8Array {
  return EncryptionKey.serialize({
    id: RECIPIENT_KEY_ID,
    created_at_epoch: 0,
    curve: 2,
    encryption_key: OTHER_KEYS.encryptionKey,
    encryption_key_signature: signEncryptionKey(OTHER_KEYS),
    signer_public_key: OTHER_KEYS.signerPublicKey,
    signer_address: OTHER_KEYS.signerAddress,
    ...change,
  }).toBytes();
}

/** The bytes of the share that the seed implies in a session. */
export function shareOf(seed: Uint8Array, sessionDigest: Uint8Array): Uint8Array {
  const networkEncryptionKeyId = NETWORK_KEY_ID;
  return deriveUserShare({ seed, curve: "ED25519", networkEncryptionKeyId, sessionDigest }).reveal();
}

/** More ids of shares that do not exist than a client reads of one dWallet. */
export const TOO_MANY_SHARE_IDS = Array.from(
  { length: 10_001 },
  (_, index) => `0x${index.toString(16).padStart(64, "0")}`,
);

/** The keys of the seed's signer, and of another user. */
export const SIGNERS = { own: KEYS, other: OTHER_KEYS } as const;
