import { idleRestMs, type Signals } from "../platform/coordination/signals.ts";
import { EVENT_TOPICS, WEBHOOK_TOPICS } from "../platform/coordination/topics.ts";
import { type BackgroundLoop, createBackgroundLoop } from "../platform/lifecycle/background-loop.ts";
import type { Clock } from "../platform/lifecycle/clock.ts";
import type { Database } from "../platform/store/database.ts";
import type { Log } from "../platform/telemetry/logger.ts";
import {
  type ClaimedDelivery,
  claimDeliveries,
  type RecordedResult,
  recordResult,
  returnDelivery,
} from "./claim-deliveries.ts";
import type { EndpointSecrets } from "./endpoint-secret.ts";
import { findProjectsWithNews, queueDeliveries, readWebhookProjects } from "./queue-deliveries.ts";
import type { SendResult, WebhookSender } from "./send-webhook.ts";

/**
 * Creates the loop that sends webhooks. Any number of processes may run it. A pass makes the deliveries of new events,
 * claims due ones and begins to send them; it does not wait for receivers. The results are recorded as they arrive. A
 * process that dies leaves its deliveries to the others when their leases are over.
 */
export function createWebhookLoop(deps: WebhookLoopDeps): BackgroundLoop {
  const { database, signals, clock, log, intervalMs = DEFAULT_INTERVAL_MS, leaseMs = LEASE_MS } = deps;
  const running = new Set<Promise<void>>();
  let known: ReadonlySet<string> = new Set();
  let knownUntilMs = 0;
  const loop = createBackgroundLoop({
    name: "webhooks",
    intervalMs,
    clock,
    log,
    wakeOn(wake) {
      // Most signatures are of projects without webhooks.
      const events = signals.subscribeKind(EVENT_TOPICS, (projectId) => {
        if (known.has(projectId)) wake();
      });
      const webhooks = signals.subscribeKind(WEBHOOK_TOPICS, wake);
      return () => {
        events();
        webhooks();
      };
    },
    async pass(signal) {
      if (known.size === 0 || clock.now() >= knownUntilMs) {
        known = await readWebhookProjects(database);
        knownUntilMs = clock.now() + KNOWN_MS;
      }
      if (known.size === 0) return { restMs: idleRestMs(signals, intervalMs) };
      const projectIds = await findProjectsWithNews(database, PROJECTS_MAX_COUNT);
      for (const projectId of projectIds) {
        if (signal.aborted) return false;
        await queueDeliveries(database, projectId);
      }
      const maxCount = SENDING_MAX_COUNT - running.size;
      const claimedAtMs = clock.now();
      const claimed = maxCount > 0 ? await claimDeliveries(database, { maxCount, leaseMs }) : [];
      for (const delivery of claimed) begin(delivery, claimedAtMs);
      return projectIds.length > 0 || claimed.length > 0;
    },
  });

  function begin(delivery: ClaimedDelivery, claimedAtMs: number): void {
    const work = attempt(delivery, claimedAtMs).catch((cause: unknown) => {
      // The lease ends, and the delivery is attempted again.
      log.error({ delivery: delivery.id, cause }, "a webhook's result was not recorded");
    });
    running.add(work);
    void work.then(() => {
      running.delete(work);
      // The next delivery of the subject may be due.
      loop.wake();
    });
  }

  async function attempt(delivery: ClaimedDelivery, claimedAtMs: number): Promise<void> {
    const { secrets, send, onAttempt } = deps;
    const { endpointId: id, secretNumber: number, isRotating } = delivery;
    if (!Buffer.from(secrets.publicKey({ id, number })).equals(delivery.publicKey)) {
      log.error(
        { endpoint: id },
        "WEBHOOK_SECRET_HEX is not the one with which the webhook endpoint was made",
      );
      await returnDelivery(database, delivery);
      return;
    }
    // A process that slept may have lost the lease.
    if (clock.now() - claimedAtMs > leaseMs / 2) return;
    const names = isRotating
      ? [
          { id, number },
          { id, number: number - 1 },
        ]
      : [{ id, number }];
    const timestamp = Math.floor(clock.wallMs() / 1_000);
    const body = bodyOf(delivery);
    const result = await send({
      url: delivery.url,
      body,
      headers: {
        "content-type": "application/json",
        "user-agent": "threshold-signing-service",
        "webhook-id": delivery.eventId,
        "webhook-timestamp": String(timestamp),
        "webhook-signature": secrets.sign(names, { id: delivery.eventId, timestamp, body }),
      },
    });
    const recorded = await recordResult(database, delivery, result);
    onAttempt?.(result, recorded);
  }

  return {
    start: () => loop.start(),
    wake: () => loop.wake(),
    async stop() {
      await loop.stop();
      // Each request has a time limit.
      await Promise.all(running);
    },
  };
}

/** Dependencies of {@link createWebhookLoop}. */
export interface WebhookLoopDeps {
  readonly database: Database;
  readonly signals: Signals;
  readonly secrets: EndpointSecrets;
  readonly send: WebhookSender;
  readonly clock: Clock;
  readonly log: Log;
  /** Called after each attempt with its result, and what was recorded. Default: none. */
  readonly onAttempt?: ((result: SendResult, recorded: RecordedResult | undefined) => void) | undefined;
  /** Default 1 s. */
  readonly intervalMs?: number;
  /** Much longer than a request takes. Default 60 s. */
  readonly leaseMs?: number;
}

const DEFAULT_INTERVAL_MS = 1_000;
const LEASE_MS = 60_000;
/** How long the projects with webhooks are remembered. A new one waits at most for the loop's own interval. */
const KNOWN_MS = 1_000;
/** The maximum number of requests of a process at once: 32 times as many as one project may have. */
const SENDING_MAX_COUNT = 256;
/** The maximum number of projects whose events become deliveries in one pass. */
const PROJECTS_MAX_COUNT = 32;

/** Returns the body of the request of a delivery, as Standard Webhooks prescribe: `type`, `timestamp` and `data`. */
export function bodyOf({ eventId, kind, subject, userReference, data, eventTime }: Message): string {
  return JSON.stringify({
    type: kind,
    timestamp: eventTime.toISOString(),
    data: {
      ...(JSON.parse(data) as Record<string, string>),
      event_id: eventId,
      subject,
      ...(userReference !== null && { user_reference: userReference }),
    },
  });
}

type Message = Pick<ClaimedDelivery, "eventId" | "kind" | "subject" | "userReference" | "data" | "eventTime">;
