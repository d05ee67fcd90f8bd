import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { WebhookEndpoint } from "../../../../gen/client/tss/v1/webhooks_pb.ts";
import { useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { Empty } from "../../design/empty.tsx";
import { SecretDialog } from "../../design/form/dialog.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import { Panel } from "../../design/panel.tsx";
import { type DataColumn, DataTable } from "../../design/table/data-table.tsx";
import { Time } from "../../design/value/time.tsx";
import { EndpointState } from "./webhook-badges.tsx";
import { CreateEndpointDialog } from "./webhook-dialogs.tsx";

/** The project's endpoints. Their number is bounded, so the list has one page. */
export function WebhooksPage(): JSX.Element {
  const { webhooks } = useSession();
  const [open, setOpen] = useState<"create" | { readonly secret: string }>();
  const endpoints = useCall((signal) => webhooks.listWebhookEndpoints({}, { signal }), [], {
    everyMs: 10_000,
  });
  const close = (): void => setOpen(undefined);
  return (
    <PageFrame title="Webhooks" lead="The service posts the project’s events to these URLs, signed.">
      <Panel
        title="Endpoints"
        note="Newest first."
        actions={
          <button type="button" class="button button-primary" onClick={() => setOpen("create")}>
            Create an endpoint
          </button>
        }
      >
        <Loaded call={endpoints} lines={6}>
          {({ endpoints: rows }) => (
            <DataTable
              caption="Endpoints"
              columns={COLUMNS}
              rows={rows}
              rowKey={({ webhookEndpointId }) => webhookEndpointId}
              empty={
                <Empty title="No endpoints yet">Create one, and each later event is posted to it.</Empty>
              }
            />
          )}
        </Loaded>
      </Panel>
      {open === "create" && (
        <CreateEndpointDialog
          onClose={close}
          onCreated={(secret) => {
            setOpen({ secret });
            endpoints.reload();
          }}
        />
      )}
      {typeof open === "object" && <WebhookSecretDialog secret={open.secret} onClose={close} />}
    </PageFrame>
  );
}

const COLUMNS: readonly DataColumn<WebhookEndpoint>[] = [
  {
    title: "URL",
    cell: ({ url, webhookEndpointId }) => (
      <a class="wrap" href={`#/webhooks/${webhookEndpointId}`}>
        {url}
      </a>
    ),
  },
  { title: "State", cell: (endpoint) => <EndpointState of={endpoint} /> },
  { title: "Kinds", cell: ({ kinds }) => (kinds.length === 0 ? "all" : kinds.join(", ")) },
  { title: "Created", cell: ({ createTime }) => <Time of={createTime} /> },
];

/** Shows the secret of an endpoint once. */
export function WebhookSecretDialog({ secret, onClose }: WebhookSecretDialogProps): JSX.Element {
  return (
    <SecretDialog title="The secret of the endpoint" what="secret" secret={secret} onClose={onClose}>
      Copy the secret now and give it to the receiver, which verifies each request with it. The service does
      not store it, so nobody can show it again.
    </SecretDialog>
  );
}

interface WebhookSecretDialogProps {
  readonly secret: string;
  onClose(): void;
}
