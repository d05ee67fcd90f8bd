import { randomBytes } from "node:crypto";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Event } from "../../../../gen/client/tss/v1/events_pb.ts";
import { EVENT_KINDS } from "../../../service/events/event.ts";
import { Secret } from "../../../service/platform/telemetry/secret.ts";
import { createEndpointSecrets, type EndpointSecrets } from "../../../service/webhooks/endpoint-secret.ts";
import { bodyOf } from "../../../service/webhooks/webhook-loop.ts";
import { command } from "../../command-line/command.ts";
import { choicesOf, count, httpUrl, nonEmptyText, optional, required } from "../../command-line/option.ts";
import {
  type CallOptionValues,
  callOptions,
  explainKeys,
  targetOf,
} from "../../connections/service-command.ts";
import { messageOf } from "../../connections/unreachable-error.ts";
import { withClients } from "../../connections/with-clients.ts";

const SHAPE = { caller: "project", isDirect: false } as const;

/** Forwards events to a receiver that the service cannot reach, such as one on a developer's machine. */
export const listen = command({
  summary: "forward the project's events to a receiver on this machine, signed like webhooks, until Ctrl+C",
  details: `The secret that it prints holds for this run alone. An event that the receiver refuses is not sent again.\n${explainKeys(SHAPE)}`,
  options: {
    forward: required("<url>", "the receiver, such as http://localhost:8080/webhooks", httpUrl),
    kinds: optional("<list>", "the kinds of events; default all", choicesOf(EVENT_KINDS)),
    cursor: optional("<cursor>", "begin after this event; default with the next one", nonEmptyText),
    limit: optional("<count>", "end after this many events", count(1, 1_000_000)),
    ...callOptions(SHAPE),
  },
  async run({ forward, kinds, cursor, limit, ...values }, context) {
    const secrets = createEndpointSecrets(new Secret(randomBytes(32).toString("hex")));
    context.print(`secret  ${secrets.show(NAME)}`);
    await withClients(context, targetOf(SHAPE, values as CallOptionValues), async ({ events }) => {
      let forwardedCount = 0;
      for await (const event of events.watch({ cursor, kinds })) {
        const outcome = await post(forward, secrets, event);
        context.print(
          [
            event.createTime ? timestampDate(event.createTime).toISOString() : "",
            event.kind,
            event.subject,
            outcome,
          ].join("  "),
        );
        if (++forwardedCount === limit) return;
      }
    });
  },
});

/** The only secret of a run. */
const NAME = { id: "listen", number: 1 };
const TIMEOUT_MS = 10_000;

/** Posts an event as the service does. Returns the status of the reply, or why there is none. */
async function post(url: string, secrets: EndpointSecrets, event: Event): Promise<string> {
  const { eventId, kind, subject, userReference = null, data, createTime } = event;
  const eventTime = createTime ? timestampDate(createTime) : new Date(0);
  const body = bodyOf({ eventId, kind, subject, userReference, data: JSON.stringify(data), eventTime });
  const timestamp = Math.floor(Date.now() / 1_000);
  try {
    const reply = await fetch(url, {
      method: "POST",
      redirect: "manual",
      headers: {
        "content-type": "application/json",
        "webhook-id": eventId,
        "webhook-timestamp": String(timestamp),
        "webhook-signature": secrets.sign([NAME], { id: eventId, timestamp, body }),
      },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await reply.body?.cancel();
    return String(reply.status);
  } catch (cause) {
    return messageOf(cause instanceof Error && cause.cause !== undefined ? cause.cause : cause);
  }
}
