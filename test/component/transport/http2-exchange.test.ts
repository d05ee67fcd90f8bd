import { once } from "node:events";
import { type ClientHttp2Session, connect, createServer, type Http2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { Http2Reply, Http2Request } from "../../../src/transport/http/node-http.ts";

let server: Http2Server | undefined;
let session: ClientHttp2Session | undefined;

afterEach(() => {
  session?.destroy();
  server?.close();
});

it("a reply keeps the headers that were set before, even if a body is written first", async () => {
  const { headers, body } = await answerOf((reply) => {
    reply.setHeader("x-set", "before");
    reply.end("all of it");
  });
  expect(headers).toMatchObject({ ":status": 200, "x-set": "before" });
  expect(body).toBe("all of it");
});

it("a reply over HTTP/2 drops the headers of an HTTP/1.1 connection", async () => {
  const { headers, body } = await answerOf((reply) => {
    reply.writeHead(404, {
      Connection: "keep-alive",
      "Keep-Alive": "timeout=5",
      "Content-Type": "text/plain",
    });
    reply.end();
  });
  expect(headers).toMatchObject({ ":status": 404, "content-type": "text/plain" });
  expect(Object.keys(headers)).not.toContain("connection");
  expect(Object.keys(headers)).not.toContain("keep-alive");
  expect(body).toBe("");
});

it("a reply is written once, with its trailers after the body", async () => {
  const { body, trailers } = await answerOf((reply) => {
    reply.addTrailers({ "grpc-status": "0" });
    reply.writeHead(200);
    reply.end("once");
    reply.end("twice");
  });
  expect(body).toBe("once");
  expect(trailers).toMatchObject({ "grpc-status": "0" });
});

it("an exchange returns the method, path and headers of the request", async () => {
  let seen: Http2Request | undefined;
  await answerOf((reply, request) => {
    seen = request;
    reply.end();
  });
  expect(seen).toMatchObject({ method: "GET", url: "/path?query" });
  expect(seen?.headers["x-sent"]).toBe("value");
});

async function answerOf(handle: (reply: Http2Reply, request: Http2Request) => void) {
  server = createServer();
  server.on("stream", (stream, headers) => handle(new Http2Reply(stream), new Http2Request(stream, headers)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const call = session.request({ ":path": "/path?query", "x-sent": "value" });
  let trailers: object = {};
  call.on("trailers", (got) => {
    trailers = got;
  });
  const [headers] = await once(call, "response");
  let body = "";
  for await (const chunk of call.setEncoding("utf8")) body += chunk;
  return { headers: headers as Record<string, unknown>, body, trailers };
}
