import { createHash } from "node:crypto";
import { type Code, ConnectError, createRouterTransport, type HandlerContext } from "@connectrpc/connect";
import { vi } from "vitest";
import { ErrorInfoSchema, RetryInfoSchema } from "../../../gen/proto/google/rpc/error_details_pb.ts";
import { DWallet_State, Onboarding } from "../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Signing, SignRequest_Status } from "../../../gen/proto/tss/v1/signing_pb.ts";
import { Curve, Hash, SignatureAlgorithm } from "../../../gen/proto/tss/v1/types_pb.ts";
import type { CryptoEngine } from "../../../src/crypto/engine.ts";
import { SecretBytes } from "../../../src/crypto/secret-bytes.ts";
import { deriveUserKeys } from "../../../src/crypto/user-keys.ts";
import { hexToBytes } from "../../../src/protocol/bytes.ts";
import type { ChainReader } from "../../../src/protocol/chain-reader.ts";
import { DWallet, EncryptedUserSecretKeyShare } from "../../../src/protocol/chain-structs.ts";
import { type ClientContext, createRawClients } from "../../../src/sdk/context.ts";
import { createNetworkSource } from "../../../src/sdk/network.ts";
import type { ParametersCache } from "../../../src/sdk/parameters-cache.ts";
import { createServiceParameters, fetchOverRpc } from "../../../src/sdk/service-parameters.ts";
import { withHeaders } from "../../../src/sdk/transport.ts";
import { vectorOf } from "../../support/signature-vectors.ts";

/** The one dWallet of the fake service: the EdDSA vector's. */
export const VECTOR = vectorOf("EdDSA");
export const SEED = new Uint8Array(32).fill(21);
export const DWALLET_ID = `0x${"d".repeat(64)}`;
export const SHARE_ID = `0x${"5".repeat(64)}`;
export const NETWORK_KEY_ID = `0x${"e".repeat(64)}`;
export const SIGN_REQUEST_ID = "01890a5d-ac96-774b-bcce-b302099a8057";
export const SIGN_SESSION_ID = `0x${"b".repeat(64)}`;
const KEYS = deriveUserKeys(SEED, "ED25519");
const PARAMETERS = new TextEncoder().encode("protocol parameters");

/** One call that reached the service. */
export interface SeenCall {
  readonly method: string;
  readonly headers: Headers;
  readonly request: unknown;
}

/** What a test may change before or while a client runs. Each function may throw a ConnectError. */
export interface Script {
  network: string;
  areParametersReady: () => boolean;
  parameters: Uint8Array;
  /** The dWallet's state on the chain; undefined: it is not there. */
  dwalletState: () => Parameters<typeof DWallet.serialize>[0]["state"] | undefined;
  /** Runs before each call is answered. */
  before: (method: string, context: HandlerContext) => void;
  reservedStatus: SignRequest_Status;
  reservedOutput: Uint8Array;
  /** The sign request's states, one for each reading; the last one stays. */
  signStatuses: SignRequest_Status[];
  signature: Uint8Array;
  failureReason: string;
}

/** A service, a chain and an engine that know one dWallet, and the client context on them. */
export interface FakeService {
  readonly context: ClientContext;
  readonly script: Script;
  readonly seen: SeenCall[];
  /** How often each method was called, in the order of first calls. */
  counts(): Record<string, number>;
  /** What the engine was asked for. */
  readonly engineCalls: string[];
}

/** Makes one. Without changes to the script every action succeeds. */
export function createFakeService(cache?: ParametersCache): FakeService {
  const seen: SeenCall[] = [];
  const engineCalls: string[] = [];
  let isAccepted = false;
  const script: Script = {
    network: "localnet",
    areParametersReady: () => true,
    parameters: PARAMETERS,
    dwalletState: () =>
      isAccepted ? { Active: VECTOR.dwalletOutput } : { AwaitingKeyHolderSignature: VECTOR.dwalletOutput },
    before: () => {},
    reservedStatus: SignRequest_Status.prepared,
    reservedOutput: VECTOR.dwalletOutput,
    signStatuses: [SignRequest_Status.queued, SignRequest_Status.submitted, SignRequest_Status.completed],
    signature: VECTOR.chainSignature,
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
  });
  const signRequest = () => {
    const status = script.signStatuses.length > 1 ? script.signStatuses.shift()! : script.signStatuses[0]!;
    return {
      signRequestId: SIGN_REQUEST_ID,
      status,
      dwalletId: DWALLET_ID,
      curve: Curve.ED25519,
      signatureAlgorithm: SignatureAlgorithm.EdDSA,
      hashScheme: Hash.SHA512,
      message: VECTOR.message,
      ...(status === SignRequest_Status.completed
        ? { signature: script.signature, signSessionId: SIGN_SESSION_ID, txDigest: "sign digest" }
        : {}),
      ...(status === SignRequest_Status.failed
        ? { failure: { reason: script.failureReason, message: "in words", refunded: true } }
        : {}),
    };
  };
  const transport = createRouterTransport(({ service }) => {
    service(Onboarding, {
      getNetwork(request, context) {
        note("getNetwork", request, context);
        const sha256 = createHash("sha256").update(PARAMETERS).digest("hex");
        const entry = { curve: Curve.ED25519, sha256, sizeBytes: BigInt(PARAMETERS.length) };
        return {
          network: script.network,
          fullnodeUrl: "http://fullnode.invalid",
          senderAddresses: [`0x${"a".repeat(64)}`],
          networkEncryptionKeyId: NETWORK_KEY_ID,
          protocolParameters: script.areParametersReady() ? [entry] : [],
        };
      },
      async *getProtocolParameters(request, context) {
        note("getProtocolParameters", request, context);
        yield { contentType: "application/octet-stream", data: script.parameters.subarray(0, 5) };
        yield { data: script.parameters.subarray(5) };
      },
      registerEncryptionKey(request, context) {
        note("registerEncryptionKey", request, context);
        return {
          encryptionKeyId: `0x${"1".repeat(64)}`,
          curve: request.curve,
          signerAddress: KEYS.signerAddress,
        };
      },
      createDWallet(request, context) {
        note("createDWallet", request, context);
        return dwallet(DWallet_State.AwaitingNetworkDKGVerification);
      },
      acceptDWallet(request, context) {
        note("acceptDWallet", request, context);
        isAccepted = true;
        return { ...dwallet(DWallet_State.Active), acceptTxDigest: "accept digest" };
      },
      getDWallet(request, context) {
        note("getDWallet", request, context);
        return dwallet(DWallet_State.Active);
      },
    });
    service(Signing, {
      reserveSign(request, context) {
        note("reserveSign", request, context);
        return {
          signRequestId: SIGN_REQUEST_ID,
          status: script.reservedStatus,
          presignId: `0x${"2".repeat(64)}`,
          presign: VECTOR.presign!,
          dwalletPublicOutput: script.reservedOutput,
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
    });
  });
  const raw = createRawClients(
    withHeaders(transport, { authorization: "Bearer tss_local_test", "x-network": "localnet" }),
  );
  const source = createNetworkSource(raw.onboarding, "localnet");
  const chain: ChainReader = {
    async getObjects(objectIds) {
      const state = script.dwalletState();
      const contents = new Map<string, Uint8Array>();
      if (objectIds.includes(DWALLET_ID) && state !== undefined)
        contents.set(DWALLET_ID, encodeDWallet(state));
      if (objectIds.includes(SHARE_ID)) contents.set(SHARE_ID, encodeShare());
      return contents;
    },
  };
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
      raw,
      engine: fakeEngine(engineCalls),
      parameters: createServiceParameters(source, fetchOverRpc(raw.onboarding), cache),
      getNetwork: source.read,
      chainReader: async () => chain,
      activeDWallets: new Map(),
    },
  };
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

/** A progress callback that lets an hour pass when a stage begins, and a way back. */
export function hourAt(stage: string): { onProgress: (begun: string) => void; restore: () => void } {
  const now = performance.now.bind(performance);
  let offsetMs = 0;
  const spy = vi.spyOn(performance, "now").mockImplementation(() => now() + offsetMs);
  return {
    onProgress(begun) {
      if (begun === stage) offsetMs = 3_600_000;
    },
    restore: () => spy.mockRestore(),
  };
}

function encodeDWallet(state: Parameters<typeof DWallet.serialize>[0]["state"]): Uint8Array {
  const table = { id: `0x${"0".repeat(64)}`, size: 0 };
  return DWallet.serialize({
    id: DWALLET_ID,
    created_at_epoch: 0,
    curve: 2,
    public_user_secret_key_share: null,
    dwallet_cap_id: `0x${"c".repeat(64)}`,
    dwallet_network_encryption_key_id: NETWORK_KEY_ID,
    is_imported_key_dwallet: false,
    encrypted_user_secret_key_shares: table,
    sign_sessions: table,
    state,
  }).toBytes();
}

function encodeShare(): Uint8Array {
  return EncryptedUserSecretKeyShare.serialize({
    id: SHARE_ID,
    created_at_epoch: 0,
    dwallet_id: DWALLET_ID,
    encrypted_centralized_secret_share_and_proof: [1, 2, 3],
    encryption_key_id: `0x${"1".repeat(64)}`,
    encryption_key_address: KEYS.signerAddress,
    source_encrypted_user_secret_key_share_id: null,
    state: { NetworkVerificationCompleted: true },
  }).toBytes();
}

/** Answers with the vector's bytes. */
function fakeEngine(calls: string[]): CryptoEngine {
  const share = (): SecretBytes => new SecretBytes(hexToBytes(VECTOR.userSecretKeyShareHex));
  return {
    async ready() {},
    async deriveUserKeys() {
      calls.push("deriveUserKeys");
      return deriveUserKeys(SEED, "ED25519");
    },
    async prepareDkg() {
      calls.push("prepareDkg");
      return {
        userDkgMessage: Uint8Array.of(1),
        userPublicOutput: VECTOR.userPublicOutput,
        encryptedUserShareAndProof: Uint8Array.of(2),
        userSecretKeyShare: share(),
      };
    },
    async decryptShare() {
      calls.push("decryptShare");
      return share();
    },
    async createSignMessage() {
      calls.push("createSignMessage");
      return VECTOR.userSignMessage!;
    },
    async close() {},
  };
}
