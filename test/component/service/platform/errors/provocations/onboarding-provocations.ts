import { randomBytes } from "node:crypto";
import { create as createMessage, toJson } from "@bufbuild/protobuf";
import { ed25519 } from "@noble/curves/ed25519.js";
import { expect } from "vitest";
import { AdoptDWalletRequestSchema, Onboarding } from "../../../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { suiAddress } from "../../../../../../src/protocol/signatures/addresses.ts";
import type { Limits } from "../../../../../../src/service/access/allowances/allowances.ts";
import { failOperation } from "../../../../../../src/service/chain/submit/outbox.ts";
import { topics } from "../../../../../../src/service/platform/coordination/topics.ts";
import { dkgOfForm } from "../../../../../support/crypto/dkg-form.ts";
import { adoptable } from "../../../../../support/database/adoptions.ts";
import { dwalletOf, objectId } from "../../../../../support/database/rows.ts";
import { BOUNDS, type ErrorStack } from "../error-stack.ts";
import { CHAIN } from "../fake-fullnode.ts";
import type { ProtocolClient } from "../protocol-client.ts";
import type { WireReply } from "../wire-reply.ts";
import type { Provocation } from "./provocation.ts";

const { registerEncryptionKey, createDWallet, acceptDWallet, adoptDWallet, getDWallet } = Onboarding.method;
const isText = expect.stringMatching(/./);
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

/** A registration as a user's client sends it. */
export function registration() {
  const { secretKey, publicKey } = ed25519.keygen();
  const encryptionKey = new Uint8Array(randomBytes(261));
  return {
    signerAddress: suiAddress("ED25519", publicKey),
    request: {
      curve: "SECP256K1",
      encryptionKey: base64(encryptionKey),
      signature: base64(ed25519.sign(encryptionKey, secretKey)),
      signerPublicKey: base64(publicKey),
    },
  };
}

interface KnownUser {
  readonly keyId: string;
  readonly signerPublicKey: Uint8Array;
  readonly senderAddress: string;
  readonly sessionIdentifier: Uint8Array;
}

/** A DKG message of the right form, in JSON. */
export function jsonDkg(): Record<string, string> {
  return Object.fromEntries(Object.entries(dkgOfForm()).map(([name, bytes]) => [name, base64(bytes)]));
}

/** The user and the session in the row of a dWallet. */
export async function userOf({ database }: ErrorStack, dwalletRowId: string): Promise<KnownUser> {
  const [row] = await database.query<KnownUser>(
    `UPDATE encryption_key k SET signer_public_key = decode(repeat('07', 32), 'hex')
     FROM dwallet d WHERE k.id = d.encryption_key_id AND d.id = $1
     RETURNING k.object_id AS "keyId", k.signer_public_key AS "signerPublicKey",
               d.sender_address AS "senderAddress", d.session_identifier AS "sessionIdentifier"`,
    [dwalletRowId],
  );
  return row!;
}

/** Creates a dWallet with one of the project's keys; `change` makes the request wrong. */
async function create(
  stack: ErrorStack,
  protocolClient: ProtocolClient,
  change: (user: KnownUser) => Record<string, string> | Promise<Record<string, string>>,
  limits: Limits = {},
): Promise<WireReply> {
  const { projectId } = await stack.newProject();
  const key = await stack.newKey({ projectId, limits });
  const user = await userOf(stack, (await dwalletOf(stack.database, projectId)).rowId);
  const request = {
    encryptionKeyId: user.keyId,
    curve: "SECP256K1",
    networkEncryptionKeyId: stack.fullnode.networkKeyId,
    senderAddress: stack.fullnode.network.senderAddress,
    sessionIdentifier: base64(randomBytes(32)),
    ...jsonDkg(),
    signerPublicKey: base64(user.signerPublicKey),
    ...(await change(user)),
  };
  return protocolClient.call({ method: createDWallet, key, request });
}

/** A dWallet that the project can adopt, and the request of its owner. */
export async function adoption({ database, fullnode }: ErrorStack, projectId: string) {
  const { treasuryId } = fullnode.network.treasury;
  const made = await adoptable(database, { projectId, treasuryId, chain: CHAIN });
  fullnode.hold(made.custody, made.contents);
  const request = toJson(AdoptDWalletRequestSchema, createMessage(AdoptDWalletRequestSchema, made.request()));
  return { dwalletId: made.dwalletId, request: request as Record<string, string> };
}

/** Runs `during` while the chain refuses every queued operation. */
export async function refusing<T>(stack: ErrorStack, words: string, during: () => Promise<T>): Promise<T> {
  const refuse = async () => {
    const queued = await stack.database.query<{ id: string; subjectId: string }>(
      `SELECT id, subject_id AS "subjectId" FROM chain_operation WHERE state = 'queued'`,
    );
    for (const { id, subjectId } of queued) {
      await failOperation(stack.database, id, "CHAIN_REJECTED", words);
      stack.signals.notify(topics.operation(subjectId));
    }
  };
  const leave = stack.signals.subscribe(topics.outbox("localnet"), () => void refuse());
  return during().finally(leave);
}

/** Accepts the share of a dWallet in this state, without a signature. */
async function accept(stack: ErrorStack, protocolClient: ProtocolClient, state: string): Promise<WireReply> {
  const { projectId, key } = await stack.newProject();
  const dwallet = await dwalletOf(stack.database, projectId, { state });
  const share = objectId();
  await stack.database.query(
    `UPDATE dwallet SET encrypted_user_secret_key_share_id = $2, public_output = '\\x01' WHERE id = $1`,
    [dwallet.rowId, share],
  );
  const request = {
    dwalletId: dwallet.objectId,
    encryptedUserSecretKeyShareId: share,
    userOutputSignature: base64(new Uint8Array(64)),
  };
  return protocolClient.call({ method: acceptDWallet, key, request });
}

/** Refusals of a key, a DKG or a share. */
export const ONBOARDING_PROVOCATIONS = {
  BAD_SIGNATURE: [
    {
      how: "an encryption key that its signer has not signed",
      async provoke(stack, protocolClient) {
        const { key } = await stack.newProject();
        const request = { ...registration().request, signature: base64(new Uint8Array(64)) };
        return protocolClient.call({ method: registerEncryptionKey, key, request });
      },
    },
    {
      how: "a share whose acceptance its signer has not signed",
      provoke: (stack, protocolClient) => accept(stack, protocolClient, "AwaitingKeyHolderSignature"),
    },
  ],
  WRONG_STATE: [
    {
      how: "a share of a dWallet that the network has rejected",
      provoke: (stack, protocolClient) => accept(stack, protocolClient, "NetworkRejectedDKGVerification"),
      metadata: { state: "NetworkRejectedDKGVerification" },
    },
  ],
  BUDGET_EXCEEDED: [
    {
      how: "a dWallet whose price is above the budget of the narrow key",
      provoke: (stack, protocolClient) =>
        create(stack, protocolClient, () => ({}), {
          budget: { windowSeconds: 60, maxCount: undefined, maxMicroUsd: BOUNDS.priceMicroUsd - 1n },
        }),
      metadata: { leftMicroUsd: String(BOUNDS.priceMicroUsd - 1n) },
    },
  ],
  ENCRYPTION_KEY_CONFLICT: [
    {
      how: "another encryption key of a signer who has one",
      async provoke(stack, protocolClient) {
        const { projectId, key } = await stack.newProject();
        const { signerAddress, request } = registration();
        await dwalletOf(stack.database, projectId);
        await stack.database.query("UPDATE encryption_key SET signer_address = $2 WHERE project_id = $1", [
          projectId,
          signerAddress,
        ]);
        return protocolClient.call({ method: registerEncryptionKey, key, request });
      },
    },
  ],
  QUOTA_EXCEEDED: [
    {
      how: "one encryption key more than a project may register in a day",
      async provoke(stack, protocolClient) {
        const { projectId, key } = await stack.newProject();
        for (let count = 0; count < BOUNDS.dkgsPerDay; count++) await dwalletOf(stack.database, projectId);
        return protocolClient.call({ method: registerEncryptionKey, key, request: registration().request });
      },
      metadata: { maxCount: String(BOUNDS.dkgsPerDay) },
    },
  ],
  CHAIN_REJECTED: [
    {
      how: "a registration that the chain refuses",
      async provoke(stack, protocolClient) {
        const { key } = await stack.newProject();
        return refusing(stack, "MoveAbort 7 in coordinator", () =>
          protocolClient.call({ method: registerEncryptionKey, key, request: registration().request }),
        );
      },
      metadata: { chainError: "MoveAbort 7 in coordinator" },
    },
  ],
  DEADLINE: [
    {
      how: "a registration that does not land before the call's deadline",
      async provoke(stack, protocolClient) {
        const { key } = await stack.newProject();
        const { request } = registration();
        return protocolClient.call({ method: registerEncryptionKey, key, request, timeoutMs: 300 });
      },
    },
  ],
  ENCRYPTION_KEY_NOT_FOUND: [
    {
      how: "a DKG for an encryption key that the project has not",
      provoke: (stack, protocolClient) =>
        create(stack, protocolClient, () => ({ encryptionKeyId: objectId() })),
      metadata: { encryptionKeyId: isText },
    },
  ],
  WRONG_SENDER: [
    {
      how: "a DKG for an address that the service does not send from",
      provoke: (stack, protocolClient) =>
        create(stack, protocolClient, () => ({ senderAddress: objectId() })),
      metadata: { senderAddresses: isText },
    },
  ],
  STALE_NETWORK_KEY: [
    {
      how: "a DKG under a network encryption key that is not the newest",
      provoke: (stack, protocolClient) =>
        create(stack, protocolClient, () => ({ networkEncryptionKeyId: objectId() })),
      metadata: { networkEncryptionKeyId: isText },
    },
  ],
  DWALLET_NAME_TAKEN: [
    {
      how: "another DKG with the name of an earlier one",
      provoke: (stack, protocolClient) =>
        create(stack, protocolClient, async ({ sessionIdentifier }) => {
          const named = "UPDATE dwallet SET name = 'treasury' WHERE session_identifier = $1";
          await stack.database.query(named, [sessionIdentifier]);
          return { name: "treasury" };
        }),
      metadata: { name: "treasury" },
    },
  ],
  DWALLET_TAKEN: [
    {
      how: "the adoption of a dWallet that another project has",
      async provoke(stack, protocolClient) {
        const [{ projectId, key }, other] = [await stack.newProject(), await stack.newProject()];
        const { rowId } = await dwalletOf(stack.database, other.projectId);
        const { dwalletId, request } = await adoption(stack, projectId);
        await stack.database.query("UPDATE dwallet SET object_id = $2 WHERE id = $1", [rowId, dwalletId]);
        return protocolClient.call({ method: adoptDWallet, key, request });
      },
      metadata: { dwalletId: isText },
    },
  ],
  SESSION_REUSED: [
    {
      how: "another DKG with the session identifier of an earlier one",
      provoke: (stack, protocolClient) =>
        create(stack, protocolClient, ({ senderAddress, sessionIdentifier }) => ({
          senderAddress,
          sessionIdentifier: base64(sessionIdentifier),
        })),
      metadata: {
        sessionIdentifier: expect.stringMatching(/^[0-9a-f]{64}$/),
        dwalletId: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        state: "Active",
      },
    },
  ],
  CHAIN_READS_EXHAUSTED: [
    {
      how: "a third look at a dWallet that is being made, where two may come at once",
      async provoke(stack, protocolClient) {
        const { url } = await stack.serve({ readsPerSecond: 1 });
        const { projectId, key } = await stack.newProject();
        const state = "AwaitingKeyHolderSignature";
        const { objectId: dwalletId } = await dwalletOf(stack.database, projectId, { state });
        const look = () => protocolClient.call({ method: getDWallet, key, request: { dwalletId }, url });
        for (let count = 0; count < 2; count++) await look();
        return look();
      },
      metadata: { budget: "project" },
    },
  ],
  DWALLET_NOT_FOUND: [
    {
      how: "a dWallet that the project has not",
      async provoke(stack, protocolClient) {
        const { key } = await stack.newProject();
        return protocolClient.call({ method: getDWallet, key, request: { dwalletId: objectId() } });
      },
      metadata: { dwalletId: isText },
    },
  ],
} as const satisfies Record<string, readonly Provocation[]>;
