import { readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { ROOT } from "../repository/source-files.ts";

const pem = (name: string) => readFileSync(path.join(ROOT, "test/support/service", name), "utf8");

/** The certificate of a receiver with TLS, for the name `localhost`. */
export const RECEIVER_CERTIFICATE = pem("localhost.cert.pem");

/** A request that reached a receiver. */
export interface ReceivedRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An HTTP server on the loopback interface that gets webhooks. */
export interface Receiver {
  readonly port: number;
  /** The base URL, with the name `localhost` under TLS. */
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  close(): Promise<void>;
}

/** Starts a receiver. Default: it accepts every request in clear text. */
export async function startReceiver(
  reply: (request: ReceivedRequest, response: ServerResponse) => void = (_request, response) =>
    response.end(),
  { isSecure = false } = {},
): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const server = isSecure
    ? createTlsServer({ cert: RECEIVER_CERTIFICATE, key: pem("localhost.key.pem") })
    : createServer();
  server.on("request", (incoming, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const { method, url, headers } = incoming;
      const request = { method, url, headers, body: Buffer.concat(chunks).toString("utf8") };
      requests.push(request);
      reply(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: isSecure ? `https://localhost:${port}` : `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
