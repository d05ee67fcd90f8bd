import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FakeServer, startFakes, UUID } from "./fake-services.ts";

/** Headers by which servers and frameworks name themselves. */
const TELLTALE = /^(?:server|via|x-powered-by|x-aspnet-version):/im;
const CALL = "/tss.v1.Signing/GetSign";
const BODY = `{"signRequestId":"${UUID}"}`;
/** An empty gRPC message. */
const ENVELOPE = Buffer.alloc(5);

let server: FakeServer;
beforeAll(async () => {
  server = await startFakes();
});
afterAll(() => server.close());

const post = (type: string, body: string) =>
  `POST ${CALL} HTTP/1.1\r\nhost: x\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`;
const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`;

describe("a reply does not name the software", () => {
  it.each([
    ["to a plain route", get("/v1/health"), "200"],
    ["to a REST call", get(`/v1/sign/${UUID}`), "200"],
    ["to a REST call that fails", get("/v1/sign/none"), "400"],
    ["to a path that nobody has", get("/nowhere"), "404"],
    ["to a Connect call", post("application/json", BODY), "200"],
    ["to a gRPC-web call", post("application/grpc-web+proto", String(ENVELOPE)), "200"],
    ["to a wrong media type", post("text/html", BODY), "415"],
    ["to what is not HTTP", "nonsense\r\n\r\n", "400"],
    ["to a malformed header", "GET / HTTP/1.1\r\nhost x\r\n\r\n", "400"],
  ])("%s over HTTP/1.1", async (_name, request, status) => {
    const { port } = new URL(server.url);
    const socket = connect(Number(port), "127.0.0.1");
    socket.end(request);
    const [head = ""] = (await text(socket)).split("\r\n\r\n");
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).not.toMatch(TELLTALE);
  });

  it.each([
    ["to a plain route", { ":path": "/v1/health" }],
    [
      "to a gRPC call",
      { ":path": CALL, ":method": "POST", "content-type": "application/grpc", te: "trailers" },
    ],
    ["to a path that nobody has", { ":path": "/nowhere" }],
  ])("%s over HTTP/2", async (_name, headers) => {
    const session = connectHttp2(server.url);
    const stream = session.request(headers, { endStream: false });
    stream.end(headers[":path"] === CALL ? ENVELOPE : undefined);
    const [reply] = (await once(stream, "response")) as [Record<string, unknown>];
    stream.resume();
    const names = Object.keys(reply).map((name) => `${name}:`);
    expect(names.length).toBeGreaterThan(1);
    expect(names.join("\n")).not.toMatch(TELLTALE);
    session.close();
  });
});
