import { validate, version } from "uuid";
import { afterAll, beforeAll, expect, it } from "vitest";
import { chooseRequestId } from "../../../src/transport/calls/request-id.ts";
import { type FakeServer, PARAMETERS_SHA256, startFakes, UUID } from "./fake-services.ts";

let server: FakeServer;
beforeAll(async () => {
  server = await startFakes();
});
afterAll(() => server.close());

const json = { "content-type": "application/json" };
const REQUESTS: [string, string, RequestInit][] = [
  ["a plain route", "/v1/health", {}],
  ["a unary REST call", `/v1/sign/${UUID}`, {}],
  ["the same by HEAD", `/v1/sign/${UUID}`, { method: "HEAD" }],
  ["a REST call that fails", "/v1/sign/none", {}],
  ["octets", `/v1/protocol-parameters/${PARAMETERS_SHA256}`, {}],
  ["a part of them", `/v1/protocol-parameters/${PARAMETERS_SHA256}`, { headers: { range: "bytes=0-9" } }],
  ["a stream that fails", `/v1/protocol-parameters/${"0".repeat(64)}`, {}],
  ["OPTIONS", "/v1/sign", { method: "OPTIONS" }],
  ["a method that is not allowed", "/v1/network", { method: "DELETE" }],
  ["a path that nobody has", "/nowhere", {}],
  [
    "a Connect call",
    "/tss.v1.Signing/GetSign",
    { method: "POST", headers: json, body: `{"signRequestId":"${UUID}"}` },
  ],
  ["a Connect call that fails", "/tss.v1.Signing/GetSign", { method: "POST", headers: json, body: "{" }],
  ["a Connect call of a wrong type", "/tss.v1.Signing/GetSign", { method: "POST", body: "x" }],
  [
    "a Connect call by GET",
    `/tss.v1.Signing/GetSign?connect=v1&encoding=json&message=${encodeURIComponent(`{"signRequestId":"${UUID}"}`)}`,
    {},
  ],
];

it.each(REQUESTS)("%s is answered with the caller's request id", async (_name, path, init) => {
  const headers = { ...(init.headers as Record<string, string> | undefined), "x-request-id": "mine" };
  const reply = await fetch(server.url + path, { ...init, headers });
  await reply.arrayBuffer();
  expect(reply.headers.get("x-request-id")).toBe("mine");
});

it("the server's own ids are UUIDs, and no two are equal", () => {
  const ids = Array.from({ length: 10_000 }, () => chooseRequestId(undefined));
  expect(new Set(ids).size).toBe(10_000);
  expect(ids.every((id) => validate(id) && version(id) === 8)).toBe(true);
});
