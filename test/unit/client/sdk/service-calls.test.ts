import { create, type DescMethod, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Transport, type UnaryResponse } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { Account } from "../../../../gen/proto/tss/v1/account_pb.ts";
import { Admin } from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { Billing, GetUsageRequest_Step } from "../../../../gen/proto/tss/v1/billing_pb.ts";
import { Onboarding } from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Operations } from "../../../../gen/proto/tss/v1/operations_pb.ts";
import { Sharing } from "../../../../gen/proto/tss/v1/sharing_pb.ts";
import { Signing } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { Users } from "../../../../gen/proto/tss/v1/users_pb.ts";
import { createAdminClient, TssError } from "../../../../src/client/sdk/admin/index.ts";
import { createProjectCalls } from "../../../../src/client/sdk/calls/project-calls.ts";
import { withHeaders } from "../../../../src/client/sdk/calls/transport.ts";
import { keyedMethods } from "../../../../src/service/access/method-policy.ts";
import { serviceError } from "./fake-service.ts";

interface SeenCall {
  readonly method: DescMethod;
  readonly headers: Headers;
  readonly request: Readonly<Record<string, unknown>>;
}

/** A transport that records every call and answers with the result of `answer`. */
function recording(answer: (call: SeenCall) => object = () => ({})) {
  const seen: SeenCall[] = [];
  const transport: Transport = {
    async unary(method, _signal, _timeoutMs, header, input) {
      const call = { method, headers: new Headers(header), request: { ...create(method.input, input) } };
      seen.push(call);
      const message = create(method.output, answer(call) as MessageInitShape<typeof method.output>);
      const response: UnaryResponse = {
        stream: false,
        service: method.parent,
        method,
        header: new Headers(),
        trailer: new Headers(),
        message,
      };
      return response as UnaryResponse<typeof method.input, typeof method.output>;
    },
    stream: () => Promise.reject(new Error("a stream was opened")),
  };
  return { seen, transport };
}

const baseUrl = "http://service.invalid";
const adminClient = (transport: Transport) =>
  createAdminClient({ baseUrl, adminKey: "tss_admin_secret", network: "testnet", transport });

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Calls each function, and reads each list. */
async function callEach(client: object): Promise<void> {
  for (const called of Object.values(client) as ((
    request: object,
  ) => object | Promise<object | undefined>)[]) {
    const result = await called({});
    if (result !== undefined && Symbol.asyncIterator in result) await all(result as AsyncIterable<unknown>);
  }
}

describe("every call of the contract", () => {
  test("for operators is one function of the admin client, with the key, and its network", async () => {
    const { seen, transport } = recording();
    const client = adminClient(transport);
    await callEach(client);
    expect(seen.map(({ method }) => method.name)).toEqual(
      [...Admin.methods, ...Operations.methods].map(({ name }) => name),
    );
    for (const { headers } of seen) {
      expect(headers.get("authorization")).toBe("Bearer tss_admin_secret");
      expect(headers.get("x-network")).toBe("testnet");
    }
  });

  test("for projects that reads, declares a deposit, reports an exit drill or removes a holder, releases or cancels a half, is one function of the client", async () => {
    const { seen, transport } = recording();
    const { users, ...calls } = createProjectCalls(transport);
    await callEach(calls);
    await callEach(users);
    // The other calls are made by actions, and watchSign opens a project's only stream.
    const byActions = [
      "RegisterEncryptionKey",
      "CreateDWallet",
      "AcceptDWallet",
      "AdoptDWallet",
      "ShareDWallet",
      "AcceptShare",
      "LeaveDWallet",
      "RefuseRelease",
      "ReserveSign",
      "SubmitSign",
    ];
    const expected = [Account, Onboarding, Sharing, Signing, Billing, Users]
      .flatMap(({ methods }) => methods)
      .filter(({ methodKind, name }) => methodKind === "unary" && !byActions.includes(name));
    expect(seen.map(({ method }) => method.name).sort()).toEqual(expected.map(({ name }) => name).sort());
  });
});

test("the usage of a project is asked for in the given time and steps, or without a time by day", async () => {
  const { seen, transport } = recording();
  const calls = createProjectCalls(transport);
  const [start, end] = [new Date(1_000_000), new Date(2_000_000)];
  await calls.usage({ step: "hour", start, end, userReference: "user-42" });
  await calls.usage();
  expect(seen.map(({ request }) => request)).toMatchObject([
    { step: GetUsageRequest_Step.hour, startTime: { seconds: 1_000n }, endTime: { seconds: 2_000n } },
    { step: GetUsageRequest_Step.day },
  ]);
  expect(seen.map(({ request }) => request["userReference"])).toEqual(["user-42", undefined]);
  expect([seen[1]!.request["startTime"], seen[1]!.request["endTime"]]).toEqual([undefined, undefined]);
});

test("the users of a window are asked for with its times on every page, or without a time", async () => {
  const { seen, transport } = recording(({ request }) => ({
    users: [{ userReference: "user-42" }],
    nextPageToken: request["pageToken"] === "" && request["startTime"] !== undefined ? "2" : "",
  }));
  const calls = createProjectCalls(transport);
  const found = await all(calls.listUserUsage({ start: new Date(1_000_000), end: new Date(2_000_000) }));
  expect(found).toHaveLength(2);
  await all(calls.listUserUsage());
  const window = { startTime: { seconds: 1_000n }, endTime: { seconds: 2_000n } };
  expect(seen.slice(0, 2).map(({ request }) => request)).toMatchObject([
    window,
    { ...window, pageToken: "2" },
  ]);
  expect([seen[2]!.request["startTime"], seen[2]!.request["endTime"]]).toEqual([undefined, undefined]);
});

test("users are named by their reference, and deleting one resolves to nothing", async () => {
  const { seen, transport } = recording();
  const { users } = createProjectCalls(transport);
  expect(await users.delete({ reference: "user-42" })).toBeUndefined();
  await all(users.list({ referencePrefix: "user-", frozen: false }));
  expect(seen.map(({ request }) => request)).toMatchObject([
    { reference: "user-42" },
    { referencePrefix: "user-", frozen: false },
  ]);
});

describe("a list", () => {
  const page = ({ request }: SeenCall): object => {
    const first = Number(request["pageToken"] || 0);
    return { signRequests: [first, first + 1].map(item), nextPageToken: first < 4 ? String(first + 2) : "" };
  };
  const item = (number: number) => ({ signRequestId: String(number) });

  test("yields the items of all pages in order, and keeps its filter", async () => {
    const { seen, transport } = recording(page);
    const found = await all(createProjectCalls(transport).listSigns({ dwalletId: "0x1", pageSize: 2 }));
    expect(found.map(({ signRequestId }) => signRequestId)).toEqual(["0", "1", "2", "3", "4", "5"]);
    expect(
      seen.map(({ request }) => [request["dwalletId"], request["pageSize"], request["pageToken"]]),
    ).toEqual([
      ["0x1", 2, ""],
      ["0x1", 2, "2"],
      ["0x1", 2, "4"],
    ]);
  });

  test("reads no page before one of its items is requested", async () => {
    const { seen, transport } = recording(page);
    const items = createProjectCalls(transport).listSigns()[Symbol.asyncIterator]();
    expect(seen).toHaveLength(0);
    await items.next();
    await items.next();
    expect(seen).toHaveLength(1);
    await items.next();
    expect(seen).toHaveLength(2);
  });

  test("with endless empty pages ends with a TssError", async () => {
    const { seen, transport } = recording(() => ({ signRequests: [], nextPageToken: "again" }));
    const reading = all(createProjectCalls(transport).listSigns());
    await expect(reading).rejects.toMatchObject({ name: "TssError", reason: "INTERNAL" });
    expect(seen).toHaveLength(1);
  });

  test("that fails on a later page throws a TssError after the items before it", async () => {
    const { transport } = recording((call) => {
      if (call.request["pageToken"] === "") return page(call);
      throw serviceError(Code.Unauthenticated, "REVOKED_KEY");
    });
    const found: string[] = [];
    const reading = (async () => {
      for await (const { signRequestId } of createProjectCalls(transport).listSigns())
        found.push(signRequestId);
    })();
    await expect(reading).rejects.toMatchObject({ reason: "REVOKED_KEY", requestId: "request-7" });
    expect(found).toEqual(["0", "1"]);
  });
});

describe("a call whose connection breaks", () => {
  test("is repeated under the same idempotency key if the contract has one", async () => {
    const names = [...keyedMethods([Admin])].map(({ localName }) => localName as keyof typeof Admin.method);
    expect(names.length).toBeGreaterThan(3);
    for (const name of names) {
      let isBroken = true;
      const { seen, transport } = recording(() => {
        if (!isBroken) return {};
        isBroken = false;
        throw new ConnectError("reset", Code.Unavailable);
      });
      await (adminClient(transport)[name] as (request: object) => Promise<object>)({});
      const keys = seen.map(({ headers }) => headers.get("idempotency-key"));
      expect(keys, name).toEqual([keys[0], keys[0]]);
      expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  test("permanently ends as UNREACHABLE, with the idempotency key for a retry", async () => {
    const { transport } = recording(() => {
      throw new ConnectError("refused", Code.Unavailable);
    });
    const error = await adminClient(transport)
      .createProject({ name: "shop" }, { idempotencyKey: "mine" })
      .catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(TssError);
    expect(error).toMatchObject({ reason: "UNREACHABLE", metadata: { idempotencyKey: "mine" } });
  });
});

test("every message of a reply prints as protobuf's JSON, also where it has 64-bit integers", async () => {
  const { transport } = recording(({ method }) =>
    method.name === "ListLedgerEntries"
      ? { entries: [{ amountMicroUsd: -5n, createTime: timestampFromMs(0) }] }
      : { balanceMicroUsd: 2n ** 60n },
  );
  const calls = createProjectCalls(withHeaders(transport, {}));
  const balance = await calls.balance();
  expect(JSON.parse(JSON.stringify(balance))).toEqual({ balanceMicroUsd: "1152921504606846976" });
  expect(Object.keys(balance)).not.toContain("toJSON");
  for await (const entry of calls.listLedgerEntries())
    expect(JSON.parse(JSON.stringify({ entry }))).toEqual({
      entry: { amountMicroUsd: "-5", createTime: "1970-01-01T00:00:00Z" },
    });
});

test("a call ends with its signal or its time-out", async () => {
  const hanging: Transport = {
    async unary(_method, signal) {
      signal?.throwIfAborted();
      return await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    },
    stream: () => Promise.reject(new Error("a stream was opened")),
  };
  const calls = createProjectCalls(hanging);
  const cause = new Error("the user left");
  await expect(calls.balance({ signal: AbortSignal.abort(cause) })).rejects.toMatchObject({
    reason: "ABORTED",
    message: "the caller aborted: the user left",
    cause,
  });
  await expect(calls.balance({ signal: AbortSignal.abort() })).rejects.toMatchObject({
    reason: "ABORTED",
    message: "the caller aborted",
  });
  // A read has nothing to resume.
  await expect(calls.balance({ timeoutMs: 1 })).rejects.toMatchObject({
    reason: "TIMEOUT",
    message: "not finished within 1 ms",
    resumeToken: undefined,
  });
});
