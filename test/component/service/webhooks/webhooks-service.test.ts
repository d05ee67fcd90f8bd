import { ed25519 } from "@noble/curves/ed25519.js";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  WebhookDelivery_State,
  WebhookEndpoint_DisableReason,
} from "../../../../gen/proto/tss/v1/webhooks_pb.ts";
import { readNewestPlace } from "../../../../src/service/events/read-events.ts";
import type { BackgroundLoop } from "../../../../src/service/platform/lifecycle/background-loop.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { Secret } from "../../../../src/service/platform/telemetry/secret.ts";
import {
  claimDeliveries,
  RETRY_SECONDS,
  readOverdueSeconds,
  recordResult,
} from "../../../../src/service/webhooks/claim-deliveries.ts";
import { createEndpointSecrets } from "../../../../src/service/webhooks/endpoint-secret.ts";
import {
  findProjectsWithNews,
  PENDING_MAX_COUNT,
  queueDeliveries,
} from "../../../../src/service/webhooks/queue-deliveries.ts";
import { deleteOldDeliveries } from "../../../../src/service/webhooks/retain-deliveries.ts";
import type { SendResult, WebhookRequest } from "../../../../src/service/webhooks/send-webhook.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { writeEvent } from "../../../support/database/events.ts";
import { projectWith } from "../../../support/database/rows.ts";
import { refusalOf } from "../../../support/service/service-client.ts";
import { webhooksOf, webhookWorker } from "../../../support/service/webhooks.ts";

const LEASE_MS = 3_600_000;
let database: Database;
let projectId: string;
let webhooks: ReturnType<typeof webhooksOf>;
const running: BackgroundLoop[] = [];

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 0n);
  webhooks = webhooksOf(database, projectId);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((loop) => loop.stop()));
  // Other tests claim what they find.
  await database.query("UPDATE webhook_endpoint SET deleted_at = now() WHERE deleted_at IS NULL");
});

async function newEndpoint(kinds: string[] = []) {
  const { endpoint, secret } = await webhooks.createWebhookEndpoint({
    url: "https://hooks.example/tss",
    kinds,
  });
  return { id: endpoint!.webhookEndpointId, secret, endpoint: endpoint! };
}

const write = (subject: string, options?: Parameters<typeof writeEvent>[3]) =>
  writeEvent(database, projectId, subject, options);
const queue = () => queueDeliveries(database, projectId);
const claim = () => claimDeliveries(database, { maxCount: 100, leaseMs: LEASE_MS });
const deliveriesTo = async (id: string, state?: WebhookDelivery_State) =>
  (await webhooks.listWebhookDeliveries({ webhookEndpointId: id, ...(state !== undefined && { state }) }))
    .deliveries;

/** Sends everything that is due with a worker until it has sent `count` requests. */
async function sendWith(
  count: number,
  reply: (request: WebhookRequest) => SendResult = () => ({ status: 200 }),
) {
  const requests: WebhookRequest[] = [];
  await new Promise<void>((resolve) => {
    let recordedCount = 0;
    const loop = webhookWorker(database, {
      send: async (request) => {
        requests.push(request);
        return reply(request);
      },
      onAttempt: () => {
        if (++recordedCount === count) resolve();
      },
    });
    running.push(loop);
    loop.start();
  });
  await Promise.all(running.splice(0).map((loop) => loop.stop()));
  return requests;
}

/** Returns what the package `standardwebhooks` reads with the secret. */
const verified = (secret: string, { headers, body }: WebhookRequest) =>
  new Webhook(secret).verify(body, { ...headers }) as { type: string; data: Record<string, string> };

describe("a request", () => {
  it("is verified by the package standardwebhooks, and tells what happened to whom", async () => {
    const { secret } = await newEndpoint();
    await write("s", { kind: "dwallet.active", userReference: "alice" });
    const [request] = await sendWith(1);
    expect(verified(secret, request!)).toEqual({
      type: "dwallet.active",
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string,
      data: { subject: "s", event_id: request!.headers["webhook-id"], user_reference: "alice" },
    });
    expect(() => verified(secret, { ...request!, body: `${request!.body} ` })).toThrow(
      "No matching signature",
    );
    const other = (await newEndpoint()).secret;
    expect(() => verified(other, request!)).toThrow("No matching signature");
  });

  it("has a signature of the endpoint's Ed25519 key, which is public", async () => {
    const { endpoint } = await newEndpoint();
    await write("s");
    const [{ headers, body }] = (await sendWith(1)) as [WebhookRequest];
    const content = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
    const [, signature] = /(?:^| )v1a,(\S+)/.exec(headers["webhook-signature"]!)!;
    const bytes = (base64: string) => Uint8Array.from(Buffer.from(base64, "base64"));
    expect(endpoint.publicKey).toMatch(/^whpk_/);
    const publicKey = bytes(endpoint.publicKey.slice(5));
    expect(ed25519.verify(bytes(signature!), new TextEncoder().encode(content), publicKey)).toBe(true);
    expect(ed25519.verify(bytes(signature!), new TextEncoder().encode(`${content} `), publicKey)).toBe(false);
  });

  it("has one id in all attempts and resends, so that a receiver recognises a repeat", async () => {
    const { id } = await newEndpoint();
    await write("s");
    const [first] = await sendWith(1, () => ({ status: 500 }));
    await database.query("UPDATE webhook_delivery SET due_at = date_trunc('milliseconds', now())");
    const [second] = await sendWith(1);
    const [delivery] = await deliveriesTo(id);
    await webhooks.resendWebhookDelivery({ webhookDeliveryId: delivery!.webhookDeliveryId });
    const [third] = await sendWith(1);
    expect([second, third].map((one) => one!.headers["webhook-id"])).toEqual(
      Array(2).fill(first!.headers["webhook-id"]),
    );
  });

  it("is signed with both secrets for 24 hours after a rotation, and then with the new one alone", async () => {
    const { id, secret: old } = await newEndpoint();
    const { secret, endpoint } = await webhooks.rotateWebhookSecret({ webhookEndpointId: id });
    expect(secret).not.toBe(old);
    const left = Number(endpoint!.previousSecretExpireTime!.seconds) - Date.now() / 1_000;
    expect(Math.round(left / 3_600)).toBe(24);
    await write("a");
    const [during] = await sendWith(1);
    expect(verified(old, during!).data["subject"]).toBe("a");
    expect(verified(secret, during!).data["subject"]).toBe("a");
    await database.query("UPDATE webhook_endpoint SET rotated_until = now() WHERE id = $1", [id]);
    await write("b");
    const [after] = await sendWith(1);
    expect(verified(secret, after!).data["subject"]).toBe("b");
    expect(() => verified(old, after!)).toThrow("No matching signature");
    const shown = await webhooks.getWebhookEndpoint({ webhookEndpointId: id });
    expect(shown.endpoint!.previousSecretExpireTime).toBeUndefined();
  });

  it("is not sent by a worker with another WEBHOOK_SECRET_HEX, whose signature nobody could verify", async () => {
    const { id } = await newEndpoint();
    await write("s");
    await queue();
    const errors: unknown[] = [];
    await new Promise<void>((resolve) => {
      const log = {
        error: (...entry: unknown[]) => {
          errors.push(entry);
          resolve();
        },
      };
      const loop = webhookWorker(database, {
        secrets: createEndpointSecrets(new Secret("00".repeat(32))),
        send: async () => {
          throw new Error("it was sent");
        },
        log: log as never,
      });
      running.push(loop);
      loop.start();
    });
    await Promise.all(running.splice(0).map((loop) => loop.stop()));
    expect(errors).toEqual([
      [{ endpoint: id }, "WEBHOOK_SECRET_HEX is not the one with which the webhook endpoint was made"],
    ]);
    const [delivery] = await deliveriesTo(id);
    expect(delivery).toMatchObject({ state: WebhookDelivery_State.pending, attemptCount: 0 });
  });
});

describe("a secret", () => {
  it("is shown once, and is nowhere in the database", async () => {
    const options = { headers: { "idempotency-key": "one" } };
    const request = { url: "https://hooks.example/" };
    const made = await webhooks.createWebhookEndpoint(request, options);
    const repeat = await webhooks.createWebhookEndpoint(request, options);
    expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(repeat).toMatchObject({ secret: "", endpoint: made.endpoint });
    const { webhookEndpointId } = made.endpoint!;
    const again = { headers: { "idempotency-key": "two" } };
    const rotated = await webhooks.rotateWebhookSecret({ webhookEndpointId }, again);
    expect((await webhooks.rotateWebhookSecret({ webhookEndpointId }, again)).secret).toBe("");
    await webhooks.testWebhookEndpoint({ webhookEndpointId });
    const tables = await database.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
      [],
    );
    for (const { name } of tables) {
      const rows = await database.query<{ line: string }>(`SELECT t::text AS line FROM "${name}" t`, []);
      for (const secret of [made.secret, rotated.secret]) {
        const bytes = Buffer.from(secret.slice(6), "base64");
        for (const { line } of rows)
          for (const form of [secret.slice(6), bytes.toString("hex")]) expect(line).not.toContain(form);
      }
    }
  });

  it("cannot be made if the operator has set none to derive it from", async () => {
    const off = webhooksOf(database, projectId, { isOff: true });
    expect(await refusalOf(off.createWebhookEndpoint({ url: "https://hooks.example/" }))).toBe(
      "WEBHOOKS_OFF",
    );
  });
});

describe("an endpoint", () => {
  it.each([
    "http://hooks.example/",
    "https://10.0.0.1/",
    "https://[::1]/",
    "https://a:b@hooks.example/",
    "hooks",
  ])("cannot have the URL %s", async (url) => {
    const strict = webhooksOf(database, projectId, { allowsInside: false });
    const message = await strict.createWebhookEndpoint({ url }).then(String, (error: Error) => error.message);
    expect(message).toContain("url: must be https");
    const { id } = await newEndpoint();
    const change = strict.updateWebhookEndpoint({ webhookEndpointId: id, url });
    expect(await change.then(String, (error: Error) => error.message)).toContain("url: must be https");
  });

  it("gets later events of its kinds alone, and only its project's", async () => {
    await write("before");
    await newEndpoint(["sign.failed"]);
    await write("other kind");
    await write("own kind", { kind: "sign.failed" });
    await writeEvent(database, await projectWith(database, 0n), "foreign", { kind: "sign.failed" });
    const requests = await sendWith(1);
    expect(
      requests.map(({ body }) => (JSON.parse(body) as { data: { subject: string } }).data.subject),
    ).toEqual(["own kind"]);
  });

  it("waits with an event until earlier ones of its subject are delivered or given up, and delays no other subject", async () => {
    await newEndpoint();
    for (const subject of ["a", "a", "b"]) await write(subject);
    await queue();
    const [a1, b] = (await claim()).toSorted((x, y) => x.subject.localeCompare(y.subject));
    expect([a1?.subject, b?.subject]).toEqual(["a", "b"]);
    await recordResult(database, a1!, { status: 500 });
    await recordResult(database, b!, { status: 200 });
    expect(await claim()).toEqual([]);
    await database.query(
      "UPDATE webhook_delivery SET due_at = date_trunc('milliseconds', now()) WHERE id = $1",
      [a1!.id],
    );
    const [again] = await claim();
    expect(again!.id).toBe(a1!.id);
    await recordResult(database, again!, { status: 204 });
    const [a2] = await claim();
    expect(a2).toMatchObject({ subject: "a" });
    expect(a2!.id).not.toBe(a1!.id);
  });

  it("is tried after 0 s, 5 s, 5 m, 30 m, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h with up to a tenth more, and then given up", async () => {
    expect(RETRY_SECONDS).toEqual([0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]);
    const { id } = await newEndpoint();
    await write("s");
    await queue();
    for (const [index] of RETRY_SECONDS.entries()) {
      const [claimed] = await claim();
      expect((await deliveriesTo(id))[0]).toMatchObject({ attemptCount: index + 1 });
      const isLast = index === RETRY_SECONDS.length - 1;
      const recorded = await recordResult(database, claimed!, {
        error: "the connection failed: ECONNREFUSED",
      });
      expect(recorded).toEqual({ state: isLast ? "failed" : "pending", disabledFor: null });
      if (isLast) break;
      const [{ seconds }] = (await database.query(
        `UPDATE webhook_delivery SET due_at = date_trunc('milliseconds', now()) WHERE endpoint_id = $1
         RETURNING extract(epoch FROM (SELECT due_at FROM webhook_delivery w WHERE w.id = webhook_delivery.id) - now())::float8 AS seconds`,
        [id],
      )) as [{ seconds: number }];
      const next = RETRY_SECONDS[index + 1]!;
      // A minute for a slow machine.
      expect(seconds).toBeGreaterThan(next - 60);
      expect(seconds).toBeLessThan(next * 1.1 + 60);
    }
    expect(await claim()).toEqual([]);
    expect((await deliveriesTo(id, WebhookDelivery_State.failed))[0]).toMatchObject({
      lastError: "the connection failed: ECONNREFUSED",
      attemptCount: 10,
    });
  });

  it("that replies with 410 is disabled at once, keeps its deliveries, and continues when it is enabled", async () => {
    const { id } = await newEndpoint();
    for (const subject of ["a", "b"]) await write(subject);
    await queue();
    const [a, b] = await claim();
    await recordResult(database, a!, { status: 410 });
    await recordResult(database, b!, { status: 503 });
    const { endpoint } = await webhooks.getWebhookEndpoint({ webhookEndpointId: id });
    expect(endpoint).toMatchObject({ enabled: false, disableReason: WebhookEndpoint_DisableReason.gone });
    await write("c");
    await queue();
    await database.query("UPDATE webhook_delivery SET due_at = date_trunc('milliseconds', now())");
    expect(await claim()).toEqual([]);
    expect(await refusalOf(webhooks.testWebhookEndpoint({ webhookEndpointId: id }))).toBe("WRONG_STATE");
    await webhooks.updateWebhookEndpoint({ webhookEndpointId: id, enabled: true });
    await queue();
    expect((await claim()).map(({ subject }) => subject).toSorted()).toEqual(["b", "c"]);
  });

  it("is disabled when every request has failed for five days, and a success starts the days again", async () => {
    const { id } = await newEndpoint();
    for (const subject of ["a", "b", "c", "d"]) await write(subject);
    await queue();
    const [a, b, c, d] = await claim();
    const age = (days: number) =>
      database.query(
        `UPDATE webhook_endpoint SET failing_since = failing_since - $2 * interval '1 day' WHERE id = $1`,
        [id, days],
      );
    await recordResult(database, a!, { status: 500 });
    await age(6);
    await recordResult(database, b!, { status: 200 });
    await recordResult(database, c!, { status: 500 });
    expect((await webhooks.getWebhookEndpoint({ webhookEndpointId: id })).endpoint!.enabled).toBe(true);
    await age(5);
    expect(await recordResult(database, d!, { status: 302 })).toEqual({
      state: "pending",
      disabledFor: "failing",
    });
    expect((await webhooks.getWebhookEndpoint({ webhookEndpointId: id })).endpoint).toMatchObject({
      enabled: false,
      disableReason: WebhookEndpoint_DisableReason.failing,
    });
  });

  it("gets nothing while its project has disabled it, and nothing once it is deleted", async () => {
    const { id } = await newEndpoint();
    await webhooks.updateWebhookEndpoint({ webhookEndpointId: id, enabled: false });
    await write("a");
    await queue();
    expect(await deliveriesTo(id)).toEqual([]);
    await webhooks.updateWebhookEndpoint({
      webhookEndpointId: id,
      enabled: true,
      kinds: { kinds: ["sign.completed"] },
    });
    await queue();
    expect(await deliveriesTo(id)).toHaveLength(1);
    await webhooks.deleteWebhookEndpoint({ webhookEndpointId: id });
    expect(await claim()).toEqual([]);
    expect(await refusalOf(webhooks.getWebhookEndpoint({ webhookEndpointId: id }))).toBe(
      "WEBHOOK_ENDPOINT_NOT_FOUND",
    );
    expect((await webhooks.listWebhookEndpoints({})).endpoints).toEqual([]);
    while ((await deleteOldDeliveries(database, 30, 1)) > 0);
    const left = await database.query("SELECT id FROM webhook_endpoint WHERE id = $1", [id]);
    expect(left).toEqual([]);
  });

  it("has a bounded number of pending deliveries: further events wait for it", async () => {
    const { id } = await newEndpoint();
    await database.query(
      `INSERT INTO event (project_id, kind, subject, data)
       SELECT $1, 'sign.completed', n::text, '{}' FROM generate_series(1, $2::integer) AS n`,
      [projectId, PENDING_MAX_COUNT + 500],
    );
    for (let pass = 0; pass < 10; pass++) await queue();
    const count = async () =>
      Number(
        (
          await database.query<{ n: bigint }>(
            "SELECT count(*) AS n FROM webhook_delivery WHERE endpoint_id = $1",
            [id],
          )
        )[0]!.n,
      );
    expect(await count()).toBe(PENDING_MAX_COUNT);
    expect(await findProjectsWithNews(database, 100)).not.toContain(projectId);
    expect(await refusalOf(webhooks.testWebhookEndpoint({ webhookEndpointId: id }))).toBe(
      "TOO_MANY_WEBHOOK_DELIVERIES",
    );
    await database.query(
      "UPDATE webhook_delivery SET state = 'delivered', ended_at = now() WHERE endpoint_id = $1",
      [id],
    );
    for (let pass = 0; pass < 10; pass++) await queue();
    expect(await count()).toBe(PENDING_MAX_COUNT + 500);
  });
});

describe("a delivery", () => {
  it("can be claimed the moment it is queued", async () => {
    await newEndpoint();
    // Within one transaction the time stands still. A time that was rounded up would be in its future every other time.
    for (let count = 0; count < 20; count++) {
      await write(String(count));
      const claimed = await database.transaction(async (db) => {
        const within: Database = { ...database, ...db, transaction: (work) => work(db) };
        await queueDeliveries(within, projectId);
        return await claimDeliveries(within, { maxCount: 100, leaseMs: LEASE_MS });
      });
      expect(claimed.map(({ subject }) => subject)).toEqual([String(count)]);
      await recordResult(database, claimed[0]!, { status: 200 });
    }
  });

  it("counts only while its lease is: the result of a worker that slept changes nothing", async () => {
    const { id } = await newEndpoint();
    await write("s");
    await queue();
    const [slow] = await claim();
    await database.query(
      "UPDATE webhook_delivery SET due_at = date_trunc('milliseconds', now()) WHERE lease IS NOT NULL",
    );
    const [fast] = await claim();
    expect(fast!.id).toBe(slow!.id);
    expect(await recordResult(database, slow!, { status: 410 })).toBeUndefined();
    expect(await recordResult(database, fast!, { status: 200 })).toEqual({
      state: "delivered",
      disabledFor: null,
    });
    expect((await deliveriesTo(id))[0]).toMatchObject({
      state: WebhookDelivery_State.delivered,
      lastStatus: 200,
    });
    expect((await webhooks.getWebhookEndpoint({ webhookEndpointId: id })).endpoint!.enabled).toBe(true);
  });

  it("is listed in pages, the newest first, and by state", async () => {
    const { id } = await newEndpoint();
    for (let n = 0; n < 5; n++) await write(String(n));
    await queue();
    await write("last");
    await queue();
    const [claimed] = await claim();
    await recordResult(database, claimed!, { status: 200 });
    const first = await webhooks.listWebhookDeliveries({ webhookEndpointId: id, pageSize: 4 });
    const { nextPageToken: pageToken } = first;
    const second = await webhooks.listWebhookDeliveries({ webhookEndpointId: id, pageSize: 4, pageToken });
    const all = [...first.deliveries, ...second.deliveries];
    expect(all.map(({ subject }) => subject).toSorted()).toEqual(["0", "1", "2", "3", "4", "last"]);
    expect(all[0]!.subject).toBe("last");
    expect(second.nextPageToken).toBe("");
    expect(await deliveriesTo(id, WebhookDelivery_State.delivered)).toHaveLength(1);
    expect(await deliveriesTo(id, WebhookDelivery_State.pending)).toHaveLength(5);
    const other = await newEndpoint();
    const foreign = { webhookEndpointId: other.id, pageToken };
    expect(await refusalOf(webhooks.listWebhookDeliveries(foreign))).toBe("VALIDATION");
  });

  it("is deleted 30 days after its end, and never while it is pending", async () => {
    const { id } = await newEndpoint();
    for (const subject of ["a", "b"]) await write(subject);
    await queue();
    const [claimed] = await claim();
    await recordResult(database, claimed!, { status: 200 });
    await database.query(
      `UPDATE webhook_delivery SET ended_at = ended_at - interval '31 days', created_at = created_at - interval '31 days'`,
    );
    while ((await deleteOldDeliveries(database, 30, 100)) > 0);
    expect(await deliveriesTo(id)).toMatchObject([{ state: WebhookDelivery_State.pending }]);
  });

  it("makes the gauge of overdue deliveries tell how long no worker has attempted it, however slow its receiver is", async () => {
    await newEndpoint();
    for (let n = 0; n < 9; n++) await write(String(n));
    await queue();
    const age = (table: string, column: string) =>
      database.query(`UPDATE ${table} SET ${column} = now() - interval '100 seconds'`, []);
    await age("webhook_delivery", "due_at");
    await age("webhook_project", "served_at");
    expect(await readOverdueSeconds(database)).toBeGreaterThanOrEqual(100);
    expect(await claim()).not.toHaveLength(9);
    // A minute for a slow machine.
    expect(await readOverdueSeconds(database)).toBeLessThan(60);
  });
});

describe("a repetition", () => {
  it("of a test message is sent once for each idempotency key", async () => {
    const { id, secret } = await newEndpoint();
    const options = { headers: { "idempotency-key": "test" } };
    const { delivery } = await webhooks.testWebhookEndpoint({ webhookEndpointId: id }, options);
    expect((await webhooks.testWebhookEndpoint({ webhookEndpointId: id }, options)).delivery).toEqual(
      delivery,
    );
    const [request] = await sendWith(1);
    expect(verified(secret, request!)).toMatchObject({ type: "webhook.test", data: { subject: id } });
    expect(await deliveriesTo(id)).toHaveLength(1);
  });

  it("of a failed delivery begins with all attempts again", async () => {
    const { id } = await newEndpoint();
    await write("s");
    await queue();
    await database.query("UPDATE webhook_delivery SET attempts = 9 WHERE endpoint_id = $1", [id]);
    await recordResult(database, (await claim())[0]!, { status: 500 });
    const [failed] = await deliveriesTo(id, WebhookDelivery_State.failed);
    const { delivery } = await webhooks.resendWebhookDelivery({
      webhookDeliveryId: failed!.webhookDeliveryId,
    });
    expect(delivery).toMatchObject({ state: WebhookDelivery_State.pending, attemptCount: 0 });
    expect(await claim()).toHaveLength(1);
  });

  it("of a delivery that is on its way changes nothing", async () => {
    const { id } = await newEndpoint();
    await write("s");
    await queue();
    const [claimed] = await claim();
    const { delivery } = await webhooks.resendWebhookDelivery({ webhookDeliveryId: claimed!.id });
    expect(delivery!.attemptCount).toBe(1);
    expect(await claim()).toEqual([]);
    expect(await recordResult(database, claimed!, { status: 200 })).toMatchObject({ state: "delivered" });
    expect(await deliveriesTo(id)).toHaveLength(1);
  });

  it("from a time sends every later event again in order, and at most those of the minute before", async () => {
    const { id } = await newEndpoint();
    for (let n = 0; n < 20; n++) await write(String(n));
    await queue();
    await readNewestPlace(database, projectId);
    // The events are ten minutes apart; the newest is now.
    await database.query(
      `UPDATE event SET created_at = now() - (20 - sequence) * interval '10 minutes' WHERE project_id = $1`,
      [projectId],
    );
    await database.query(
      "UPDATE webhook_delivery SET state = 'delivered', ended_at = now() WHERE endpoint_id = $1",
      [id],
    );
    const seconds = BigInt(Math.floor(Date.now() / 1_000) - 3_600 + 120);
    await webhooks.replayWebhookEvents({ webhookEndpointId: id, startTime: { seconds, nanos: 0 } });
    await queue();
    const again = await deliveriesTo(id, WebhookDelivery_State.pending);
    expect(again.map(({ subject }) => Number(subject)).toSorted((a, b) => a - b)).toEqual([
      14, 15, 16, 17, 18, 19,
    ]);
  });
});
