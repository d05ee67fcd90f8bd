import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  CreateWebhookEndpointResponseSchema,
  DeleteWebhookEndpointResponseSchema,
  ReplayWebhookEventsResponseSchema,
  ResendWebhookDeliveryResponseSchema,
  RotateWebhookSecretResponseSchema,
  TestWebhookEndpointResponseSchema,
  UpdateWebhookEndpointResponseSchema,
  type WebhookDelivery,
  WebhookDelivery_State,
  WebhookDelivery_StateSchema,
  WebhookDeliverySchema,
  type WebhookEndpoint,
  WebhookEndpoint_DisableReasonSchema,
  WebhookEndpointSchema,
} from "../../../../gen/proto/tss/v1/webhooks_pb.ts";
import { EVENT_KINDS } from "../../../service/events/event.ts";
import { DELIVERY_STATES } from "../../../service/webhooks/deliveries.ts";
import {
  choiceOf,
  choicesOf,
  flag,
  moment,
  nonEmptyText,
  operand,
  optional,
  required,
  uuid,
} from "../../command-line/option.ts";
import { serviceCommand } from "../../connections/service-command.ts";
import { formatEnum, formatPairs, formatTime } from "../../output/format.ts";
import { listCommand } from "../../output/list-command.ts";
import { listen } from "./listen.ts";

const PROJECT = { caller: "project", isDirect: false } as const;
const ENDPOINT = operand("<endpoint-id>", "the endpoint's id, as `tss webhook list` shows it", uuid);

const create = serviceCommand({
  ...PROJECT,
  isKeyed: true,
  summary: "post the project's events to a URL, and show the secret that verifies them",
  options: {
    to: required("<url>", "where to post: https, and http if the service allows it", nonEmptyText),
    kinds: optional("<list>", "the kinds of events; default all", choicesOf(EVENT_KINDS)),
  },
  call: ({ webhooks }, { to, kinds }, once) =>
    webhooks.createWebhookEndpoint({ url: to, kinds: kinds ?? [] }, once),
  reply: CreateWebhookEndpointResponseSchema,
  show: ({ endpoint, secret }) => formatPairs([...describe(endpoint!), ["secret", shownSecret(secret)]]),
});

const list = listCommand({
  ...PROJECT,
  summary: "list the project's webhook endpoints, newest first",
  options: {},
  async read({ webhooks }) {
    return { rows: (await webhooks.listWebhookEndpoints({})).endpoints, nextPageToken: "" };
  },
  row: WebhookEndpointSchema,
  columns: [
    { title: "ENDPOINT", of: ({ webhookEndpointId }) => webhookEndpointId },
    { title: "STATE", of: stateOf },
    { title: "FAILING SINCE", of: ({ failingSinceTime }) => formatTime(failingSinceTime) },
    { title: "KINDS", of: ({ kinds }) => kinds.join(",") || "all" },
    { title: "URL", of: ({ url }) => url },
  ],
});

const update = serviceCommand({
  ...PROJECT,
  summary: "change an endpoint, or stop it and let it continue",
  options: {
    endpoint: ENDPOINT,
    to: optional("<url>", "the new URL", nonEmptyText),
    kinds: optional("<list>", "the new kinds of events", choicesOf(EVENT_KINDS)),
    allKinds: flag("send all kinds of events"),
    enable: flag("continue with what the endpoint has not received"),
    disable: flag("send nothing until it is enabled"),
  },
  call({ webhooks }, { endpoint, to, kinds, allKinds, enable, disable }) {
    return webhooks.updateWebhookEndpoint({
      webhookEndpointId: endpoint,
      ...(to !== undefined && { url: to }),
      ...((allKinds || kinds !== undefined) && { kinds: { kinds: allKinds ? [] : (kinds ?? []) } }),
      ...(enable !== disable && { enabled: enable }),
    });
  },
  reply: UpdateWebhookEndpointResponseSchema,
  show: ({ endpoint }) => formatPairs(describe(endpoint!)),
});

const remove = serviceCommand({
  ...PROJECT,
  summary: "delete an endpoint and its deliveries",
  options: { endpoint: ENDPOINT },
  call: ({ webhooks }, { endpoint }) => webhooks.deleteWebhookEndpoint({ webhookEndpointId: endpoint }),
  reply: DeleteWebhookEndpointResponseSchema,
  show: () => "the endpoint is deleted; a request that is on its way still arrives",
});

const rotate = serviceCommand({
  ...PROJECT,
  isKeyed: true,
  summary: "give an endpoint a new secret; the one before also signs for 24 hours",
  options: { endpoint: ENDPOINT },
  call: ({ webhooks }, { endpoint }, once) =>
    webhooks.rotateWebhookSecret({ webhookEndpointId: endpoint }, once),
  reply: RotateWebhookSecretResponseSchema,
  show: ({ endpoint, secret }) => formatPairs([...describe(endpoint!), ["secret", shownSecret(secret)]]),
});

const test = serviceCommand({
  ...PROJECT,
  isKeyed: true,
  summary: "queue a test message for an endpoint",
  options: { endpoint: ENDPOINT },
  call: ({ webhooks }, { endpoint }, once) =>
    webhooks.testWebhookEndpoint({ webhookEndpointId: endpoint }, once),
  reply: TestWebhookEndpointResponseSchema,
  show: ({ delivery }) => formatPairs(describeDelivery(delivery!)),
});

const replay = serviceCommand({
  ...PROJECT,
  summary: "queue all events since a time for an endpoint again",
  options: { endpoint: ENDPOINT, since: required("<time>", "the time of the first event", moment) },
  call: ({ webhooks }, { endpoint, since }) =>
    webhooks.replayWebhookEvents({ webhookEndpointId: endpoint, startTime: timestampFromDate(since) }),
  reply: ReplayWebhookEventsResponseSchema,
  show: ({ endpoint }) => formatPairs(describe(endpoint!)),
});

const deliveries = listCommand({
  ...PROJECT,
  summary: "list the deliveries to an endpoint, newest first",
  options: {
    endpoint: ENDPOINT,
    state: optional("<state>", "show only deliveries in this state", choiceOf(DELIVERY_STATES)),
  },
  async read({ webhooks }, { endpoint, state }, page) {
    const { deliveries: rows, nextPageToken } = await webhooks.listWebhookDeliveries({
      webhookEndpointId: endpoint,
      ...(state !== undefined && { state: WebhookDelivery_State[state] }),
      ...page,
    });
    return { rows, nextPageToken };
  },
  row: WebhookDeliverySchema,
  columns: [
    { title: "DELIVERY", of: ({ webhookDeliveryId }) => webhookDeliveryId },
    { title: "CREATED", of: ({ createTime }) => formatTime(createTime) },
    { title: "KIND", of: ({ kind }) => kind },
    { title: "STATE", of: ({ state }) => formatEnum(WebhookDelivery_StateSchema, state) },
    { title: "ATTEMPTS", of: ({ attemptCount }) => String(attemptCount) },
    { title: "NEXT", of: ({ nextAttemptTime }) => formatTime(nextAttemptTime) },
    { title: "LAST", of: lastOf },
    { title: "SUBJECT", of: ({ subject }) => subject },
  ],
});

const resend = serviceCommand({
  ...PROJECT,
  summary: "queue a delivery again, with all its attempts",
  options: { delivery: operand("<delivery-id>", "its id, as `tss webhook deliveries` shows it", uuid) },
  call: ({ webhooks }, { delivery }) => webhooks.resendWebhookDelivery({ webhookDeliveryId: delivery }),
  reply: ResendWebhookDeliveryResponseSchema,
  show: ({ delivery }) => formatPairs(describeDelivery(delivery!)),
});

export const webhookCommands = {
  create,
  list,
  update,
  delete: remove,
  rotate,
  test,
  deliveries,
  resend,
  replay,
  listen,
};

const shownSecret = (secret: string): string =>
  secret === "" ? "shown by the first call alone; rotate it if it is lost" : secret;

function stateOf({ enabled, disableReason }: WebhookEndpoint): string {
  return enabled ? "enabled" : `disabled: ${formatEnum(WebhookEndpoint_DisableReasonSchema, disableReason)}`;
}

function describe(endpoint: WebhookEndpoint): [string, string | undefined][] {
  const { webhookEndpointId, url, kinds, publicKey, previousSecretExpireTime } = endpoint;
  return [
    ["endpoint", webhookEndpointId],
    ["url", url],
    ["kinds", kinds.join(",") || "all"],
    ["state", stateOf(endpoint)],
    ["public key", publicKey],
    ["previous secret", previousSecretExpireTime && `signs until ${formatTime(previousSecretExpireTime)}`],
  ];
}

function describeDelivery(delivery: WebhookDelivery): [string, string | undefined][] {
  return [
    ["delivery", delivery.webhookDeliveryId],
    ["event", delivery.eventId],
    ["kind", delivery.kind],
    ["state", formatEnum(WebhookDelivery_StateSchema, delivery.state)],
    ["attempts", String(delivery.attemptCount)],
    ["last", lastOf(delivery) || undefined],
  ];
}

function lastOf({ lastStatus, lastError }: WebhookDelivery): string {
  return lastStatus === undefined ? (lastError ?? "") : String(lastStatus);
}
