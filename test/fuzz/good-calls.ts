import { createClient } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import { Signing } from "../../gen/proto/tss/v1/signing_pb.ts";
import { UUID } from "../component/transport/fake-services.ts";
import { CERTIFICATE_PEM } from "./fuzz-target.ts";

/** Makes one good call over each protocol and keeps its connection open. @returns the failures */
export async function goodCalls(baseUrl: string): Promise<string[]> {
  const nodeOptions = { ca: CERTIFICATE_PEM };
  const http2 = () => new Http2SessionManager(baseUrl, {}, nodeOptions);
  const sessions = { grpc: http2(), connect: http2(), rest: http2() };
  const transports = {
    grpc: createGrpcTransport({ baseUrl, sessionManager: sessions.grpc }),
    "Connect over HTTP/2": createConnectTransport({
      baseUrl,
      httpVersion: "2",
      sessionManager: sessions.connect,
    }),
    "Connect over HTTP/1.1": createConnectTransport({ baseUrl, httpVersion: "1.1", nodeOptions }),
    "Connect over HTTP/1.1 in JSON": createConnectTransport({
      baseUrl,
      httpVersion: "1.1",
      nodeOptions,
      useBinaryFormat: false,
    }),
    "gRPC-web": createGrpcWebTransport({ baseUrl, httpVersion: "1.1", nodeOptions }),
  };
  const calls = Object.entries(transports).map(async ([name, transport]) => {
    const reply = await createClient(Signing, transport).getSign({ signRequestId: UUID });
    if (reply.signRequestId !== UUID) throw new Error(`${name}: a wrong reply`);
  });
  const outcomes = await Promise.allSettled([...calls, restCall(sessions.rest)]);
  return outcomes.flatMap((outcome) =>
    outcome.status === "rejected" ? [`a good call failed: ${outcome.reason}`] : [],
  );
}

async function restCall(session: Http2SessionManager): Promise<void> {
  const stream = await session.request("GET", `/v1/sign/${UUID}`, {}, {});
  let text = "";
  for await (const chunk of stream.setEncoding("utf8")) text += chunk;
  if (!text.includes(`"${UUID}"`)) throw new Error(`REST: ${text}`);
}
