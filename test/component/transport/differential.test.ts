import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from "node:http2";
import { gunzipSync } from "node:zlib";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ServiceError } from "../../../src/service/platform/errors/service-error.ts";
import { environment } from "../../support/environment.ts";
import { type FakeServer, type Hooks, startFakes } from "./fake-services.ts";
import { type GeneratedCall, generatedCalls, STREAMS } from "./generated-calls.ts";

const CALL_COUNT = environment.isReference ? 4_000 : 1_500;

const hooks: Hooks = {
  gate({ requestHeader, responseHeader }: HandlerContext) {
    responseHeader.set("ratelimit-remaining", "7");
    if (requestHeader.has("x-refuse")) throw new ServiceError("RATE_LIMITED", "too many calls");
  },
  interceptors: [
    (next) => async (request) => {
      const failure = request.header.get("x-fail");
      if (failure === "expected")
        throw new ServiceError("WRONG_STATE", "not now: ü\n😈", { metadata: { a: "b" } });
      if (failure === "unexpected") throw new TypeError("secret");
      if (failure === "plain") throw new ConnectError("gone %", Code.DataLoss, { "x-late": "1" });
      const response = await next(request);
      for (const name of ["x-echo", "x-echo-bin"]) {
        const value = request.header.get(name);
        if (value === null) continue;
        response.header.set(name, value);
        response.trailer.set(`${name.replace("-bin", "")}-after`, value);
      }
      return response;
    },
  ],
};

let servers: { server: FakeServer; session: ClientHttp2Session }[] = [];
beforeAll(async () => {
  // The third server takes the calls that the library misreads, so that the records of the first two can be compared.
  const all = [
    await startFakes(hooks),
    await startFakes({ ...hooks, ownPath: false }),
    await startFakes(hooks),
  ];
  servers = all.map((server) => ({ server, session: connect(server.url) }));
});
afterAll(async () => {
  for (const { server, session } of servers) {
    session.destroy();
    await server.close();
  }
});

interface Outcome {
  readonly status: unknown;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** The parts in which both implementations may differ: the time, the place of a status, and the compression level. */
const FREE = new Set([
  ...["date", "x-request-id", "accept-encoding"],
  ...["grpc-encoding", "grpc-accept-encoding", "connect-content-encoding", "connect-accept-encoding"],
]);

function send(session: ClientHttp2Session, call: GeneratedCall): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ":method": "POST",
      ":path": call.method,
      "x-request-id": "one",
      ...call.headers,
    });
    const metadata: Record<string, unknown> = {};
    const chunks: Buffer[] = [];
    let status: unknown;
    const note = (headers: IncomingHttpHeaders) => {
      status ??= headers[":status"];
      for (const [name, value] of Object.entries(headers)) {
        if (!name.startsWith(":") && !FREE.has(name)) metadata[name] = value;
      }
    };
    stream.on("response", note);
    stream.on("trailers", note);
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => {
      const body = Buffer.concat(chunks);
      resolve({
        status,
        ...(status === 200 ? { metadata, body: body.toString("hex") } : plain(metadata, body)),
      });
    });
    stream.on("error", reject);
    stream.end(call.body);
  });
}

/** Returns a failed call's reply without compression. Only the library compresses errors, those of 1 KiB and more. */
function plain(metadata: Outcome["metadata"], body: Buffer): Omit<Outcome, "status"> {
  const { "content-encoding": encoding, ...rest } = metadata;
  if (encoding !== "gzip") return { metadata, body: body.toString("hex") };
  const bare = gunzipSync(body);
  return { metadata: { ...rest, "content-length": String(bare.length) }, body: bare.toString("hex") };
}

/**
 * Whether the library misreads a body. It ignores a head without a message after it, and it reads the data after a
 * message before it reports that none is allowed. Over Connect it skips an envelope that ends a stream, which only a
 * reply may contain.
 */
function isMisread({ protocol, isEnveloped, body }: GeneratedCall): boolean {
  if (!isEnveloped || body.length < 5) return false;
  if (protocol === "connect" && ((body[0] ?? 0) & 2) !== 0) return true;
  const rest = body.length - 5 - body.readUInt32BE(1);
  return body.length === 5 ? rest < 0 : rest >= 5 && !body.subarray(-rest).equals(body.subarray(0, rest));
}

/** Whether the library decompresses an empty body, which the Connect Protocol forbids (Unary-Request). */
function isEmptyAndEncoded({ isEnveloped, body, headers }: GeneratedCall): boolean {
  return !isEnveloped && body.length === 0 && ["gzip", "br"].includes(headers["content-encoding"] ?? "");
}

it("valid and invalid calls get the same reply from this transport and from the library", async () => {
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(generatedCalls, async (call) => {
      const [own, library, strict] = servers.map(
        ({ session }) =>
          () =>
            send(session, call),
      );
      if (isMisread(call)) {
        const outcome = await strict?.();
        if (call.protocol === "grpc") expect(outcome?.metadata["grpc-status"]).not.toBe("0");
        else expect(Buffer.from(outcome?.body ?? "", "hex").toString()).toMatch(/"(error|code)":/);
        return;
      }
      if (isEmptyAndEncoded(call)) {
        const headers = { ...call.headers, "content-encoding": "identity" };
        const session = servers[2]?.session;
        expect(await strict?.()).toEqual(session && (await send(session, { ...call, headers })));
        return;
      }
      const outcome = await own?.();
      expect(outcome).toEqual(await library?.());
      const name = `${STREAMS.test(call.method) && call.isEnveloped ? "streamed " : ""}${call.protocol}`;
      const kind = `${name} ${String(outcome?.status)} ${String(outcome?.metadata["grpc-status"])}`;
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
    }),
    { numRuns: CALL_COUNT },
  );
  // Both protocols must have had both kinds of outcome, or the test would prove little.
  expect(seen.get("grpc 200 0")).toBeGreaterThan(CALL_COUNT / 20);
  expect(seen.get("streamed grpc 200 0")).toBeGreaterThan(CALL_COUNT / 100);
  expect(seen.get("streamed connect 200 undefined")).toBeGreaterThan(CALL_COUNT / 100);
  expect(seen.get("connect 200 undefined")).toBeGreaterThan(CALL_COUNT / 20);
  expect(seen.size).toBeGreaterThan(8);
}, 400_000);

/** Compares bytes by value, whatever their class. */
function inPlainBytes(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const given = this[name];
  if (given instanceof Uint8Array) return Buffer.from(given).toString("hex");
  return typeof value === "bigint" ? String(value) : value;
}

it("both pass the same requests to handlers, and report the same calls", () => {
  const [own, library] = servers.map(({ server }) => server);
  const messages = (server: FakeServer | undefined) =>
    server?.seen.map(({ name, message }) => `${name} ${JSON.stringify(message, inPlainBytes)}`);
  const reports = (server: FakeServer | undefined) =>
    server?.calls.map(({ method, protocol, code }) => `${method} ${protocol} ${code}`);
  expect(messages(own)).toEqual(messages(library));
  expect(reports(own)).toEqual(reports(library));
  expect(own?.errors).toEqual([]);
});
