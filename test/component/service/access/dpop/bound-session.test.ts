/** Sessions that are bound to a device's key, over every protocol, through the whole gate. */
import { createHash, randomUUID } from "node:crypto";
import { Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { createConnectTransport as createWebTransport } from "@connectrpc/connect-web";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ErrorInfoSchema } from "../../../../../gen/proto/google/rpc/error_details_pb.ts";
import { Onboarding } from "../../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { createClient as createTssClient } from "../../../../../src/client/sdk/client.ts";
import { createProvingFetch, openDeviceKey } from "../../../../../src/client/sdk/sessions/device-key.ts";
import { newId } from "../../../../../src/service/platform/store/database.ts";
import {
  signedToken,
  type TokenKey,
  thumbprintOf,
  tokenKey,
} from "../../../../support/crypto/signed-token.ts";
import { DATABASE_TIMEOUT_MS } from "../../../../support/database/database.ts";
import { type ErrorStack, perSecond, startErrorStack } from "../../platform/errors/error-stack.ts";

const device = tokenKey("ES256");
const RPC_PATH = "/tss.v1.Onboarding/ListDWallets";
let stack: ErrorStack;
let projectId: string;
let token: string;
beforeAll(async () => {
  stack = await startErrorStack();
}, DATABASE_TIMEOUT_MS);
afterAll(() => stack.close());
beforeEach(async () => {
  projectId = (await stack.newProject()).projectId;
  token = await stack.newSession({ projectId, proofKeyThumbprint: thumbprintOf(device) });
});

interface Proved {
  readonly method?: string;
  readonly path?: string;
  readonly nonce?: string | undefined;
  readonly token?: string;
  readonly by?: TokenKey;
}
const proofOf = ({ method = "POST", path = RPC_PATH, nonce, by = device, token: of = token }: Proved) =>
  signedToken(
    { typ: "dpop+jwt", alg: "ES256", jwk: by.jwk },
    {
      jti: randomUUID(),
      iat: 0,
      htm: method,
      htu: `https://tss.example${path}`,
      ath: createHash("sha256").update(of).digest("base64url"),
      nonce,
    },
    by.privateKey,
  );

interface Reply {
  readonly reason: string | undefined;
  readonly headers: Headers;
}
type Call = (headers: Record<string, string>, url?: string) => Promise<Reply>;

const transports = {
  connect: (url: string, interceptors: Interceptor[]) =>
    createConnectTransport({ baseUrl: url, httpVersion: "1.1", interceptors }),
  grpc: (url: string, interceptors: Interceptor[]) => createGrpcTransport({ baseUrl: url, interceptors }),
  "grpc-web": (url: string, interceptors: Interceptor[]) =>
    createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1", interceptors }),
};

const overRpc =
  (name: keyof typeof transports): Call =>
  async (headers, url = stack.url) => {
    let seen = new Headers();
    const noting: Interceptor = (next) => async (request) => {
      const reply = await next(request);
      seen = reply.header;
      return reply;
    };
    try {
      await createClient(Onboarding, transports[name](url, [noting])).listDWallets({}, { headers });
      return { reason: undefined, headers: seen };
    } catch (cause) {
      const error = ConnectError.from(cause);
      expect(error.code).toBe(Code.Unauthenticated);
      return { reason: error.findDetails(ErrorInfoSchema)[0]?.reason, headers: error.metadata };
    }
  };

const overRest: Call = async (headers, url = stack.url) => {
  const reply = await fetch(`${url}/v1/dwallets?pageSize=1`, { headers });
  const body = (await reply.json()) as { details?: { reason?: string }[] };
  const reason = body.details?.find((detail) => detail.reason !== undefined)?.reason;
  return { reason, headers: reply.headers };
};

const protocols: [name: string, call: Call, target: Proved][] = [
  ["Connect", overRpc("connect"), {}],
  ["gRPC", overRpc("grpc"), {}],
  ["gRPC-web", overRpc("grpc-web"), {}],
  ["REST", overRest, { method: "GET", path: "/v1/dwallets" }],
];

const authorized = (proof?: string) => ({
  authorization: `Bearer ${token}`,
  ...(proof !== undefined && { dpop: proof }),
});

async function nonceBy(call: Call, target: Proved): Promise<string> {
  const { reason, headers } = await call(authorized(proofOf(target)));
  expect(reason).toBe("PROOF_NONCE_REQUIRED");
  return headers.get("dpop-nonce") ?? "none";
}

describe.each(protocols)("over %s, the session of a device", (_name, call, target) => {
  it("is accepted with a proof for the call, after the service has sent its nonce", async () => {
    const nonce = await nonceBy(call, target);
    const { reason, headers } = await call(authorized(proofOf({ ...target, nonce })));
    expect(reason).toBeUndefined();
    // Only a newer nonce is sent, and there is one if two minutes of the clock have just ended.
    expect(headers.get("dpop-nonce")).not.toBe(nonce);
  });

  it("is refused without the device's key", async () => {
    const nonce = await nonceBy(call, target);
    const wrong = [
      undefined,
      proofOf({ ...target, nonce, by: tokenKey("ES256") }),
      proofOf({ ...target, nonce, token: "another token" }),
      proofOf({ ...target, nonce, method: "PUT" }),
      proofOf({ ...target, nonce, path: "/tss.v1.Onboarding/ListEncryptionKeys" }),
    ];
    for (const proof of wrong) expect((await call(authorized(proof))).reason).toBe("PROOF_INVALID");
  });

  it("is refused with a proof that was used before", async () => {
    const proof = proofOf({ ...target, nonce: await nonceBy(call, target) });
    expect((await call(authorized(proof))).reason).toBeUndefined();
    expect((await call(authorized(proof))).reason).toBe("PROOF_INVALID");
  });
});

it("the session of a device may be sent with the scheme of RFC 9449, and by `x-api-key`", async () => {
  const target = { method: "GET", path: "/v1/dwallets" };
  const nonce = await nonceBy(overRest, target);
  const proof = () => proofOf({ ...target, nonce });
  expect((await overRest({ authorization: `DPoP ${token}`, dpop: proof() })).reason).toBeUndefined();
  expect((await overRest({ "x-api-key": token, dpop: proof() })).reason).toBeUndefined();
  expect((await overRest({ "x-api-key": token })).reason).toBe("PROOF_INVALID");
});

it("a session without a device needs no proof, and ignores one", async () => {
  const unbound = await stack.newSession({ projectId });
  expect((await overRest({ authorization: `Bearer ${unbound}` })).reason).toBeUndefined();
  expect((await overRest({ authorization: `Bearer ${unbound}`, dpop: "nonsense" })).reason).toBeUndefined();
});

it("requests for a nonce do not count as wrong keys, and wrong proofs do", async () => {
  const { url } = await stack.serve({
    limits: { ...perSecond(0), perSecond: { ...perSecond(0).perSecond, refusedKey: 0.001 } },
  });
  const target = { method: "GET", path: "/v1/dwallets" };
  for (let index = 0; index < 5; index++)
    expect((await overRest(authorized(proofOf(target)), url)).reason).toBe("PROOF_NONCE_REQUIRED");
  expect((await overRest(authorized(), url)).reason).toBe("PROOF_INVALID");
  expect((await overRest(authorized(), url)).reason).toBe("RATE_LIMITED");
});

describe("the rate of a device's session", () => {
  const target = { method: "GET", path: "/v1/dwallets" };
  /** A server that admits three calls, and hardly any more. */
  const serveThree = () => stack.serve({ limits: perSecond(0.001, 3_000) });

  it("bounds the proofs that are noted: one beyond it is refused, and could still be used", async () => {
    const { url } = await serveThree();
    const nonce = await nonceBy(overRest, target);
    const proofs = Array.from({ length: 6 }, () => proofOf({ ...target, nonce }));
    const reasonsAt = async (where?: string) => {
      const reasons: unknown[] = [];
      for (const proof of proofs) reasons.push((await overRest(authorized(proof), where)).reason);
      return reasons;
    };
    const each = (reason: string | undefined) => [reason, reason, reason];
    expect(await reasonsAt(url)).toEqual([...each(undefined), ...each("RATE_LIMITED")]);
    // The other server shares the notes, and has no rate.
    expect(await reasonsAt()).toEqual([...each("PROOF_INVALID"), ...each(undefined)]);
  });

  it("is not used up by whoever has the token without the device's key", async () => {
    const { url } = await serveThree();
    const nonce = await nonceBy(overRest, target);
    for (const by of Array.from({ length: 10 }, () => tokenKey("ES256")))
      expect((await overRest(authorized(proofOf({ ...target, nonce, by })), url)).reason).toBe(
        "PROOF_INVALID",
      );
    expect((await overRest(authorized(proofOf({ ...target, nonce })), url)).reason).toBeUndefined();
  });
});

it("the client's fetch proves its calls, and gets the nonce by itself", async () => {
  const key = await openDeviceKey();
  const bound = await stack.newSession({ projectId, proofKeyThumbprint: key.thumbprint });
  let sentCount = 0;
  const counting: typeof fetch = (input, init) => {
    sentCount++;
    return fetch(input, init);
  };
  const transport = createWebTransport({
    baseUrl: stack.url,
    useBinaryFormat: true,
    fetch: createProvingFetch(key, counting),
  });
  const client = createClient(Onboarding, transport);
  const headers = { authorization: `Bearer ${bound}` };
  for (let index = 0; index < 3; index++)
    expect((await client.listDWallets({}, { headers })).dwallets).toEqual([]);
  expect(sentCount).toBe(4);
});

describe("a client with a session", () => {
  it("binds the session to its device and proves every call, streams included", async () => {
    const deviceKey = await openDeviceKey();
    const asked: (string | undefined)[] = [];
    const client = createTssClient({
      baseUrl: stack.url,
      network: "localnet",
      deviceKey,
      async session({ proofKeyThumbprint }) {
        asked.push(proofKeyThumbprint);
        return stack.newSession({ projectId, proofKeyThumbprint, scopes: ["read", "sign"] });
      },
    });
    // The first call has no nonce yet, and the reply to a stream has no status that says so.
    const watch = client.raw.signing.watchSign({ signRequestId: newId() });
    await expect(watch[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: Code.NotFound });
    expect((await client.raw.onboarding.listDWallets({})).dwallets).toEqual([]);
    expect(asked).toEqual([deviceKey.thumbprint]);
  });

  it("proves nothing if it shall not, and where the platform keeps no keys", async () => {
    for (const options of [{ deviceKey: false as const }, {}]) {
      const asked: (string | undefined)[] = [];
      const client = createTssClient({
        baseUrl: stack.url,
        network: "localnet",
        ...options,
        async session({ proofKeyThumbprint }) {
          asked.push(proofKeyThumbprint);
          return stack.newSession({ projectId: (await stack.newProject()).projectId });
        },
      });
      expect((await client.raw.onboarding.listDWallets({})).dwallets).toEqual([]);
      expect(asked).toEqual([undefined]);
    }
  });
});
