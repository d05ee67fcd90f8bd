import { DWALLET_ID, PARAMETERS_SHA256, UUID } from "../component/transport/fake-services.ts";
import type { Random } from "../sim/random.ts";
import { ENDPOINTS, type Endpoint } from "./endpoints.ts";
import { BODY_BYTES, ENCODINGS, encodeBytes, makeBinary, makeFrames, makeJson } from "./make-body.ts";

/** A request that both HTTP versions can carry. */
export interface FuzzRequest {
  readonly method: string;
  readonly target: string;
  /** The names are in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  readonly mayStay: boolean;
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "PURGE", "TRACE", "get"];
const REST: readonly (readonly [method: string, target: string, endpoint: string])[] = [
  ["GET", "/v1/network", "GetNetwork"],
  ["GET", `/v1/sign/${UUID}`, "GetSign"],
  ["POST", `/v1/sign/${UUID}/submit`, "SubmitSign"],
  ["POST", "/v1/sign", "ReserveSign"],
  ["GET", "/v1/sign?pageSize=3&status=queued", "GetSign"],
  ["GET", `/v1/sign/${UUID}/watch`, "WatchSign"],
  ["GET", `/v1/dwallets/${DWALLET_ID}`, "GetDWallet"],
  ["GET", `/v1/protocol-parameters/${PARAMETERS_SHA256}`, "GetProtocolParameters"],
  ["GET", "/v1/admin/presigns/health?curve=2", "GetPresignHealth"],
  ["POST", "/v1/admin/presigns/refill", "RefillPresigns"],
  ["POST", "/v1/admin/network/drain", "DrainNetwork"],
  ["GET", "/v1/health", "GetNetwork"],
  ["GET", "/gallery/some%2Fname?nested.string_value=a&nestedMap%5Ba%5D=1", "Get"],
  ["POST", "/gallery/a:restore", "Get"],
  ["PURGE", "/gallery/a", "Get"],
  ["GET", "/halls/a/works/b/c%2fd/e?stringList=a&stringList=b", "Get"],
  ["GET", "/query?int32Value=1&timestamp=2026-01-01T00:00:00Z&recursive.recursive.string_value=a", "Get"],
  ["POST", "/whole", "Create"],
  ["PATCH", "/nested/x", "Update"],
  ["PUT", "/members/1.5?oneofDoubleValue=2", "Update"],
  ["PUT", "/list", "Update"],
  ["GET", "/part/nested?nested.count=1", "Get"],
  ["GET", "/watch?name=a", "Watch"],
  ["GET", "/watch/changes?name=a", "Watch"],
  ["POST", "/octets", "Upload"],
  ["PUT", "/attachments/a", "Upload"],
  ["GET", "/attachments/a", "Get"],
  ["GET", "/downloads/a", "Get"],
  ["POST", "/v1/testing/stream", "StreamingOutputCall"],
  ["GET", "/v1/testing/unary/3", "UnaryCall"],
  ["GET", "/", "Get"],
];
const NASTY_TARGETS = [
  "",
  "*",
  "/",
  "//",
  "/v1//sign",
  "/v1/sign/",
  "http://a/v1/network",
  "http://",
  "?",
  "/%",
  "/%00",
];
const NASTY_PIECES = [
  "%",
  "%2",
  "%zz",
  "%00",
  "%2F",
  "%c3%28",
  "%F0%9F%98%88",
  "..",
  ":",
  "*",
  "**",
  "{a}",
  "é",
  "+",
  "&",
  "=",
  "?",
  "#",
  ";",
  "\\",
  "%25",
  "[0]",
  ".",
  "a".repeat(9_000),
];
const QUERIES = [
  "a=b",
  "=",
  "&&",
  "stringValue",
  "nested.=1",
  ".=1",
  "nested.nested.nested.nested.count=1",
  "nested.count=x",
  "stringMap=1",
  "recursive=1",
  "curve=-1",
  "curve=02",
  "int64Value=1e400",
  "boolValue=TRUE",
  "enumValue=7",
  "bytesValue=%FF",
  "timestamp=x",
  "duration=1",
  "string_value=%C3",
  "oneofNested.left=1&oneofNested.right=2",
  "__proto__.a=1",
  "constructor=1",
];
const TYPES = [
  "application/json",
  "application/json; charset=utf-8",
  "application/json;charset=latin1",
  "application/proto",
  "application/connect+json",
  "application/connect+proto",
  "application/grpc",
  "application/grpc+proto",
  "application/grpc+json",
  "application/grpc-web",
  "application/grpc-web+proto",
  "application/grpc-web+json",
  "application/grpc-web-text",
  "text/plain",
  "multipart/form-data",
  "",
  "APPLICATION/JSON",
  "application/grpc+x",
  "x",
];
const HEADERS: Readonly<Record<string, readonly string[]>> = {
  accept: [
    "*/*",
    "application/json",
    "text/event-stream",
    "application/x-ndjson",
    "text/*;q=0",
    ";q=x",
    ",,",
    "a/b;q=1.0000",
    "*/*;q=0",
    "application/json;q=0.5, text/event-stream",
  ],
  "accept-encoding": ["gzip", "br;q=1, gzip;q=0.5", "*;q=0", "identity;q=0", ",", "gzip;q="],
  "grpc-accept-encoding": ["gzip", "br,gzip", "identity", ",,", "x"],
  "grpc-timeout": ["1S", "100m", "1n", "99999999H", "100000000S", "0S", "-1S", "1", "S", "1.5S", ""],
  "connect-timeout-ms": ["100", "0", "1", "9999999999", "10000000000", "-1", "x", ""],
  "connect-protocol-version": ["1", "2", ""],
  range: [
    "bytes=0-0",
    "bytes=-1",
    "bytes=599999-",
    "bytes=600000-",
    "bytes=5-1",
    "bytes=0-0,2-3",
    "items=0-1",
    "bytes=",
    "bytes=99999999999999999999-",
    "bytes=a-b",
  ],
  "if-range": [`"${PARAMETERS_SHA256}"`, 'W/"a"', "x"],
  "if-none-match": [`"${PARAMETERS_SHA256}"`, "*", "W/", '"'],
  "last-event-id": ["c", "", "\xc3\xa9", "\xff", "a".repeat(300)],
  origin: ["https://a.example", "null", ""],
  "access-control-request-method": ["POST", ""],
  "x-request-id": ["mine", "a b", "a".repeat(200), ""],
  "x-gate": ["refuse", "later", "look", "late-refuse", "hang"],
  authorization: ["Bearer a", "Bearer", "\xe9", "a, b"],
  expect: ["100-continue", "x"],
  te: ["trailers", "gzip"],
  trailer: ["x"],
  "x-data-bin": ["AAEC", "!", "AAEC,AAEC", ""],
  "x-latin": ["\xff\x80", "a\tb"],
  "idempotency-key": ["k", "a".repeat(300)],
  cookie: ["a=b", "a=b; c=d"],
  host: ["", "a b", "[::1]", "a:99999", "http://a", "@"],
  "transfer-encoding": ["chunked", "gzip, chunked", "identity"],
  upgrade: ["h2c", "websocket"],
};

/** A request in any protocol for something that the server serves, often with a fault. */
export function makeRequest(random: Random): FuzzRequest {
  const request = random.happens(0.45) ? makeRest(random) : makeRpc(random);
  const headers = [...request.headers];
  for (let count = random.pick([0, 0, 1, 1, 2, 4]); count > 0; count--) {
    const name = random.pick(Object.keys(HEADERS));
    headers.push([name, random.pick(HEADERS[name]!)]);
  }
  return {
    ...request,
    headers,
    method: random.happens(0.05) ? random.pick(METHODS) : request.method,
    target: random.happens(0.15) ? changeTarget(random, request.target) : request.target,
  };
}

function makeRest(random: Random): FuzzRequest {
  const [method, target, name] = random.pick(REST);
  const endpoint = ENDPOINTS.find(({ path }) => path.endsWith(`/${name}`))!;
  const hasBody = method === "GET" ? random.happens(0.1) : random.happens(0.95);
  if (!hasBody) return { method, target, headers: [], body: Buffer.alloc(0), mayStay: false };
  const type = random.happens(0.85) ? "application/json" : random.pick(TYPES);
  const json = makeJson(random, endpoint);
  if (random.happens(0.85))
    return { method, target, headers: [["content-type", type]], body: json, mayStay: false };
  const encoding = random.pick(ENCODINGS);
  const body = encodeBytes(random, json, encoding);
  return {
    method,
    target,
    headers: [
      ["content-type", type],
      ["content-encoding", encoding],
    ],
    body,
    mayStay: false,
  };
}

function makeRpc(random: Random): FuzzRequest {
  const endpoint = random.pick(ENDPOINTS);
  const { path, mayStay } = endpoint;
  if (random.happens(0.12)) return { ...connectGet(random, endpoint), mayStay };
  const isUnary = endpoint.kind === "unary";
  const fitting = isUnary ? /^application\/(?:json|proto|grpc)/ : /^application\/(?:connect|grpc)/;
  const type = random.pick(random.happens(0.9) ? TYPES.filter((one) => fitting.test(one)) : TYPES);
  const isJson = type.includes("json");
  const encoding = random.happens(0.25) ? random.pick(ENCODINGS) : "identity";
  const isFramed = /grpc|connect/.test(type);
  const plain = () => (isJson ? makeJson(random, endpoint) : makeBinary(random, endpoint));
  const body = isFramed
    ? makeFrames(random, endpoint, encoding, isJson)
    : encodeBytes(random, plain(), encoding);
  const headers: [string, string][] = [["content-type", type]];
  const encodingName = type.includes("grpc")
    ? "grpc-encoding"
    : isFramed
      ? "connect-content-encoding"
      : "content-encoding";
  if (encoding !== "identity" || random.happens(0.1)) headers.push([encodingName, encoding]);
  if (type.startsWith("application/grpc") && random.happens(0.9)) headers.push(["te", "trailers"]);
  const isText = type.includes("web-text");
  return {
    method: "POST",
    target: path,
    headers,
    body: isText ? Buffer.from(body.toString("base64")) : body,
    mayStay,
  };
}

function connectGet(random: Random, endpoint: Endpoint): Omit<FuzzRequest, "mayStay"> {
  const isJson = random.happens(0.5);
  const bytes = isJson ? makeJson(random, endpoint) : makeBinary(random, endpoint);
  const isBase64 = !isJson || random.happens(0.3);
  const query = new URLSearchParams({
    connect: random.pick(["v1", "v1", "v1", "v2", ""]),
    encoding: random.happens(0.9) ? (isJson ? "json" : "proto") : "x",
    message: bytes.subarray(0, 4_000).toString(isBase64 ? "base64url" : "latin1"),
  });
  if (isBase64) query.set("base64", random.pick(["1", "1", "1", "0", ""]));
  if (random.happens(0.15)) query.set("compression", random.pick(ENCODINGS));
  if (random.happens(0.1)) query.delete(random.pick(["connect", "encoding", "message"]));
  return {
    method: "GET",
    target: `${endpoint.path}?${query.toString()}`,
    headers: [],
    body: Buffer.alloc(0),
  };
}

function changeTarget(random: Random, target: string): string {
  if (random.happens(0.15)) return random.pick(NASTY_TARGETS);
  if (random.happens(0.5)) return `${target}${target.includes("?") ? "&" : "?"}${random.pick(QUERIES)}`;
  const at = random.integer(0, target.length);
  return target.slice(0, at) + random.pick(NASTY_PIECES) + target.slice(at + random.integer(0, 2));
}

/** A content-length for a body, usually the right one. */
export function toldLength(random: Random, sizeBytes: number): string {
  if (random.happens(0.9)) return String(sizeBytes);
  return random.pick([
    "0",
    "1",
    String(sizeBytes + 1),
    String(BODY_BYTES + 1),
    "-1",
    "x",
    "1e3",
    "99999999999999999999",
    "+1",
    " 1",
  ]);
}
