import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import {
  type WebhookDelivery,
  WebhookDelivery_State,
  WebhookDeliverySchema,
  type WebhookEndpoint,
  WebhookEndpoint_DisableReason,
  WebhookEndpointSchema,
  type Webhooks,
} from "../../../gen/proto/tss/v1/webhooks_pb.ts";
import { callerOf } from "../access/caller.ts";
import { readKinds } from "../events/read-events.ts";
import type { Signals } from "../platform/coordination/signals.ts";
import { topics } from "../platform/coordination/topics.ts";
import { invalidField } from "../platform/errors/service-error.ts";
import { idempotencyOf } from "../platform/idempotency/idempotency.ts";
import { DELIVERY_STATES, type DeliveryRow, listDeliveries, resendDelivery, sendTest } from "./deliveries.ts";
import { type EndpointRow, readEndpoint, readEndpoints } from "./endpoint-row.ts";
import { showPublicKey } from "./endpoint-secret.ts";
import {
  createEndpoint,
  deleteEndpoint,
  type EndpointDeps,
  replayEvents,
  rotateSecret,
  updateEndpoint,
} from "./endpoints.ts";

/** Implements `tss.v1.Webhooks`. */
export function createWebhooksService(deps: WebhooksServiceDeps): ServiceImpl<typeof Webhooks> {
  const { database, signals } = deps;
  const projectOf = (context: HandlerContext) => callerOf(context, "project");
  /** Wakes the workers, which have something to send. */
  const announce = (context: HandlerContext) => signals.notify(topics.webhooks(projectOf(context).projectId));
  return {
    async createWebhookEndpoint({ url, kinds }, context) {
      const input = { url, kinds: readKinds(kinds) ?? [] };
      const { endpoint, secret } = await createEndpoint(
        deps,
        projectOf(context),
        idempotencyOf(context),
        input,
      );
      announce(context);
      return { endpoint: encodeEndpoint(endpoint), secret: secret ?? "" };
    },
    async listWebhookEndpoints(_request, context) {
      return { endpoints: (await readEndpoints(database, projectOf(context).projectId)).map(encodeEndpoint) };
    },
    async getWebhookEndpoint({ webhookEndpointId }, context) {
      const endpoint = await readEndpoint(database, projectOf(context).projectId, webhookEndpointId);
      return { endpoint: encodeEndpoint(endpoint) };
    },
    async updateWebhookEndpoint({ webhookEndpointId, url, kinds, enabled }, context) {
      const change = { url, kinds: kinds && (readKinds(kinds.kinds) ?? []), isEnabled: enabled };
      const endpoint = await updateEndpoint(deps, projectOf(context), webhookEndpointId, change);
      announce(context);
      return { endpoint: encodeEndpoint(endpoint) };
    },
    async deleteWebhookEndpoint({ webhookEndpointId }, context) {
      await deleteEndpoint(deps, projectOf(context), webhookEndpointId);
      return {};
    },
    async rotateWebhookSecret({ webhookEndpointId }, context) {
      const once = idempotencyOf(context);
      const { endpoint, secret } = await rotateSecret(deps, projectOf(context), once, webhookEndpointId);
      return { endpoint: encodeEndpoint(endpoint), secret: secret ?? "" };
    },
    async testWebhookEndpoint({ webhookEndpointId }, context) {
      const once = idempotencyOf(context);
      const delivery = await sendTest(database, projectOf(context), once, webhookEndpointId);
      announce(context);
      return { delivery: encodeDelivery(delivery) };
    },
    async replayWebhookEvents({ webhookEndpointId, startTime }, context) {
      if (startTime === undefined) throw invalidField("start_time", "is required");
      const since = timestampDate(startTime);
      const endpoint = await replayEvents(deps, projectOf(context), webhookEndpointId, since);
      announce(context);
      return { endpoint: encodeEndpoint(endpoint) };
    },
    async listWebhookDeliveries({ webhookEndpointId: endpointId, state, pageSize, pageToken }, context) {
      const { rows, nextPageToken } = await listDeliveries(database, projectOf(context), {
        endpointId,
        pageSize,
        pageToken,
        state: DELIVERY_STATES.find((name) => WebhookDelivery_State[name] === state),
      });
      return { deliveries: rows.map(encodeDelivery), nextPageToken };
    },
    async resendWebhookDelivery({ webhookDeliveryId }, context) {
      const delivery = await resendDelivery(database, projectOf(context), webhookDeliveryId);
      announce(context);
      return { delivery: encodeDelivery(delivery) };
    },
  };
}

/** Dependencies of {@link createWebhooksService}. */
export interface WebhooksServiceDeps extends EndpointDeps {
  readonly signals: Signals;
}

function encodeEndpoint(row: EndpointRow): WebhookEndpoint {
  const { id, url, kinds, disabledFor, publicKey, createdAt, rotatedUntil, failingSince } = row;
  return create(WebhookEndpointSchema, {
    webhookEndpointId: id,
    url,
    kinds: [...kinds],
    enabled: disabledFor === null,
    ...(disabledFor !== null && { disableReason: WebhookEndpoint_DisableReason[disabledFor] }),
    publicKey: showPublicKey(publicKey),
    createTime: timestampFromDate(createdAt),
    ...(rotatedUntil !== null && { previousSecretExpireTime: timestampFromDate(rotatedUntil) }),
    ...(failingSince !== null && { failingSinceTime: timestampFromDate(failingSince) }),
  });
}

function encodeDelivery(row: DeliveryRow): WebhookDelivery {
  const { id, endpointId, eventId, kind, subject, state, attempts, dueAt, lastStatus, lastError } = row;
  return create(WebhookDeliverySchema, {
    webhookDeliveryId: id,
    webhookEndpointId: endpointId,
    eventId,
    kind,
    subject,
    state: WebhookDelivery_State[state],
    attemptCount: attempts,
    ...(state === "pending" && { nextAttemptTime: timestampFromDate(dueAt) }),
    ...(lastStatus !== null && { lastStatus }),
    ...(lastError !== null && { lastError }),
    createTime: timestampFromDate(row.createdAt),
    ...(row.endedAt !== null && { endTime: timestampFromDate(row.endedAt) }),
  });
}
