import type { JSX } from "preact";
import {
  WebhookEndpoint_DisableReason as Reason,
  WebhookDelivery_State as State,
  type WebhookDelivery,
  type WebhookEndpoint,
} from "../../../../gen/client/tss/v1/webhooks_pb.ts";
import { Badge } from "../../design/value/badge.tsx";
import { Time } from "../../design/value/time.tsx";

/** The state of an endpoint, with the reason why it gets nothing. */
export function EndpointState({
  of: { enabled, disableReason, failingSinceTime },
}: EndpointStateProps): JSX.Element {
  if (!enabled)
    return (
      <>
        <Badge tone={disableReason === Reason.requested ? "none" : "bad"}>disabled</Badge>
        <span class="small muted"> {REASONS[disableReason]}</span>
      </>
    );
  if (failingSinceTime === undefined) return <Badge tone="good">enabled</Badge>;
  return (
    <>
      <Badge tone="warn">failing</Badge>
      <span class="small muted">
        {" "}
        since <Time of={failingSinceTime} />
      </span>
    </>
  );
}

interface EndpointStateProps {
  readonly of: Pick<WebhookEndpoint, "enabled" | "disableReason" | "failingSinceTime">;
}

const REASONS: Readonly<Record<Reason, string>> = {
  [Reason.DISABLE_REASON_UNSPECIFIED]: "",
  [Reason.requested]: "by the project",
  [Reason.gone]: "it replied with 410 Gone",
  [Reason.failing]: "every request failed for five days",
};

/** The state of a delivery, with the next attempt of a pending one. */
export function DeliveryState({
  of: { state, attemptCount, nextAttemptTime },
}: DeliveryStateProps): JSX.Element {
  if (state === State.delivered) return <Badge tone="good">delivered</Badge>;
  if (state === State.failed) return <Badge tone="bad">failed</Badge>;
  return (
    <>
      <Badge tone={attemptCount === 0 ? "busy" : "warn"}>{attemptCount === 0 ? "pending" : "retrying"}</Badge>
      {attemptCount > 0 && (
        <span class="small muted">
          {" "}
          next <Time of={nextAttemptTime} />
        </span>
      )}
    </>
  );
}

interface DeliveryStateProps {
  readonly of: Pick<WebhookDelivery, "state" | "attemptCount" | "nextAttemptTime">;
}
