/** The whole service, without its console, posts webhooks to a receiver on this machine and streams events over REST. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { createClient as createServiceClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Webhooks } from "../../gen/proto/tss/v1/webhooks_pb.ts";
import { withHeaders } from "../../src/client/sdk/calls/transport.ts";
import { verifyWebhook } from "../../src/client/sdk/calls/verify-webhook.ts";
import { type AppInProcess, startAppInProcess } from "../support/service/app-in-process.ts";
import { type ReceivedRequest, startReceiver } from "../support/service/receiver.ts";

let app: AppInProcess;
let key: string;
beforeAll(async () => {
  app = await startAppInProcess({ CONSOLE: "off" });
  const file = path.join(app.environment["DATA_DIR"]!, "dev.json");
  key = (JSON.parse(readFileSync(file, "utf8")) as { apiKey: string }).apiKey;
}, 120_000);
afterAll(() => app.stop());

it("a test message reaches the receiver, which verifies it with the secret and with the public key", async () => {
  let received: (request: ReceivedRequest) => void = () => {};
  const arrival = new Promise<ReceivedRequest>((resolve) => {
    received = resolve;
  });
  const receiver = await startReceiver((request, response) => {
    response.end();
    received(request);
  });
  const transport = createConnectTransport({ baseUrl: app.url, httpVersion: "1.1" });
  const webhooks = createServiceClient(Webhooks, withHeaders(transport, { authorization: `Bearer ${key}` }));
  const { endpoint, secret } = await webhooks.createWebhookEndpoint({ url: `${receiver.url}/tss` });
  const { webhookEndpointId, publicKey } = endpoint!;
  await webhooks.testWebhookEndpoint({ webhookEndpointId });
  const { url, headers, body } = await arrival;
  await receiver.close();
  expect(url).toBe("/tss");
  for (const by of [{ secret }, { publicKey }])
    expect(verifyWebhook({ ...by, headers, body })).toMatchObject({
      type: "webhook.test",
      data: { subject: webhookEndpointId },
    });
}, 60_000);

it("a watch over REST is a stream of server-sent events that begins at once", async () => {
  const reply = await fetch(`${app.url}/v1/events/watch`, {
    headers: { authorization: `Bearer ${key}`, accept: "text/event-stream" },
  });
  expect(reply.status).toBe(200);
  expect(reply.headers.get("content-type")).toContain("text/event-stream");
  const { value } = await reply.body!.getReader().read();
  expect(new TextDecoder().decode(value)).toContain(": heartbeat\n\n");
}, 60_000);

it("no part of the console is served with CONSOLE=off", async () => {
  for (const page of ["/console", "/console/", "/console/index.html"]) {
    const { status } = await fetch(app.url + page);
    expect([page, status]).toEqual([page, 404]);
  }
  expect((await fetch(`${app.url}/v1/health`)).status).toBe(200);
});
