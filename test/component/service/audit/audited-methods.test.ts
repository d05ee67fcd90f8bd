/** Every call that the contract declares `AUDIT_ENTRY` for, and every change that the service makes on its own. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { methodPolicy } from "../../../../src/service/access/method-policy.ts";
import type { Queryable } from "../../../../src/service/platform/store/database.ts";
import { signSteps } from "../../../support/crypto/sign-steps.ts";
import { DATABASE_TIMEOUT_MS } from "../../../support/database/database.ts";
import { dwalletOf, readyPresigns } from "../../../support/database/rows.ts";
import { METHODS } from "../access/contract-calls.ts";
import { ADMIN_KEY, type ErrorStack, startErrorStack } from "../platform/errors/error-stack.ts";
import type { ProtocolClient } from "../platform/errors/protocol-client.ts";
import { refusing } from "../platform/errors/provocations/onboarding-provocations.ts";
import { createRestClient } from "../platform/errors/rest-client.ts";
import { AUDITED_CALLS } from "./audited-calls.ts";

let stack: ErrorStack;
let protocolClient: ProtocolClient;
beforeAll(async () => {
  stack = await startErrorStack();
  protocolClient = createRestClient(stack.url);
}, DATABASE_TIMEOUT_MS);
afterAll(() => stack.close());
afterEach(() => stack.database.query("DROP TRIGGER IF EXISTS audit_fails ON audit_event"));

const audited = METHODS.filter((method) => methodPolicy(method).isAudited);

interface EventRow {
  readonly action: string;
  readonly actor: string;
  readonly subject: string;
  readonly requestId: string | null;
  readonly address: string | null;
}

const eventsSince = (id: bigint) =>
  stack.database.query<EventRow>(
    `SELECT action, actor, subject, request_id AS "requestId", address FROM audit_event WHERE id > $1 ORDER BY id`,
    [id],
  );
const newestEvent = async () =>
  (await stack.database.query<{ id: bigint }>("SELECT max(id) AS id FROM audit_event", []))[0]!.id;
const auditFails = () =>
  stack.database.query(
    `CREATE TRIGGER audit_fails BEFORE INSERT ON audit_event FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
  );

/** Returns everything in the database except the times at which keys were last used. */
async function contents(db: Queryable): Promise<Map<string, unknown>> {
  const tables = await db.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1",
    [],
  );
  const all = new Map<string, unknown>();
  for (const { name } of tables) {
    const rows = await db.query(`SELECT to_jsonb(t) - 'last_used_at' AS row FROM "${name}" t ORDER BY 1`, []);
    all.set(name, rows);
  }
  return all;
}

it("every method that declares an audit entry is tested here", () => {
  expect(Object.keys(AUDITED_CALLS).sort()).toEqual(audited.map(({ name }) => name).sort());
});

describe.each(audited.map((method) => ({ name: method.name, method })))(
  "$name",
  { timeout: 30_000 },
  ({ name, method }) => {
    const { action, prepare } = AUDITED_CALLS[name]!;

    it("leaves one event with the actor, the address, the subject and the request id", async () => {
      const call = { method, ...(await prepare(stack)) };
      const before = await newestEvent();
      // Calls that wait for the chain fail at once here; the change and its event are written before that.
      const reply = await refusing(stack, "no", () => protocolClient.call(call));
      expect(["", "CHAIN_REJECTED"]).toContain(reply.reason ?? "");
      const event = {
        actor: call.key === ADMIN_KEY ? "admin" : expect.stringMatching(/^(?:key|idp):[0-9a-f-]{36}$/),
        subject: expect.stringMatching(/./),
        requestId: reply.headers.get("x-request-id"),
        address: expect.stringMatching(/127\.0\.0\.1$/),
      };
      expect(await eventsSince(before)).toEqual([action].flat().map((each) => ({ action: each, ...event })));
    });

    it("changes nothing if its event cannot be written", async () => {
      const call = { method, ...(await prepare(stack)) };
      await auditFails();
      const before = await contents(stack.database);
      expect((await protocolClient.call(call)).reason).toBe("INTERNAL");
      expect(await contents(stack.database)).toEqual(before);
    });
  },
);

describe("an action of the service itself", () => {
  async function reserved() {
    const { projectId } = await stack.newProject();
    const dwallet = await dwalletOf(stack.database, projectId);
    await readyPresigns(stack.database, dwallet.bucket, 1);
    const steps = signSteps(stack.database, stack.signals);
    return { projectId, steps, id: await steps.reserve(projectId, dwallet) };
  }

  it("leaves an event in the same transaction when a reservation expires", async () => {
    const { steps, id } = await reserved();
    const before = await newestEvent();
    await auditFails();
    await expect(steps.expire(id)).rejects.toThrow("append-only");
    expect(await statusOf(id)).toBe("prepared");
    await stack.database.query("DROP TRIGGER audit_fails ON audit_event");
    await steps.expire(id);
    expect(await eventsSince(before)).toMatchObject([
      { action: "sign.expire", actor: "system", subject: id, requestId: null, address: null },
    ]);
  });

  it("leaves an event each in the same transaction when a request fails and is refunded", async () => {
    const { projectId, steps, id } = await reserved();
    await steps.submit(projectId, id);
    const before = await newestEvent();
    await auditFails();
    await expect(steps.refuse(id)).rejects.toThrow("append-only");
    expect(await statusOf(id)).toBe("queued");
    await stack.database.query("DROP TRIGGER audit_fails ON audit_event");
    await steps.refuse(id);
    await steps.refuse(id);
    const events = await eventsSince(before);
    expect(events.map(({ action, actor, subject }) => [action, actor, subject]).sort()).toEqual([
      ["sign.fail", "system", id],
      ["sign.refund", "system", id],
    ]);
  });

  async function statusOf(id: string): Promise<string | undefined> {
    const rows = await stack.database.query<{ status: string }>(
      "SELECT status FROM sign_request WHERE id = $1",
      [id],
    );
    return rows[0]?.status;
  }
});
