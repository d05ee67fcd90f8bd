import { Events } from "../../../../../../gen/proto/tss/v1/events_pb.ts";
import { Webhooks } from "../../../../../../gen/proto/tss/v1/webhooks_pb.ts";
import { readNewestPlace, sealPlace } from "../../../../../../src/service/events/read-events.ts";
import { ENDPOINTS_MAX_COUNT } from "../../../../../../src/service/webhooks/endpoints.ts";
import { PENDING_MAX_COUNT } from "../../../../../../src/service/webhooks/queue-deliveries.ts";
import { writeEvent } from "../../../../../support/database/events.ts";
import type { ErrorStack } from "../error-stack.ts";
import type { ProtocolClient } from "../protocol-client.ts";
import type { Provocation } from "./provocation.ts";

const { listEvents, watchEvents } = Events.method;
const { createWebhookEndpoint, resendWebhookDelivery, testWebhookEndpoint, ...others } = Webhooks.method;
const ofEndpoint = [
  testWebhookEndpoint,
  others.getWebhookEndpoint,
  others.updateWebhookEndpoint,
  others.deleteWebhookEndpoint,
  others.rotateWebhookSecret,
  others.replayWebhookEvents,
  others.listWebhookDeliveries,
];
const url = "https://hooks.example/";

/** A project with a webhook endpoint. */
async function withEndpoint(stack: ErrorStack, protocolClient: ProtocolClient) {
  const project = await stack.newProject();
  const made = await protocolClient.call({
    method: createWebhookEndpoint,
    key: project.key,
    request: { url },
  });
  if (made.code !== 0) throw new Error(`no endpoint was made: ${made.message}`);
  const [row] = await stack.database.query<{ id: string }>(
    "SELECT id FROM webhook_endpoint WHERE project_id = $1",
    [project.projectId],
  );
  return { ...project, webhookEndpointId: row!.id };
}

const unknownEndpoint = (method: (typeof ofEndpoint)[number]): Provocation => ({
  how: `an endpoint that the project has not, of ${method.name}`,
  async provoke(stack, protocolClient) {
    const { key } = await stack.newProject();
    const startTime = method === others.replayWebhookEvents ? { startTime: "2026-01-01T00:00:00Z" } : {};
    return protocolClient.call({ method, key, request: { webhookEndpointId: UNKNOWN_ID, ...startTime } });
  },
  metadata: { webhookEndpointId: UNKNOWN_ID },
});

const UNKNOWN_ID = "01a21ed8-cf30-7713-b362-8f6b4177a0e3";

const deleted = (method: typeof listEvents | typeof watchEvents): Provocation => ({
  how: `a cursor whose next events are deleted, of ${method.name}`,
  async provoke({ newProject, database }, protocolClient) {
    const { projectId, key } = await newProject();
    await writeEvent(database, projectId, "first");
    const cursor = sealPlace(projectId, await readNewestPlace(database, projectId));
    await writeEvent(database, projectId, "second");
    await readNewestPlace(database, projectId);
    await database.query("UPDATE event_head SET lost_sequence = last_sequence WHERE project_id = $1", [
      projectId,
    ]);
    return protocolClient.call({ method, key, request: { cursor } });
  },
});

/** Refusals of calls about events and webhooks. */
export const EVENT_PROVOCATIONS = {
  WEBHOOK_ENDPOINT_NOT_FOUND: ofEndpoint.map(unknownEndpoint),
  WEBHOOK_DELIVERY_NOT_FOUND: [
    {
      how: "a delivery that the project has not",
      async provoke(stack, protocolClient) {
        const { key } = await withEndpoint(stack, protocolClient);
        const request = { webhookDeliveryId: UNKNOWN_ID };
        return protocolClient.call({ method: resendWebhookDelivery, key, request });
      },
      metadata: { webhookDeliveryId: UNKNOWN_ID },
    },
  ],
  WEBHOOKS_OFF: [
    {
      how: "an endpoint of a service without WEBHOOK_SECRET_HEX",
      async provoke(stack, protocolClient) {
        const { url: base } = await stack.serve({ sendsWebhooks: false });
        const { key } = await stack.newProject();
        return protocolClient.call({ method: createWebhookEndpoint, key, request: { url }, url: base });
      },
    },
  ],
  TOO_MANY_WEBHOOK_ENDPOINTS: [
    {
      how: "one more endpoint than a project may have",
      async provoke(stack, protocolClient) {
        const { projectId, key } = await withEndpoint(stack, protocolClient);
        await stack.database.query("UPDATE webhook_project SET endpoint_count = $2 WHERE project_id = $1", [
          projectId,
          ENDPOINTS_MAX_COUNT,
        ]);
        return protocolClient.call({ method: createWebhookEndpoint, key, request: { url } });
      },
      metadata: { maxCount: String(ENDPOINTS_MAX_COUNT) },
    },
  ],
  TOO_MANY_WEBHOOK_DELIVERIES: [
    {
      how: "a test message for an endpoint with too many pending deliveries",
      async provoke(stack, protocolClient) {
        const { projectId, key, webhookEndpointId } = await withEndpoint(stack, protocolClient);
        await stack.database.query(
          `INSERT INTO webhook_delivery (id, endpoint_id, project_id, event_id, kind, subject, data, event_time)
           SELECT gen_random_uuid(), $1, $2, gen_random_uuid(), 'webhook.test', 'subject', '{}', now()
           FROM generate_series(1, $3::integer)`,
          [webhookEndpointId, projectId, PENDING_MAX_COUNT],
        );
        return protocolClient.call({ method: testWebhookEndpoint, key, request: { webhookEndpointId } });
      },
      metadata: { maxCount: String(PENDING_MAX_COUNT) },
    },
  ],
  CURSOR_LOST: [deleted(listEvents), deleted(watchEvents)],
} as const satisfies Readonly<Record<string, readonly Provocation[]>>;
