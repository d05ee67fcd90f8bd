/** Workers that send webhooks together, on a real PostgreSQL. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import type { BackgroundLoop } from "../../src/service/platform/lifecycle/background-loop.ts";
import {
  type ClaimedDelivery,
  claimDeliveries,
  ENDPOINT_MAX_COUNT,
  PROJECT_MAX_COUNT,
} from "../../src/service/webhooks/claim-deliveries.ts";
import { ENDPOINTS_MAX_COUNT } from "../../src/service/webhooks/endpoints.ts";
import { queueDeliveries } from "../../src/service/webhooks/queue-deliveries.ts";
import type { WebhookSender } from "../../src/service/webhooks/send-webhook.ts";
import { writeEvent } from "../support/database/events.ts";
import { migratedDatabase } from "../support/database/postgres.ts";
import { projectWith } from "../support/database/rows.ts";
import { openTestPool } from "../support/database/test-pool.ts";
import { type Receiver, startReceiver } from "../support/service/receiver.ts";
import { refusalOf } from "../support/service/service-client.ts";
import { webhooksOf, webhookWorker } from "../support/service/webhooks.ts";

const test = await migratedDatabase();
const pools = await Promise.all(
  Array.from({ length: test === undefined ? 0 : 2 }, () =>
    openTestPool(test!.url, {
      connections: { count: 10, because: "workers, writers and calls run at once" },
    }),
  ),
);
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});
afterAll(async () => {
  for (const pool of pools) await pool.close();
  await test?.drop();
});

const start = (loop: BackgroundLoop) => {
  loop.start();
  open.push({ close: () => loop.stop() });
};

describe.skipIf(test === undefined)("workers that send webhooks", () => {
  const db = pools[0]!;
  let projectId: string;

  beforeEach(async () => {
    projectId = await projectWith(db, 0n);
  });

  const addEndpoint = async (url = "http://127.0.0.1:9/", project = projectId) =>
    (await webhooksOf(db, project).createWebhookEndpoint({ url })).endpoint!.webhookEndpointId;

  /** Makes all deliveries of the written events. */
  async function queueAll(project: string): Promise<void> {
    const count = async () =>
      Number((await db.query<{ n: bigint }>("SELECT count(*) AS n FROM webhook_delivery"))[0]!.n);
    for (let before = -1, now = 0; before !== now; ) {
      before = now;
      await queueDeliveries(db, project);
      now = await count();
    }
  }

  it("deliver each event once, in the order of its subject, while transactions overlap", async () => {
    const [WRITERS, EACH, SUBJECTS] = [6, 20, 9];
    const endpointId = await addEndpoint();
    const written = WRITERS * EACH * 2 - WRITERS * Math.ceil(EACH / 7);
    const sent: { readonly id: string; readonly subject: string }[] = [];
    const sending = new Set<string>();
    const faults: string[] = [];
    let finish: () => void = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const send: WebhookSender = async ({ headers, body }) => {
      const id = headers["webhook-id"]!;
      const { subject } = (JSON.parse(body) as { data: { subject: string } }).data;
      if (sending.has(id) || sending.has(subject)) faults.push(`${id} of ${subject} was sent beside another`);
      sending.add(id).add(subject);
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      sending.delete(id);
      sending.delete(subject);
      sent.push({ id, subject });
      if (sent.length >= written) finish();
      return { status: 200 };
    };
    for (const pool of pools) start(webhookWorker(pool, { send }));
    await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        for (let n = 0; n < EACH; n++) {
          const subject = `subject ${(writer + n) % SUBJECTS}`;
          await db
            .transaction(async (tx) => {
              await writeEvent(tx, projectId, subject);
              await writeEvent(pools[1]!, projectId, subject);
              if (n % 7 === 0) throw new Error("rolled back");
            })
            .catch((error: Error) => expect(error.message).toBe("rolled back"));
        }
      }),
    );
    await finished;
    await Promise.all(open.splice(0).map((each) => each.close()));
    expect(faults).toEqual([]);
    const events = await db.query<{ id: string; subject: string }>(
      "SELECT event_id AS id, subject FROM event WHERE project_id = $1 ORDER BY sequence",
      [projectId],
    );
    expect(events).toHaveLength(written);
    const bySubject = (list: readonly { readonly id: string; readonly subject: string }[]) =>
      Object.fromEntries(
        Array.from({ length: SUBJECTS }, (_, n) => `subject ${n}`).map((subject) => [
          subject,
          list.filter((one) => one.subject === subject).map(({ id }) => id),
        ]),
      );
    expect(bySubject(sent)).toEqual(bySubject(events));
    const states = await db.query(
      "SELECT state, attempts FROM webhook_delivery WHERE endpoint_id = $1 GROUP BY state, attempts",
      [endpointId],
    );
    expect(states).toEqual([{ state: "delivered", attempts: 1 }]);
  }, 120_000);

  it("lose no event and keep the order when one of them is killed in the middle of its requests", async () => {
    const COUNT = 60;
    let isHanging = true;
    let held = 0;
    let hang: () => void = () => {};
    const hanging = new Promise<void>((resolve) => {
      hang = resolve;
    });
    const accepted: { readonly id: string; readonly subject: string }[] = [];
    let finish: () => void = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const receiver: Receiver = await startReceiver(({ headers, body }, response) => {
      // After some replies, the worker is killed while it waits for the others.
      if (isHanging && accepted.length >= 10) {
        if (++held === ENDPOINT_MAX_COUNT) hang();
        return;
      }
      const { subject } = (JSON.parse(body) as { data: { subject: string } }).data;
      accepted.push({ id: String(headers["webhook-id"]), subject });
      response.end();
      if (new Set(accepted.map(({ id }) => id)).size === COUNT) finish();
    });
    open.push(receiver);
    const endpointId = await addEndpoint(receiver.url);
    for (let n = 0; n < COUNT; n++) await writeEvent(db, projectId, `subject ${n % 7}`);

    const program = fileURLToPath(new URL("../support/service/webhook-process.ts", import.meta.url));
    const child = spawn(process.execPath, ["--import", "tsx", program, test!.url], {
      stdio: "ignore",
    });
    const died = new Promise<NodeJS.Signals | null>((resolve) => {
      child.once("exit", (_code, signal) => resolve(signal));
    });
    await hanging;
    child.kill("SIGKILL");
    expect(await died).toBe("SIGKILL");
    isHanging = false;
    const leased = await db.query(
      "SELECT id FROM webhook_delivery WHERE endpoint_id = $1 AND lease IS NOT NULL AND due_at > now()",
      [endpointId],
    );
    expect(leased).toHaveLength(ENDPOINT_MAX_COUNT);
    // The leases of the dead worker are over.
    await db.query(
      "UPDATE webhook_delivery SET due_at = date_trunc('milliseconds', now()) WHERE lease IS NOT NULL",
    );
    start(webhookWorker(pools[1]!));
    await finished;
    await Promise.all(open.splice(0).map((each) => each.close()));

    const events = await db.query<{ id: string; subject: string }>(
      "SELECT event_id AS id, subject FROM event WHERE project_id = $1 ORDER BY sequence",
      [projectId],
    );
    // A repeat of what the dead worker had sent may follow its first arrival.
    const first = accepted.filter(({ id }, index) => accepted.findIndex((one) => one.id === id) === index);
    for (let n = 0; n < 7; n++) {
      const of = (list: readonly { readonly id: string; readonly subject: string }[]) =>
        list.filter(({ subject }) => subject === `subject ${n}`).map(({ id }) => id);
      expect(of(first)).toEqual(of(events));
    }
  }, 120_000);

  it("never exceed the requests of an endpoint and of a project, and give other projects their turn", async () => {
    const busy = await Promise.all(Array.from({ length: 3 }, () => addEndpoint()));
    const other = await projectWith(db, 0n);
    const otherEndpoint = await addEndpoint(undefined, other);
    for (let n = 0; n < 40; n++) await writeEvent(db, projectId, `subject ${n}`);
    await writeEvent(db, other, "subject");
    await queueAll(projectId);
    await queueAll(other);
    const claims = { maxCount: 100, leaseMs: 3_600_000 };
    const claimed: ClaimedDelivery[] = [];
    for (let round = 0; round < 3; round++)
      for (const some of await Promise.all(
        Array.from({ length: 8 }, (_, n) => claimDeliveries(pools[n % 2]!, claims)),
      ))
        claimed.push(...some);
    const of = (id: string) => claimed.filter(({ endpointId }) => endpointId === id).length;
    const counts = busy.map(of);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(PROJECT_MAX_COUNT);
    expect(Math.max(...counts)).toBeLessThanOrEqual(ENDPOINT_MAX_COUNT);
    expect(of(otherEndpoint)).toBe(1);
    expect(new Set(claimed.map(({ id }) => id)).size).toBe(claimed.length);
  });

  it("send one request at a time to an endpoint that fails", async () => {
    const endpointId = await addEndpoint();
    for (let n = 0; n < 10; n++) await writeEvent(db, projectId, `subject ${n}`);
    await queueAll(projectId);
    await db.query("UPDATE webhook_endpoint SET failing_since = now() WHERE id = $1", [endpointId]);
    const claims = { maxCount: 100, leaseMs: 3_600_000 };
    const claimed = (await Promise.all(pools.map((pool) => claimDeliveries(pool, claims)))).flat();
    expect(claimed.filter((one) => one.endpointId === endpointId)).toHaveLength(1);
  });

  it("count the endpoints of a project exactly while calls race", async () => {
    const webhooks = webhooksOf(db, projectId);
    const create = () => refusalOf(webhooks.createWebhookEndpoint({ url: "https://hooks.example/" }));
    const results = await Promise.all(Array.from({ length: ENDPOINTS_MAX_COUNT + 6 }, create));
    expect(results.filter((result) => result === "TOO_MANY_WEBHOOK_ENDPOINTS")).toHaveLength(6);
    const { endpoints } = await webhooks.listWebhookEndpoints({});
    expect(endpoints).toHaveLength(ENDPOINTS_MAX_COUNT);
    const { webhookEndpointId } = endpoints[0]!;
    const remove = () => refusalOf(webhooks.deleteWebhookEndpoint({ webhookEndpointId }));
    expect((await Promise.all([remove(), remove(), remove()])).toSorted()).toEqual([
      ...["WEBHOOK_ENDPOINT_NOT_FOUND", "WEBHOOK_ENDPOINT_NOT_FOUND", "not refused"],
    ]);
    expect(await create()).toBe("not refused");
    expect(await create()).toBe("TOO_MANY_WEBHOOK_ENDPOINTS");
  });
});
