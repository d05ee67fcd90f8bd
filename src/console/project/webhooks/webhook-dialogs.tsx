import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { WebhookEndpoint } from "../../../../gen/client/tss/v1/webhooks_pb.ts";
import { useSession } from "../../api/session.ts";
import { useIdempotencyKey } from "../../api/use-call.ts";
import { ActionDialog } from "../../design/form/dialog.tsx";
import { TextField } from "../../design/form/field.tsx";
import { missingText } from "../../format/form-state.ts";
import { kindsFault, kindsIn, webhookUrlFault } from "../../format/input-faults.ts";

/** Creates an endpoint. */
export function CreateEndpointDialog({ onClose, onCreated }: CreateEndpointDialogProps): JSX.Element {
  const { webhooks } = useSession();
  const [url, setUrl] = useState("");
  const [kinds, setKinds] = useState("");
  const headers = useIdempotencyKey([url, kinds]);
  return (
    <ActionDialog
      title="Create an endpoint"
      action="Create"
      missing={missingText({ required: [["URL", url]], faults: [webhookUrlFault(url), kindsFault(kinds)] })}
      onClose={onClose}
      onAct={async () => {
        const request = { url: url.trim(), kinds: [...kindsIn(kinds)] };
        const { secret } = await webhooks.createWebhookEndpoint(request, { headers });
        onCreated(secret);
      }}
    >
      <TextField
        label="URL"
        value={url}
        onInput={setUrl}
        fault={webhookUrlFault(url)}
        required
        autofocus
        hint="The service posts each event to it. It must be https."
      />
      <TextField
        label="Kinds of events"
        value={kinds}
        onInput={setKinds}
        fault={kindsFault(kinds)}
        hint="Such as sign.completed, separated by commas. Empty means all, including kinds of later versions."
      />
    </ActionDialog>
  );
}

interface CreateEndpointDialogProps {
  onClose(): void;
  /** Called with the secret; empty if an earlier reply had it. */
  onCreated(secret: string): void;
}

/** Gives an endpoint its next secret. */
export function RotateSecretDialog({ endpoint, onClose, onRotated }: RotateSecretDialogProps): JSX.Element {
  const { webhooks } = useSession();
  const { webhookEndpointId } = endpoint;
  const headers = useIdempotencyKey([webhookEndpointId]);
  return (
    <ActionDialog
      title="Rotate the secret?"
      action="Rotate the secret"
      onClose={onClose}
      onAct={async () => {
        const { secret } = await webhooks.rotateWebhookSecret({ webhookEndpointId }, { headers });
        onRotated(secret);
      }}
    >
      <p>
        For 24 hours both secrets sign each request to <span class="wrap">{endpoint.url}</span>. Change the
        receiver within that time. Another rotation ends the older secret at once.
      </p>
    </ActionDialog>
  );
}

interface RotateSecretDialogProps {
  readonly endpoint: WebhookEndpoint;
  onClose(): void;
  /** Called with the new secret; empty if an earlier reply had it. */
  onRotated(secret: string): void;
}

/** Asks for confirmation before an endpoint gets nothing more, or continues. */
export function EnableEndpointDialog({ endpoint, onClose, onDone }: EndpointDialogProps): JSX.Element {
  const { webhooks } = useSession();
  const { webhookEndpointId, enabled } = endpoint;
  return (
    <ActionDialog
      title={enabled ? "Disable the endpoint?" : "Enable the endpoint?"}
      action={enabled ? "Disable the endpoint" : "Enable the endpoint"}
      isDangerous={enabled}
      onClose={onClose}
      onAct={async () => {
        await webhooks.updateWebhookEndpoint({ webhookEndpointId, enabled: !enabled });
        onDone();
      }}
    >
      <p>
        {enabled
          ? "It gets nothing until it is enabled again. Its events wait for up to 30 days."
          : "It continues with the events that it has not received, up to 30 days back."}
      </p>
    </ActionDialog>
  );
}

/** Asks for confirmation before an endpoint and its deliveries are deleted. */
export function DeleteEndpointDialog({ endpoint, onClose, onDone }: EndpointDialogProps): JSX.Element {
  const { webhooks } = useSession();
  const { webhookEndpointId, url } = endpoint;
  return (
    <ActionDialog
      title="Delete the endpoint?"
      action="Delete the endpoint"
      isDangerous
      confirmedBy={{ name: url, what: "endpoint’s URL" }}
      onClose={onClose}
      onAct={async () => {
        await webhooks.deleteWebhookEndpoint({ webhookEndpointId });
        onDone();
      }}
    >
      <p>
        <span class="wrap">{url}</span> gets nothing more, and its deliveries are deleted. This cannot be
        undone.
      </p>
    </ActionDialog>
  );
}

interface EndpointDialogProps {
  readonly endpoint: WebhookEndpoint;
  onClose(): void;
  /** Called when the service has made the change. */
  onDone(): void;
}
