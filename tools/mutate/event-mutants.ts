import type { Mutant } from "./mutant.ts";

const RACE = ["test/race/events.test.ts"];
const KINDS = ["test/component/service/events/event-kinds.test.ts"];
const WARNINGS = ["test/component/service/events/warnings.test.ts"];
const EVENTS = ["test/component/service/events/events-service.test.ts"];
const WEBHOOKS = ["test/component/service/webhooks/webhooks-service.test.ts"];
const SENDER = ["test/component/service/webhooks/send-webhook.test.ts"];
const VERIFY = ["test/unit/client/sdk/verify-webhook.test.ts"];
const readEvents = "src/service/events/read-events.ts";
const claimDeliveries = "src/service/webhooks/claim-deliveries.ts";
const sendWebhook = "src/service/webhooks/send-webhook.ts";
const verifyWebhook = "src/client/sdk/calls/verify-webhook.ts";

/** Lines that keep events complete and in order, and webhooks authentic, ordered and bounded. */
export const EVENT_MUTANTS: readonly Mutant[] = [
  {
    name: "every refusal of a budget is told",
    file: "src/service/access/allowances/budget-refusals.ts",
    find: "OR a.refused_at <= clock_timestamp()",
    replace: "OR true OR a.refused_at <= clock_timestamp()",
    tests: WARNINGS,
  },
  {
    name: "any number of refusals is told in a day",
    file: "src/service/ledger/project-warnings.ts",
    find: "p.refusals_on_day < ",
    replace: "-1 < ",
    tests: WARNINGS,
  },
  {
    name: "the expiry of a key is told at every pass",
    file: "src/service/access/keys/expiring-keys.ts",
    find: "SET expiry_notices = due.notices",
    replace: "SET expiry_notices = 0",
    tests: WARNINGS,
  },
  {
    name: "events get their numbers in another order than they were written",
    file: "src/service/events/number-events.ts",
    find: "row_number() OVER (ORDER BY id)",
    replace: "row_number() OVER (ORDER BY id DESC)",
    tests: EVENTS,
  },
  {
    name: "a lost event without a number goes unnoticed",
    file: "src/service/events/retain-events.ts",
    find: "lost_sequence = CASE WHEN l.was_unnumbered THEN h.last_sequence + 1\n                         ELSE",
    replace: "lost_sequence = CASE WHEN false THEN 0 ELSE",
    tests: RACE,
  },
  {
    name: "a reader continues behind deleted events",
    file: readEvents,
    find: "afterSequence < lostSequence || ",
    replace: "",
    tests: RACE,
  },
  {
    name: "a reader continues in another history",
    file: readEvents,
    find: "  if (isOther) throw cursorLost();\n",
    replace: "",
    tests: EVENTS,
  },
  {
    name: "a reader of another project's cursor is served",
    file: readEvents,
    find: '["events", projectId]',
    replace: '["events"]',
    tests: EVENTS,
  },
  {
    name: "an acceptance that is noticed twice has two events",
    file: "src/service/onboarding/accept-dwallet.ts",
    find: "WHERE state_before <> 'Active'",
    replace: "",
    tests: KINDS,
  },
  {
    name: "a completed request has no event",
    file: "src/service/signing/sign-session.ts",
    find: '), noted AS (${signEventInsert("sign.completed", sql`completed`)})',
    replace: ")",
    tests: KINDS,
  },
  {
    name: "a later event of a subject does not wait for the earlier one",
    file: claimDeliveries,
    find: "AND earlier.sequence < d.sequence",
    replace: "AND false",
    tests: WEBHOOKS,
  },
  {
    name: "a result counts after its lease",
    file: claimDeliveries,
    find: " AND d.lease = ${lease}::uuid AND d.state = 'pending'\n  RETURNING d.endpoint_id",
    replace: " AND ${lease}::uuid IS NOT NULL AND d.state = 'pending'\n  RETURNING d.endpoint_id",
    tests: WEBHOOKS,
  },
  {
    name: "an endpoint that is gone gets further requests",
    file: claimDeliveries,
    find: "WHEN ${isGone} THEN 'gone'",
    replace: "",
    tests: WEBHOOKS,
  },
  {
    name: "a webhook reaches the inside of the network",
    file: sendWebhook,
    find: "!allowsInside && !addresses.every(isPublicAddress)",
    replace: "!allowsInside && !addresses.some(isPublicAddress)",
    tests: SENDER,
  },
  {
    name: "a webhook asks DNS again for its connection",
    file: sendWebhook,
    find: "      lookup: pinnedTo(addresses),\n",
    replace: "",
    tests: SENDER,
  },
  {
    name: "an endless reply is read",
    file: sendWebhook,
    find: "      response.destroy();",
    replace: "      response.resume();",
    tests: SENDER,
  },
  {
    name: "a rotation ends the previous secret at once",
    file: "src/service/webhooks/webhook-loop.ts",
    find: "const names = isRotating\n",
    replace: "const names = isRotating && number < 0\n",
    tests: WEBHOOKS,
  },
  {
    name: "a webhook is sent with a secret that its project does not have",
    file: "src/service/webhooks/webhook-loop.ts",
    find: "if (!Buffer.from(secrets.publicKey({ id, number })).equals(delivery.publicKey)) {",
    replace: "if (Number.isNaN(number)) {",
    tests: WEBHOOKS,
  },
  {
    name: "an old webhook is accepted again",
    file: verifyWebhook,
    find: "Math.abs(now.getTime() - sentAt.getTime()) > toleranceSeconds * 1_000",
    replace: "now.getTime() < 0",
    tests: VERIFY,
  },
  {
    name: "a webhook with an empty signature is accepted",
    file: verifyWebhook,
    find: "if (a?.length !== b.length) return false;",
    replace: "if (a === undefined) return false;",
    tests: VERIFY,
  },
];
