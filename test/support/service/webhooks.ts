import { Webhooks } from "../../../gen/proto/tss/v1/webhooks_pb.ts";
import type { ProjectCaller } from "../../../src/service/access/caller.ts";
import { createLocalSignals } from "../../../src/service/platform/coordination/local-coordination.ts";
import type { Signals } from "../../../src/service/platform/coordination/signals.ts";
import { systemClock } from "../../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../../src/service/platform/store/database.ts";
import { Secret } from "../../../src/service/platform/telemetry/secret.ts";
import { createEndpointSecrets } from "../../../src/service/webhooks/endpoint-secret.ts";
import { createWebhookSender } from "../../../src/service/webhooks/send-webhook.ts";
import { createWebhookLoop, type WebhookLoopDeps } from "../../../src/service/webhooks/webhook-loop.ts";
import { createWebhooksService } from "../../../src/service/webhooks/webhooks-service.ts";
import { TEST_ORIGIN } from "../database/rows.ts";
import { silentLog } from "../silent-log.ts";
import { clientOf } from "./service-client.ts";

/** The setting WEBHOOK_SECRET_HEX of tests. */
export const WEBHOOK_SECRET = new Secret("5e".repeat(32));

/** A backend of a project. */
export function backendOf(projectId: string): ProjectCaller {
  return {
    kind: "project",
    projectId,
    apiKeyId: "the calling key",
    network: "localnet",
    scopes: ["webhooks", "read"],
    origin: TEST_ORIGIN,
  };
}

/** A client of the webhook calls, as a project's backend. */
export function webhooksOf(
  database: Database,
  projectId: string,
  { signals = createLocalSignals(), isOff = false, allowsInside = true } = {},
) {
  const secrets = isOff ? undefined : createEndpointSecrets(WEBHOOK_SECRET);
  const service = createWebhooksService({ database, signals, secrets, allowsInside });
  return clientOf(Webhooks, service, () => backendOf(projectId));
}

/** A worker that sends webhooks, to receivers on this machine by default. It is not started. */
export function webhookWorker(
  database: Database,
  options: Partial<Omit<WebhookLoopDeps, "database">> & { readonly signals?: Signals } = {},
) {
  return createWebhookLoop({
    database,
    signals: createLocalSignals(),
    secrets: createEndpointSecrets(WEBHOOK_SECRET),
    send: createWebhookSender({ allowsInside: true }),
    clock: systemClock,
    log: silentLog,
    intervalMs: 5,
    ...options,
  });
}
