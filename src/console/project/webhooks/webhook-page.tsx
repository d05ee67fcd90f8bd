import type { JSX } from "preact";
import { useState } from "preact/hooks";
import {
  type WebhookDelivery_State as State,
  type WebhookDelivery,
  WebhookDelivery_StateSchema,
  type WebhookEndpoint,
} from "../../../../gen/client/tss/v1/webhooks_pb.ts";
import { isOneOf, useUrlFilter } from "../../address/use-url-filter.ts";
import { useSession } from "../../api/session.ts";
import { useCall, useIdempotencyKey } from "../../api/use-call.ts";
import { usePages } from "../../api/use-pages.ts";
import { Empty } from "../../design/empty.tsx";
import { ActionDialog } from "../../design/form/dialog.tsx";
import { enumOptions, SelectField } from "../../design/form/field.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import { Panel } from "../../design/panel.tsx";
import type { DataColumn } from "../../design/table/data-table.tsx";
import { ListTable } from "../../design/table/list-table.tsx";
import { Facts } from "../../design/value/facts.tsx";
import { Id } from "../../design/value/id.tsx";
import { Time } from "../../design/value/time.tsx";
import { enumName, plainTime, shortId } from "../../format/text.ts";
import type { PageProps } from "../../route.ts";
import { DeliveryState, EndpointState } from "./webhook-badges.tsx";
import { DeleteEndpointDialog, EnableEndpointDialog, RotateSecretDialog } from "./webhook-dialogs.tsx";
import { WebhookSecretDialog } from "./webhooks-page.tsx";

/** An endpoint with its deliveries. */
export function WebhookPage({ id: webhookEndpointId }: PageProps): JSX.Element {
  const { webhooks } = useSession();
  const [open, setOpen] = useState<Open>();
  const [round, setRound] = useState(0);
  const read = useCall(
    async (signal) => (await webhooks.getWebhookEndpoint({ webhookEndpointId }, { signal })).endpoint,
    [webhookEndpointId],
    { everyMs: 10_000 },
  );
  const { data: endpoint, failure } = read;
  const close = (): void => setOpen(undefined);
  const done = (): void => {
    close();
    read.reload();
  };
  if (failure?.reason === "WEBHOOK_ENDPOINT_NOT_FOUND") {
    return (
      <PageFrame title="No such endpoint" up={ALL}>
        <Empty title="The project has no endpoint with this id, or has deleted it">
          <code class="wrap">{webhookEndpointId}</code>
        </Empty>
      </PageFrame>
    );
  }
  return (
    <PageFrame
      title="Endpoint"
      lead={endpoint?.url}
      up={ALL}
      actions={endpoint && <EndpointActions endpoint={endpoint} onOpen={setOpen} />}
    >
      <section class="panel" aria-label="Settings">
        <Loaded call={read} lines={6}>
          {(found) => (found === undefined ? null : <Settings endpoint={found} />)}
        </Loaded>
      </section>
      <DeliveriesPanel key={round} endpointId={webhookEndpointId} />
      {endpoint !== undefined && (
        <>
          {open === "test" && (
            <TestDialog
              endpoint={endpoint}
              onClose={close}
              onDone={() => {
                done();
                setRound(round + 1);
              }}
            />
          )}
          {open === "rotate" && (
            <RotateSecretDialog
              endpoint={endpoint}
              onClose={close}
              onRotated={(secret) => {
                read.reload();
                setOpen({ secret });
              }}
            />
          )}
          {open === "enable" && <EnableEndpointDialog endpoint={endpoint} onClose={close} onDone={done} />}
          {open === "delete" && (
            <DeleteEndpointDialog
              endpoint={endpoint}
              onClose={close}
              onDone={() => {
                location.hash = "#/webhooks";
              }}
            />
          )}
          {typeof open === "object" && <WebhookSecretDialog secret={open.secret} onClose={close} />}
        </>
      )}
    </PageFrame>
  );
}

type Open = "test" | "rotate" | "enable" | "delete" | { readonly secret: string };

const ALL = { href: "#/webhooks", title: "All endpoints" };

function EndpointActions({ endpoint: { enabled }, onOpen }: EndpointActionsProps): JSX.Element {
  return (
    <>
      {!enabled && <span class="small muted">A disabled endpoint gets no test.</span>}
      <button type="button" class="button" disabled={!enabled} onClick={() => onOpen("test")}>
        Send a test
      </button>
      <button type="button" class="button" onClick={() => onOpen("rotate")}>
        Rotate the secret
      </button>
      <button type="button" class="button" onClick={() => onOpen("enable")}>
        {enabled ? "Disable" : "Enable"}
      </button>
      <button type="button" class="button button-danger" onClick={() => onOpen("delete")}>
        Delete
      </button>
    </>
  );
}

interface EndpointActionsProps {
  readonly endpoint: WebhookEndpoint;
  onOpen(what: Open): void;
}

function Settings({ endpoint }: { readonly endpoint: WebhookEndpoint }): JSX.Element {
  const { url, kinds, publicKey, createTime, previousSecretExpireTime } = endpoint;
  return (
    <Facts
      facts={[
        ["URL", <span class="wrap">{url}</span>],
        ["State", <EndpointState of={endpoint} />],
        ["Kinds", kinds.length === 0 ? "all" : kinds.join(", ")],
        ["Public key", <Id id={publicKey} what="public key" isWhole />],
        ["Created", <Time of={createTime} />],
        [
          "Previous secret",
          previousSecretExpireTime && (
            <>
              signs until <Time of={previousSecretExpireTime} />
            </>
          ),
        ],
      ]}
    />
  );
}

/** Queues a test message. */
function TestDialog({ endpoint, onClose, onDone }: TestDialogProps): JSX.Element {
  const { webhooks } = useSession();
  const { webhookEndpointId, url } = endpoint;
  const headers = useIdempotencyKey([webhookEndpointId]);
  return (
    <ActionDialog
      title="Send a test?"
      action="Send a test"
      onClose={onClose}
      onAct={async () => {
        await webhooks.testWebhookEndpoint({ webhookEndpointId }, { headers });
        onDone();
      }}
    >
      <p>
        The service posts a message of the kind <code>webhook.test</code> to <span class="wrap">{url}</span>.
      </p>
    </ActionDialog>
  );
}

interface TestDialogProps {
  readonly endpoint: WebhookEndpoint;
  onClose(): void;
  onDone(): void;
}

/** The deliveries to an endpoint, which can be sent again here. */
function DeliveriesPanel({ endpointId: webhookEndpointId }: { readonly endpointId: string }): JSX.Element {
  const { webhooks } = useSession();
  const [state, setState] = useUrlFilter("state", "", isOneOf(STATES));
  const [sending, setSending] = useState<WebhookDelivery>();
  const deliveries = usePages(
    "deliveries",
    async (at, signal) => {
      const filter = { ...(state !== "" && { state: Number(state) as State }) };
      const reply = await webhooks.listWebhookDeliveries({ webhookEndpointId, ...at, ...filter }, { signal });
      return { items: reply.deliveries, nextPageToken: reply.nextPageToken };
    },
    [webhookEndpointId, state],
    { everyMs: 3_000 },
  );
  return (
    <Panel title="Deliveries" note="Newest first, of the last 30 days.">
      <ListTable
        caption="Deliveries"
        columns={[
          ...COLUMNS,
          {
            title: "Actions",
            cell: (delivery) => (
              <button type="button" class="button button-small" onClick={() => setSending(delivery)}>
                Send again<span class="visually-hidden"> the event {shortId(delivery.eventId)}</span>
              </button>
            ),
          },
        ]}
        rowKey={({ webhookDeliveryId }) => webhookDeliveryId}
        empty={<Empty title="No deliveries">Each later event becomes one.</Empty>}
        pages={deliveries}
        lines={6}
        filter={
          <div class="filters">
            <SelectField label="State" options={STATES} value={state} onSelect={setState} />
          </div>
        }
      />
      {sending !== undefined && (
        <ResendDialog
          delivery={sending}
          onClose={() => setSending(undefined)}
          onDone={() => {
            setSending(undefined);
            deliveries.reload();
          }}
        />
      )}
    </Panel>
  );
}

const STATES: readonly (readonly [string, string])[] = [
  ["", "all"],
  ...enumOptions(WebhookDelivery_StateSchema),
];

const COLUMNS: readonly DataColumn<WebhookDelivery>[] = [
  {
    title: "Queued",
    cell: ({ createTime }) => <Time of={createTime} />,
    text: ({ createTime }) => plainTime(createTime),
  },
  { title: "Kind", cell: ({ kind }) => <span class="time">{kind}</span>, text: ({ kind }) => kind },
  {
    title: "Event",
    cell: ({ eventId }) => <Id id={eventId} what="event id" />,
    text: ({ eventId }) => eventId,
  },
  {
    title: "State",
    cell: (delivery) => <DeliveryState of={delivery} />,
    text: ({ state }) => enumName(WebhookDelivery_StateSchema, state),
  },
  {
    title: "Last reply",
    cell: (delivery) => <LastReply of={delivery} />,
    text: ({ lastStatus, lastError }) => `${lastStatus ?? lastError ?? ""}`,
  },
  {
    title: "Ended",
    cell: ({ endTime }) => <Time of={endTime} />,
    text: ({ endTime }) => plainTime(endTime),
  },
];

/** The status of the last reply, or why there was none, and the number of the attempt. */
function LastReply({
  of: { lastStatus, lastError, attemptCount },
}: {
  readonly of: WebhookDelivery;
}): JSX.Element {
  if (attemptCount === 0) return <span class="muted">none</span>;
  return (
    <>
      {lastStatus !== undefined ? <span class="time">HTTP {lastStatus}</span> : lastError}
      {attemptCount > 1 && <span class="small muted"> attempt {attemptCount}</span>}
    </>
  );
}

/** Queues a delivery again with all its attempts. */
function ResendDialog({ delivery, onClose, onDone }: ResendDialogProps): JSX.Element {
  const { webhooks } = useSession();
  const { webhookDeliveryId, kind, eventId } = delivery;
  return (
    <ActionDialog
      title={`Send the event ${shortId(eventId)} again?`}
      action="Send again"
      onClose={onClose}
      onAct={async () => {
        await webhooks.resendWebhookDelivery({ webhookDeliveryId });
        onDone();
      }}
    >
      <p>
        The receiver gets <code>{kind}</code> with the same <code>webhook-id</code>. A receiver that stores
        the ids ignores it.
      </p>
    </ActionDialog>
  );
}

interface ResendDialogProps {
  readonly delivery: WebhookDelivery;
  onClose(): void;
  onDone(): void;
}
