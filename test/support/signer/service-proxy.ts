import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** A proxy before a service, which sees each call and can interfere. */
export interface ServiceProxy {
  readonly url: string;
  /** The methods that were called, in order. */
  readonly calls: string[];
  /** Runs at the next call of a method, instead of it. It may pass the call on. */
  atNext(method: string, act: Interference): void;
  close(): Promise<void>;
}

/** What happens to one call. Returning undefined cuts the connection. */
export type Interference = (call: ProxiedCall) => Promise<ProxiedReply | undefined>;

/** A call of the service. */
export interface ProxiedCall {
  readonly headers: http.IncomingHttpHeaders;
  /** Has the service answer it. */
  pass(): Promise<ProxiedReply>;
}

export interface ProxiedReply {
  readonly status: number;
  readonly headers: http.OutgoingHttpHeaders;
  readonly body: Uint8Array;
}

/** Starts the proxy. Calls without interference are passed on as streams. */
export async function startServiceProxy(target: string): Promise<ServiceProxy> {
  const calls: string[] = [];
  const waiting = new Map<string, Interference>();
  const forward = (request: http.IncomingMessage): http.ClientRequest => {
    // Without compression, a test can change a reply.
    const { host: _, "accept-encoding": __, ...headers } = request.headers;
    const to = http.request(new URL(request.url!, target), { method: request.method!, headers });
    request.pipe(to);
    return to;
  };
  const server = http.createServer((request, reply) => {
    const method = request.url!.split("/").at(-1)!;
    calls.push(method);
    const act = waiting.get(method);
    waiting.delete(method);
    if (act === undefined) {
      forward(request)
        .on("response", (from) => from.pipe(reply.writeHead(from.statusCode!, from.headers)))
        .on("error", () => reply.destroy());
      return;
    }
    const pass = async (): Promise<ProxiedReply> => {
      const [from] = (await once(forward(request), "response")) as [http.IncomingMessage];
      const { "transfer-encoding": _, "content-length": __, ...headers } = from.headers;
      return { status: from.statusCode!, headers, body: await buffer(from) };
    };
    void act({ headers: request.headers, pass }).then((answer) => {
      if (answer === undefined) reply.destroy();
      else reply.writeHead(answer.status, answer.headers).end(answer.body);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    atNext: (method, act) => waiting.set(method, act),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
