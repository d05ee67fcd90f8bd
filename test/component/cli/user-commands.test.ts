/** `tss user` and `tss session` manage a project's users and their sessions over a running service. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DATABASE_TIMEOUT_MS } from "../../support/database/database.ts";
import { objectId } from "../../support/database/rows.ts";
import { type ErrorStack, startErrorStack } from "../service/platform/errors/error-stack.ts";
import { masked, printed, runCli } from "./run-cli.ts";

const ID = "00000000-0000-0000-0000-000000000000";
const TIME = "2026-01-01T00:00:00Z";
let stack: ErrorStack;
let environment: Record<string, string>;
let folder: string;

beforeAll(async () => {
  stack = await startErrorStack();
  folder = mkdtempSync(path.join(tmpdir(), "tss-cli-"));
}, DATABASE_TIMEOUT_MS);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await stack.close();
});
beforeEach(async () => {
  const { key } = await stack.newProject();
  environment = { TSS_URL: stack.url, TSS_API_KEY: key, DATA_DIR: folder };
});

const tss = (...argv: string[]) => runCli(argv, environment);
const done = (...argv: string[]) => printed(argv, environment);
const json = async <T>(...argv: string[]) => JSON.parse(await done(...argv, "--json")) as T;

describe("tss user", { timeout: DATABASE_TIMEOUT_MS }, () => {
  it("makes, shows, freezes and unfreezes a user", async () => {
    const shown = (frozen: string) => `user     user/1\ncreated  ${TIME}\nfrozen   ${frozen}`;
    expect(masked(await done("user", "create", "user/1"))).toBe(shown("no"));
    expect(masked(await done("user", "get", "user/1"))).toBe(shown("no"));
    expect(masked(await done("user", "freeze", "user/1"))).toBe(shown(TIME));
    expect(masked(await done("user", "get", "user/1"))).toBe(shown(TIME));
    expect(masked(await done("user", "unfreeze", "user/1"))).toBe(shown("no"));
    expect(await json("user", "get", "user/1")).toMatchObject({ reference: "user/1" });
  });

  it("lists users by prefix and by state, page after page", async () => {
    for (const reference of ["b1", "a2", "a1"]) await done("user", "create", reference);
    await done("user", "freeze", "a2");
    const listed = (...filter: string[]) => done("user", "list", "--page-size", "1", ...filter).then(masked);
    const [title, active] = [`CREATED${" ".repeat(15)}FROZEN`, `${TIME}  no`];
    expect(await listed("--state", "active")).toBe(
      [`${title}  USER`, `${active}      a1`, `${active}      b1`].join("\n"),
    );
    expect(await listed("--prefix", "a", "--state", "frozen")).toMatch(
      new RegExp(`^.*\n${TIME}  ${TIME}  a2$`),
    );
    expect((await listed("--prefix", "a", "--json")).split("\n")).toHaveLength(2);
  });

  it("deletes a user, whose reference then exists for nobody", async () => {
    await done("user", "create", "gone");
    expect(await done("user", "delete", "gone")).toContain("the user is deleted");
    expect((await tss("user", "get", "gone")).err).toMatch(/^tss user get: USER_NOT_FOUND: /);
    expect((await tss("user", "create", "gone")).err).toMatch(/^tss user create: USER_DELETED: /);
  });

  it.each([
    [["user", "get"], "<reference> is missing"],
    [["user", "create", "é"], "<reference> takes a user's reference"],
    [["user", "list", "--state", "new"], "--state takes one of active, frozen"],
  ])("refuses tss %j", async (argv, words) => {
    expect(await tss(...argv)).toMatchObject({ exitCode: 2, err: expect.stringContaining(words) });
  });
});

describe("tss usage", { timeout: DATABASE_TIMEOUT_MS }, () => {
  it("adds up what a project used, or one of its users", async () => {
    const row = (from: string, deposited: string) =>
      `${from.padEnd(5)}           0         0         0                  0       0                0    $0.00      ${deposited}`;
    const heading =
      "FROM   SIGNATURES  REFUNDED  DWALLETS  DWALLETS REFUNDED  SHARES  SHARES REFUNDED  CHARGED  DEPOSITED";
    expect(await done("usage", "--user", "alice", "--by", "hour", "--from", "2d")).toBe(
      [heading, row("total", "$0.00")].join("\n"),
    );
    expect(await json("usage")).toMatchObject({ total: { signCount: "0", adjustedMicroUsd: "1000" } });
    expect((await tss("usage", "--from", "2026-01-02", "--to", "2026-01-01")).err).toContain(
      "VALIDATION: start_time",
    );
    expect((await tss("usage", "--from", "soon")).err).toContain("--from takes a time such as");
  });
});

describe("tss user usage", { timeout: DATABASE_TIMEOUT_MS }, () => {
  it("lists users by what they were charged, page after page", async () => {
    const { projectId, key } = await stack.newProject();
    environment = { ...environment, TSS_API_KEY: key };
    await stack.database.query(
      `INSERT INTO ledger_user_hour (project_id, user_reference, hour, kind, entry_count, amount_micro_usd)
       SELECT $1, 'user/' || n, date_trunc('hour', now(), 'UTC'), 'sign', n, -n * 1000000 FROM generate_series(1, 3) n`,
      [projectId],
    );
    expect(await done("user", "usage", "--limit", "2", "--page-size", "1")).toBe(
      [
        "CHARGED  SIGNATURES  DWALLETS  SHARES  REFUNDS  USER",
        "  $3.00           3         0       0        0  user/3",
        "  $2.00           2         0       0        0  user/2",
      ].join("\n"),
    );
    expect(await done("user", "usage", "--from", "2d", "--to", "1d")).toBe("");
  });
});

describe("tss balance", { timeout: DATABASE_TIMEOUT_MS }, () => {
  it("shows the balance, and sets and ends the warning of a low one", async () => {
    const shown = async () => await done("balance", "show");
    expect(await shown()).toMatch(/^balance {2}\$0\.001\nheld {5}\$0\.00\nwarning {2}none$/);
    await done("balance", "warn", "--below", "25.5");
    expect(await shown()).toMatch(/\nwarning {2}below \$25\.50$/);
    await done("balance", "warn", "--below", "none");
    expect(await shown()).toMatch(/\nwarning {2}none$/);
  });

  it.each(["0", "-1", "some"])("refuses a warning below %s", async (below) => {
    const { exitCode, err } = await tss("balance", "warn", `--below=${below}`);
    expect({ exitCode, err }).toMatchObject({ exitCode: 2, err: expect.stringContaining("--below takes ") });
  });
});

describe("tss session", { timeout: DATABASE_TIMEOUT_MS }, () => {
  const create = (...more: string[]) => ["session", "create", "--user", "alice", "--scopes", "read", ...more];

  it("creates a session and shows its token once", async () => {
    const made = await done(...create("--origin", "https://app.example", "--idempotency-key", "one"));
    const token = /^token +(\S+) \(shown once\)$/m.exec(made)?.[1] ?? "";
    const reads = (origin: string) =>
      fetch(`${stack.url}/v1/dwallets`, { headers: { authorization: `Bearer ${token}`, origin } });
    expect((await reads("https://app.example")).status).toBe(200);
    expect((await reads("https://evil.example")).status).toBe(403);
    const again = await done(...create("--origin", "https://app.example", "--idempotency-key", "one"));
    expect(again).toContain("token    (shown only by the first call)");
    expect(again + (await done("session", "list")) + (await done("session", "list", "--json"))).not.toContain(
      token,
    );
  });

  it("gives a session its lifetime, device and limits, and lists them with what is left", async () => {
    const [dwalletId, thumbprint] = [objectId(), "t".repeat(43)];
    const { session } = await json<{ session: Record<string, unknown> }>(
      ...create("--lifetime", "2h", "--proof-key", thumbprint, "--dwallet", dwalletId),
      ...["--algorithm", "EdDSA", "--budget", "5.00,100req/1d"],
    );
    const { createTime, expireTime } = session as Record<string, string>;
    expect(Math.round((Date.parse(expireTime!) - Date.parse(createTime!)) / 60_000)).toBe(120);
    const row = masked(await done("session", "list", "--user", "alice")).split("\n")[1];
    expect(row).toBe(
      [ID, "read  ", TIME, "never   ", TIME, "no     ", thumbprint, "none   "].join("  ") +
        `  users alice; dwallets ${dwalletId}; EdDSA; budget $5.00,100req/1d  $5.00,100req  alice`,
    );
  });

  it("ends one session, or all of a user", async () => {
    const { session } = await json<{ session: { sessionId: string } }>(...create());
    await done(...create());
    expect(masked(await done("session", "revoke", session.sessionId))).toContain(`revoked  ${TIME}`);
    expect(await done("session", "revoke-user", "alice")).toBe("sessions  1 ended");
    expect(await done("session", "list", "--user", "bob", "--json")).toBe("");
    expect(await done("session", "list", "--user", "alice")).not.toContain("  no  ");
  });

  it("is refused with the name of the wrong option", async () => {
    const refused = await tss(...create("--origin", "https://app.example/page"));
    expect(refused).toMatchObject({ exitCode: 1, err: expect.stringContaining("VALIDATION: origins") });
    expect((await tss("session", "create", "--user", "alice")).err).toContain("--scopes is missing");
  });
});
