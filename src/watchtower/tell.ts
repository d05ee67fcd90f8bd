import type { Log } from "../service/platform/telemetry/logger.ts";
import type { Secret } from "../service/platform/telemetry/secret.ts";
import { createEndpointSecrets } from "../service/webhooks/endpoint-secret.ts";
import type { SendResult, WebhookSender } from "../service/webhooks/send-webhook.ts";
import { bodyOf } from "../service/webhooks/webhook-loop.ts";
import type { Alert } from "./tower-state.ts";

/**
 * Creates the sender of alerts: the requests of the service's webhooks, with the same body and signatures. Its secret
 * follows from 64 hex digits, as those of the service's endpoints do.
 */
export function createTeller({ url, secretHex, send, log, nowMs }: TellerOptions): Teller {
  const secrets = createEndpointSecrets(secretHex);
  return {
    secret: secrets.show(NAME),
    async tell({ id, kind, subject, data, atMs }) {
      const timestamp = Math.floor(nowMs() / 1_000);
      const eventTime = new Date(atMs);
      const body = bodyOf({
        eventId: id,
        kind,
        subject,
        userReference: null,
        data: JSON.stringify(data),
        eventTime,
      });
      const result: SendResult = await send({
        url,
        body,
        headers: {
          "content-type": "application/json",
          "user-agent": "threshold-signing-watchtower",
          "webhook-id": id,
          "webhook-timestamp": String(timestamp),
          "webhook-signature": secrets.sign([NAME], { id, timestamp, body }),
        },
      });
      const isDelivered = "status" in result && result.status >= 200 && result.status < 300;
      if (!isDelivered) log.warn({ alert: id, ...result }, "an alert was not delivered, and is tried again");
      return isDelivered;
    },
  };
}

/** Sends alerts. */
export interface Teller {
  /** What the receiver verifies with: `whsec_…`. */
  readonly secret: string;
  /** Returns whether the receiver has accepted the alert. */
  tell(alert: Alert): Promise<boolean>;
}

interface TellerOptions {
  readonly url: string;
  readonly secretHex: Secret;
  readonly send: WebhookSender;
  readonly log: Log;
  nowMs(): number;
}

const NAME = { id: "watchtower", number: 1 };
