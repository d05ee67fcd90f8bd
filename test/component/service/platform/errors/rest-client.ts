import { type DescMethod, getOption, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { http } from "../../../../../gen/proto/google/api/annotations_pb.ts";
import type { ProtocolClient } from "./protocol-client.ts";
import { statusOfJson, toWireReply, type WireReply } from "./wire-reply.ts";

/** A request as it is sent over HTTP. */
export interface RestRequest {
  readonly verb: string;
  /** The path and the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

/** Calls methods by the routes that the contract declares for them. */
export function createRestClient(baseUrl: string): ProtocolClient {
  return {
    name: "rest",
    call({ method, request = {}, key, headers = {}, timeoutMs, url = baseUrl }) {
      const sent = toRestRequest(method, request);
      return sendRest(url, {
        ...sent,
        headers: {
          ...sent.headers,
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...(timeoutMs !== undefined && { "connect-timeout-ms": String(timeoutMs) }),
          ...headers,
        },
      });
    },
    close() {},
  };
}

/** A method's request by its `google.api.http` rule: path variables, and the rest as query or body. */
export function toRestRequest(method: DescMethod, request: JsonObject): RestRequest {
  const { pattern, body } = getOption(method, http);
  if (pattern.case !== "get" && pattern.case !== "post") throw new Error(`${method.name} has no route`);
  const rest = { ...request };
  const path = pattern.value.replace(/\{(\w+)\}/g, (_, name: string) => {
    const { jsonName } = method.input.fields.find((field) => field.name === name)!;
    const value = rest[jsonName];
    // An object may have no conversion to text.
    const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
    delete rest[jsonName];
    return encodeURIComponent(text);
  });
  const verb = pattern.case.toUpperCase();
  if (body === "*") {
    return { verb, path, headers: { "content-type": "application/json" }, body: JSON.stringify(rest) };
  }
  const query = new URLSearchParams(Object.entries(rest).map(([name, value]) => [name, textOf(value)]));
  return { verb, path: query.size === 0 ? path : `${path}?${query}` };
}

/** Sends a request and reads the reply to its end. */
export async function sendRest(baseUrl: string, request: RestRequest): Promise<WireReply> {
  const { verb, path, headers = {}, body } = request;
  const reply = await fetch(baseUrl + path, { method: verb, headers, ...(body !== undefined && { body }) });
  const text = await reply.text();
  const error = errorIn(reply, text);
  return toWireReply({
    httpStatus: reply.status,
    headers: reply.headers,
    status: error === undefined ? undefined : statusOfJson(error),
    text: `${JSON.stringify([...reply.headers])}\n${text}`,
  });
}

/** The status in a reply: its body, or the last line of a stream that failed after its head. */
function errorIn(reply: Response, text: string): JsonValue | undefined {
  if (reply.status >= 400) return JSON.parse(text) as JsonValue;
  if (reply.headers.get("content-type") !== "application/x-ndjson") return undefined;
  return (JSON.parse(text.trimEnd().split("\n").at(-1) ?? "{}") as { error?: JsonValue }).error;
}

/** A value as a query can carry it; an object's own conversion to text may be missing or wrong. */
function textOf(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
