import type { DescMethod } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { expect } from "vitest";
import { Admin } from "../../../../../../gen/proto/tss/v1/admin_pb.ts";
import { Signing } from "../../../../../../gen/proto/tss/v1/signing_pb.ts";
import type { Limits } from "../../../../../../src/service/access/allowances/allowances.ts";
import { callerOf } from "../../../../../../src/service/access/caller.ts";
import { idempotencyOf } from "../../../../../../src/service/platform/idempotency/idempotency.ts";
import { runOnce } from "../../../../../../src/service/platform/idempotency/run-once.ts";
import { newId } from "../../../../../../src/service/platform/store/database.ts";
import { PoolFullError } from "../../../../../../src/service/platform/threads/worker-pool.ts";
import {
  dwalletOf,
  layoutOfSignMessage,
  objectId,
  readyPresigns,
} from "../../../../../support/database/rows.ts";
import { ADMIN_KEY, BOUNDS, type ErrorStack } from "../error-stack.ts";
import type { ProtocolClient } from "../protocol-client.ts";
import type { Provocation } from "./provocation.ts";

const { reserveSign, submitSign, getSign, watchSign, listSigns } = Signing.method;
const isText = expect.stringMatching(/./);
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

const WRONG_HALF = base64(Uint8Array.of(1, 2, 3));

const sign = (dwalletId: string) => ({
  dwalletId,
  signatureAlgorithm: "ECDSASecp256k1",
  hashScheme: "SHA256",
  message: base64(Buffer.from("message")),
});

/** A project with an Active dWallet and this many presigns for it. */
async function signer(stack: ErrorStack, presignCount: number, creditMicroUsd?: bigint) {
  const project = await stack.newProject(creditMicroUsd);
  const dwallet = await dwalletOf(stack.database, project.projectId);
  await readyPresigns(stack.database, dwallet.bucket, presignCount);
  return { ...project, dwallet, request: sign(dwallet.objectId) };
}

/** A project with an Active dWallet, and a narrow key. */
async function narrowSigner(stack: ErrorStack, limits: Limits) {
  const { projectId, request } = await signer(stack, 3);
  return { key: await stack.newKey({ projectId, limits, scopes: ["sign"] }), request };
}

/** The only reservation of a project. */
async function reserved(stack: ErrorStack, protocolClient: ProtocolClient) {
  const found = await signer(stack, 1);
  const reply = await protocolClient.call({ method: reserveSign, key: found.key, request: found.request });
  if (reply.code !== 0) throw new Error(`nothing was reserved: ${reply.message}`);
  const [row] = await stack.database.query<{ id: string }>(
    "SELECT id FROM sign_request WHERE project_id = $1",
    [found.projectId],
  );
  return { ...found, signRequestId: row!.id };
}

const unknownRequest = (method: DescMethod, request: Record<string, string> = {}): Provocation => ({
  how: `a sign request that the project has not, of ${method.name}`,
  async provoke(stack, protocolClient) {
    const { key } = await stack.newProject();
    return protocolClient.call({ method, key, request: { signRequestId: newId(), ...request } });
  },
  metadata: { signRequestId: isText },
});

const oddAlgorithm = (change: object): Provocation["provoke"] => {
  return async (stack, protocolClient) => {
    const { key, request } = await signer(stack, 0);
    return protocolClient.call({ method: reserveSign, key, request: { ...request, ...change } });
  };
};

/** Refusals of a reservation, a submission or a read of a sign request. */
export const SIGNING_PROVOCATIONS = {
  UNSUPPORTED_ALGORITHM: [
    { how: "a hash that does not go with the algorithm", provoke: oddAlgorithm({ hashScheme: "SHA512" }) },
    {
      how: "an algorithm that does not go with the dWallet's curve",
      provoke: oddAlgorithm({ signatureAlgorithm: "EdDSA", hashScheme: "SHA512" }),
      metadata: { dwalletId: isText },
    },
    {
      how: "presigns of an algorithm that the curve has not",
      provoke: (_stack, protocolClient) =>
        protocolClient.call({
          method: Admin.method.refillPresigns,
          key: ADMIN_KEY,
          request: { curve: 3, signatureAlgorithm: 1, count: 1 },
        }),
    },
  ],
  MESSAGE_TOO_LARGE: [
    {
      how: "a message of 16,382 bytes",
      provoke: oddAlgorithm({ message: base64(new Uint8Array(16_382)) }),
      metadata: { maxBytes: "16381" },
    },
  ],
  DWALLET_NOT_ACTIVE: [
    {
      how: "a dWallet whose share is not accepted",
      async provoke(stack, protocolClient) {
        const { projectId, key } = await stack.newProject();
        const dwallet = await dwalletOf(stack.database, projectId, { state: "AwaitingKeyHolderSignature" });
        return protocolClient.call({ method: reserveSign, key, request: sign(dwallet.objectId) });
      },
      metadata: { dwalletId: isText, state: "AwaitingKeyHolderSignature" },
    },
  ],
  DATABASE_BEHIND_CHAIN: [
    {
      how: "a signature while the chain knows a transaction of a lane that the database does not",
      async provoke(stack, protocolClient) {
        const { key, request } = await signer(stack, 1);
        const { database } = stack;
        await database.query(
          `INSERT INTO lane (id, network, version, digest, foreign_digest)
           VALUES ('0xlane', 'localnet', '1', 'd', 'unknown')`,
        );
        const reply = await protocolClient.call({ method: reserveSign, key, request });
        await database.query("DELETE FROM lane");
        return reply;
      },
      metadata: { network: "localnet" },
    },
  ],
  NETWORK_DRAINING: [
    {
      how: "a signature on a network that takes no new work",
      async provoke(stack, protocolClient) {
        const { key, request } = await signer(stack, 1);
        const { database } = stack;
        await database.query(
          "INSERT INTO known_network (name, chain_id, draining_since) VALUES ('localnet', 'chain', now())",
        );
        const reply = await protocolClient.call({ method: reserveSign, key, request });
        await database.query("DELETE FROM known_network");
        return reply;
      },
      metadata: { network: "localnet" },
    },
  ],
  DWALLET_LEFT: [
    {
      how: "a dWallet that its owner has taken out",
      async provoke(stack, protocolClient) {
        const { projectId, key } = await stack.newProject();
        const dwallet = await dwalletOf(stack.database, projectId);
        await stack.database.query("UPDATE dwallet SET state = 'Left' WHERE id = $1", [dwallet.rowId]);
        return protocolClient.call({ method: reserveSign, key, request: sign(dwallet.objectId) });
      },
      metadata: { dwalletId: isText, state: "Left" },
    },
  ],
  INSUFFICIENT_CREDIT: [
    {
      how: "a project without credit",
      async provoke(stack, protocolClient) {
        const { key, request } = await signer(stack, 1, 0n);
        return protocolClient.call({ method: reserveSign, key, request });
      },
      metadata: { priceMicroUsd: String(BOUNDS.priceMicroUsd) },
    },
  ],
  ALGORITHM_NOT_ALLOWED: [
    {
      how: "a signature with an algorithm that the narrow key does not name",
      async provoke(stack, protocolClient) {
        const { key, request } = await narrowSigner(stack, { algorithms: ["Taproot", "EdDSA"] });
        return protocolClient.call({ method: reserveSign, key, request });
      },
      metadata: { signatureAlgorithm: "ECDSASecp256k1" },
    },
  ],
  BUDGET_EXCEEDED: [
    {
      how: "one signature more than the budget of the narrow key",
      async provoke(stack, protocolClient) {
        const budget = { windowSeconds: 60, maxCount: 1, maxMicroUsd: undefined };
        const { key, request } = await narrowSigner(stack, { budget });
        await protocolClient.call({ method: reserveSign, key, request });
        return protocolClient.call({ method: reserveSign, key, request });
      },
      metadata: { leftCount: "0", growTime: isText },
    },
    {
      how: "a signature whose price is above the budget of the narrow key",
      async provoke(stack, protocolClient) {
        const maxMicroUsd = BOUNDS.priceMicroUsd - 1n;
        const budget = { windowSeconds: 60, maxCount: undefined, maxMicroUsd };
        const { key, request } = await narrowSigner(stack, { budget });
        return protocolClient.call({ method: reserveSign, key, request });
      },
      metadata: { leftMicroUsd: String(BOUNDS.priceMicroUsd - 1n) },
    },
  ],
  TOO_MANY_RESERVATIONS: [
    {
      how: "one reservation more than a project may hold",
      async provoke(stack, protocolClient) {
        const { key, request } = await signer(stack, BOUNDS.openMaxCount + 1);
        for (let count = 0; count < BOUNDS.openMaxCount; count++) {
          await protocolClient.call({ method: reserveSign, key, request });
        }
        return protocolClient.call({ method: reserveSign, key, request });
      },
      metadata: { maxCount: String(BOUNDS.openMaxCount) },
    },
  ],
  PRESIGN_POOL_EMPTY: [
    {
      how: "a dWallet for which no presign is ready",
      async provoke(stack, protocolClient) {
        const { key, request } = await signer(stack, 0);
        return protocolClient.call({ method: reserveSign, key, request });
      },
    },
  ],
  SIGN_REQUEST_NOT_FOUND: [
    unknownRequest(getSign),
    unknownRequest(watchSign),
    unknownRequest(submitSign, { userSignMessage: base64(layoutOfSignMessage()) }),
  ],
  MALFORMED_SIGN_MESSAGE: [
    {
      how: "a user's half without the layout of its algorithm",
      async provoke(stack, protocolClient) {
        const { key, signRequestId } = await reserved(stack, protocolClient);
        const request = { signRequestId, userSignMessage: WRONG_HALF };
        return protocolClient.call({ method: submitSign, key, request });
      },
    },
  ],
  TOO_MANY_WRONG_HALVES: [
    {
      how: "a half of a project that has sent too many wrong ones",
      async provoke(stack, protocolClient) {
        const { key, signRequestId } = await reserved(stack, protocolClient);
        const submit = () =>
          protocolClient.call({
            method: submitSign,
            key,
            request: { signRequestId, userSignMessage: WRONG_HALF },
          });
        for (let count = 0; count <= BOUNDS.wrongHalvesCount; count++) await submit();
        return submit();
      },
    },
  ],
  VERIFICATION_BUSY: [
    {
      how: "a half while too many wait to be verified",
      async provoke(stack, protocolClient) {
        const verifier = { checkHalf: () => Promise.reject(new PoolFullError("full")) };
        const { url } = await stack.serve({ verifier });
        const { key, signRequestId } = await reserved(stack, protocolClient);
        return protocolClient.call({
          method: submitSign,
          key,
          request: { signRequestId, userSignMessage: WRONG_HALF },
          url,
        });
      },
    },
  ],
  WRONG_STATE: [
    {
      how: "a user's half for a reservation that is over",
      async provoke(stack, protocolClient) {
        const { key, signRequestId } = await reserved(stack, protocolClient);
        await stack.database.query("UPDATE sign_request SET expires_at = now() WHERE id = $1", [
          signRequestId,
        ]);
        const request = { signRequestId, userSignMessage: base64(layoutOfSignMessage()) };
        return protocolClient.call({ method: submitSign, key, request });
      },
      metadata: { status: "prepared", expireTime: isText },
    },
  ],
  IDEMPOTENCY_KEY_REUSED: [
    {
      how: "another request with the same idempotency key",
      async provoke(stack, protocolClient) {
        const { key, request } = await signer(stack, 1);
        const headers = { "idempotency-key": "one" };
        await protocolClient.call({ method: reserveSign, key, headers, request });
        const other = { ...request, message: base64(Buffer.from("another")) };
        return protocolClient.call({ method: reserveSign, key, headers, request: other });
      },
      metadata: { method: "tss.v1.Signing/ReserveSign" },
    },
  ],
  IDEMPOTENCY_IN_FLIGHT: [
    {
      how: "a call whose idempotency key another one holds locked",
      async provoke(stack, protocolClient) {
        const { url } = await stack.serve({ signing: () => ({ reserveSign: lockedOut(stack) }) });
        const { key, request } = await signer(stack, 1);
        return protocolClient.call({
          method: reserveSign,
          key,
          headers: { "idempotency-key": "one" },
          request,
          url,
        });
      },
    },
  ],
  TOO_MANY_STREAMS: [
    {
      how: "one watch more than a key may have open",
      async provoke(stack, protocolClient) {
        const { key, signRequestId } = await reserved(stack, protocolClient);
        const { url } = await stack.serve({ streams: { perKey: 0, perProject: 1, perAddress: 1 } });
        return protocolClient.call({ method: watchSign, key, url, request: { signRequestId } });
      },
      metadata: { per: "key", maxCount: "0" },
    },
  ],
  WATCH_ENDED: [
    {
      how: "a watch that has lasted its time",
      async provoke(stack, protocolClient) {
        const { key, signRequestId } = await reserved(stack, protocolClient);
        return protocolClient.call({ method: watchSign, key, request: { signRequestId } });
      },
      metadata: { cursor: isText },
      isInStream: true,
    },
  ],
  DWALLET_NOT_FOUND: [
    {
      how: "a reservation for a dWallet that the project has not",
      async provoke(stack, protocolClient) {
        const { key } = await stack.newProject();
        return protocolClient.call({ method: reserveSign, key, request: sign(objectId()) });
      },
      metadata: { dwalletId: isText },
    },
    {
      how: "a list of the sign requests of a dWallet that the project has not",
      async provoke(stack, protocolClient) {
        const { key } = await stack.newProject();
        return protocolClient.call({ method: listSigns, key, request: { dwalletId: objectId() } });
      },
      metadata: { dwalletId: isText },
    },
  ],
} as const satisfies Record<string, readonly Provocation[]>;

/**
 * A KEYED call over a database that reports the key's row as locked, as PostgreSQL does while another transaction holds
 * it. test/race/idempotency.test.ts checks that report on a real PostgreSQL.
 */
function lockedOut({ database }: ErrorStack): ServiceImpl<typeof Signing>["reserveSign"] {
  return (_request, context) => {
    const { projectId, network } = callerOf(context, "project");
    const call = { scope: projectId, network, idempotency: idempotencyOf(context) };
    const contended: Parameters<typeof runOnce>[0] = {
      ...database,
      transaction: (work) =>
        database.transaction((db) =>
          work({
            ...db,
            query(text, parameters) {
              if (!text.startsWith("INSERT INTO idempotency_key")) return db.query(text, parameters);
              throw Object.assign(new Error("canceling statement due to lock timeout"), { code: "55P03" });
            },
          }),
        ),
    };
    return runOnce(contended, call, {
      effect: async () => ({}),
      keep: () => ({}),
      recall: () => ({}),
    });
  };
}
