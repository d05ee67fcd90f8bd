/** `tss webhook` manages the endpoints of a project, and forwards events to a developer's machine. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sealPlace } from "../../../src/service/events/read-events.ts";
import { DATABASE_TIMEOUT_MS } from "../../support/database/database.ts";
import { writeEvent } from "../../support/database/events.ts";
import { startReceiver } from "../../support/service/receiver.ts";
import { type ErrorStack, startErrorStack } from "../service/platform/errors/error-stack.ts";
import { printed, runCli } from "./run-cli.ts";

interface EndpointReply {
  readonly endpoint: { readonly webhookEndpointId: string };
  readonly secret: string;
}

let stack: ErrorStack;
let environment: Record<string, string>;
let folder: string;
let projectId: string;

beforeAll(async () => {
  stack = await startErrorStack();
  folder = mkdtempSync(path.join(tmpdir(), "tss-cli-"));
}, DATABASE_TIMEOUT_MS);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await stack.close();
});
beforeEach(async () => {
  const project = await stack.newProject();
  ({ projectId } = project);
  environment = { TSS_URL: stack.url, TSS_API_KEY: project.key, DATA_DIR: folder };
});

const tss = (...argv: string[]) => runCli(["webhook", ...argv], environment);
const done = (...argv: string[]) => printed(["webhook", ...argv], environment);
const json = async <T>(...argv: string[]) => JSON.parse(await done(...argv, "--json")) as T;
const create = async (...argv: string[]) =>
  (await json<EndpointReply>("create", "--to", "https://hooks.example/tss", ...argv)).endpoint
    .webhookEndpointId;

describe("tss webhook", { timeout: DATABASE_TIMEOUT_MS }, () => {
  it("creates an endpoint, shows its secret once, and lists, changes and deletes it", async () => {
    const shown = await done(
      "create",
      "--to",
      "https://hooks.example/tss",
      "--kinds",
      "sign.completed,sign.failed",
    );
    expect(shown).toMatch(/\nkinds {6,}sign\.completed,sign\.failed\nstate +enabled\npublic key +whpk_\S+\n/);
    expect(shown).toMatch(/\nsecret +whsec_\S+$/);
    const [, row] = (await done("list")).split("\n");
    expect(row).toMatch(
      /^\S{36} {2}enabled .*sign\.completed,sign\.failed {2}https:\/\/hooks\.example\/tss$/,
    );
    const id = row!.slice(0, 36);
    expect(await done("update", id, "--disable", "--all-kinds")).toMatch(
      /kinds +all\nstate +disabled: requested/,
    );
    expect(await done("update", id, "--enable")).toMatch(/state +enabled/);
    expect(await done("rotate", id)).toMatch(/previous secret +signs until .*\nsecret +whsec_/);
    expect(await done("delete", id)).toContain("the endpoint is deleted");
    expect((await tss("delete", id)).err).toMatch(/^tss webhook delete: WEBHOOK_ENDPOINT_NOT_FOUND: /);
  });

  it("queues a test message, and shows, resends and replays deliveries", async () => {
    const id = await create();
    expect(await done("test", id)).toMatch(/kind +webhook\.test\nstate +pending\nattempts +0/);
    const [, row] = (await done("deliveries", id, "--state", "pending")).split("\n");
    expect(row).toMatch(/webhook\.test {2}pending {2}0 /);
    expect(await done("resend", row!.slice(0, 36))).toMatch(/state +pending/);
    expect(await done("replay", id, "--since", "2026-01-01")).toContain(id);
    expect((await tss("deliveries", id, "--state", "failed")).err).toContain("no items");
  });

  it("forwards events to a receiver on this machine, signed with the secret that it prints", async () => {
    for (const subject of ["a", "b", "c"]) await writeEvent(stack.database, projectId, subject);
    await writeEvent(stack.database, projectId, "other", { kind: "sign.failed" });
    const statuses = [204, 500];
    const receiver = await startReceiver((_request, response) => {
      response.writeHead(statuses.shift() ?? 204);
      response.end();
    });
    const start = sealPlace(projectId, { sequence: 0n, eventId: "" });
    const lines = (
      await done(
        ...["listen", "--forward", receiver.url, "--cursor", start],
        ...["--kinds", "sign.completed", "--limit", "3"],
      )
    ).split("\n");
    await receiver.close();
    expect(lines.slice(1).map((line) => line.split("  ").slice(1))).toEqual([
      ["sign.completed", "a", "204"],
      ["sign.completed", "b", "500"],
      ["sign.completed", "c", "204"],
    ]);
    const secret = lines[0]!.split("  ")[1]!;
    for (const { body, headers } of receiver.requests)
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
        type: "sign.completed",
      });
    expect(receiver.requests).toHaveLength(3);
  });

  it("tells that nobody listens at the receiver's address", async () => {
    await writeEvent(stack.database, projectId, "a");
    const receiver = await startReceiver();
    await receiver.close();
    const start = sealPlace(projectId, { sequence: 0n, eventId: "" });
    expect(await done("listen", "--forward", receiver.url, "--cursor", start, "--limit", "1")).toMatch(
      /a {2}.*ECONNREFUSED/,
    );
  });

  it.each([
    [["create"], "--to is missing"],
    [["create", "--to", "https://hooks.example/", "--kinds", "sign"], "--kinds takes"],
    [["listen", "--forward", "hooks"], "--forward takes an http(s) URL"],
  ])("refuses tss webhook %j", async (argv, words) => {
    expect(await tss(...argv)).toMatchObject({ exitCode: 2, err: expect.stringContaining(words) });
  });
});
