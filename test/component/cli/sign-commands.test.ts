/** `tss sign` and `tss holder` show and end held halves, and show holders, over a running service. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { holdSteps, keyCaller } from "../../support/crypto/hold-steps.ts";
import { DATABASE_TIMEOUT_MS } from "../../support/database/database.ts";
import { dwalletOf, readyPresigns, type TestDWalletRow } from "../../support/database/rows.ts";
import { recipientOf, sharable, sharedWith } from "../../support/database/shares.ts";
import { ADMIN_KEY, type ErrorStack, startErrorStack } from "../service/platform/errors/error-stack.ts";
import { masked, printed, runCli } from "./run-cli.ts";

const ID = "00000000-0000-0000-0000-000000000000";
const TIME = "2026-01-01T00:00:00Z";
let stack: ErrorStack;
let environment: Record<string, string>;
let folder: string;
let projectId: string;
let dwallet: TestDWalletRow;
/** Makes a request whose half waits for its release. */
let hold: () => Promise<string>;

beforeAll(async () => {
  stack = await startErrorStack();
  folder = mkdtempSync(path.join(tmpdir(), "tss-cli-"));
  const project = await stack.newProject();
  ({ projectId } = project);
  environment = { TSS_URL: stack.url, TSS_API_KEY: project.key, DATA_DIR: folder };
  dwallet = await dwalletOf(stack.database, projectId, { userReference: "alice" });
  await readyPresigns(stack.database, dwallet.bucket, 5);
  const signer = await keyCaller(stack.database, projectId, ["sign"]);
  hold = () => holdSteps(stack.database, stack.signals).held(signer, dwallet);
}, DATABASE_TIMEOUT_MS);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await stack.close();
});

const tss = (...argv: string[]) => runCli(argv, environment);
const done = (...argv: string[]) => printed(argv, environment);
const ids = async (...filter: string[]) =>
  (await done("sign", "list", "--json", ...filter))
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as { signRequestId: string }).signRequestId);

describe("tss sign", { timeout: DATABASE_TIMEOUT_MS }, () => {
  it("lists held halves with the end of their time, releases one and cancels another", async () => {
    const [first, second] = [await hold(), await hold()];
    expect(await ids("--held", "--user", "alice")).toEqual([second, first]);
    expect(await ids("--held", "--user", "bob")).toEqual([]);
    expect(masked(await done("sign", "list", "--held", "--limit", "1")).split("\n")[1]).toBe(
      `${ID}  held   ${TIME}  ECDSASecp256k1  $0.000014  ${TIME}  ${dwallet.objectId}  alice`,
    );
    expect(masked(await done("sign", "get", first))).toContain(`state       held\nheld until  ${TIME}\n`);
    const released = masked(await done("sign", "release", first));
    expect(released).toContain("state    queued\n");
    expect(released).not.toContain("held until");
    const cancelled = await done("sign", "cancel", second);
    expect(cancelled).toMatch(/^failure +SIGN_CANCELLED: the held half was cancelled$/m);
    expect(cancelled).toMatch(/^refunded +yes$/m);
    expect(await ids("--held")).toEqual([]);
    expect(await ids("--state", "queued", "--dwallet", dwallet.objectId)).toEqual([first]);
    expect(await tss("sign", "release", second)).toMatchObject({
      exitCode: 1,
      err: expect.stringMatching(/^tss sign release: WRONG_STATE: the half is ended /),
    });
  });

  it.each([
    [["sign", "release"], "<sign-request-id> is missing"],
    [["sign", "list", "--state", "held"], "--state takes one of prepared, queued"],
    [["sign", "list", "--dwallet", "1"], "--dwallet takes an object id"],
  ])("refuses tss %j", async (argv, words) => {
    expect(await tss(...argv)).toMatchObject({ exitCode: 2, err: expect.stringContaining(words) });
  });
});

describe("tss inspect", { timeout: DATABASE_TIMEOUT_MS }, () => {
  it("tells an operator what happened to a request, and not what was signed", async () => {
    const id = await hold();
    await done("sign", "cancel", id);
    const operator = { TSS_URL: stack.url, TSS_ADMIN_KEY: ADMIN_KEY, DATA_DIR: folder };
    const found = await printed(["inspect", id.toUpperCase()], operator);
    expect(found).toMatch(new RegExp(`^subject +${id}\nproject +${projectId}\nstate +failed\n`));
    expect(found).toMatch(/^failure +SIGN_CANCELLED: the held half was cancelled$/m);
    expect(found).toMatch(/^future_sign +\S+ /m);
    expect(found).toMatch(new RegExp(`^\\S+ +-\\$0\\.000014 +sign:${id}$`, "m"));
    expect(found).toMatch(new RegExp(`^\\S+ +\\+\\$0\\.00001 +refund:${id}$`, "m"));
    expect(found).not.toContain("alice");
    expect(await runCli(["inspect", "nonsense"], operator)).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining("takes a UUID, or an object id"),
    });
    expect((await runCli(["inspect", ID], operator)).err).toContain("SUBJECT_NOT_FOUND");
  });
});

describe("tss holder", { timeout: DATABASE_TIMEOUT_MS }, () => {
  it("lists who has a share of a dWallet, and since when", async () => {
    const own = await sharable(stack.database, projectId);
    expect(await done("holder", "list", own.objectId)).toBe("");
    const carol = await recipientOf(stack.database, projectId, "carol");
    await sharedWith(stack.database, own, carol, "AwaitingAcceptance");
    expect(masked(await done("holder", "list", own.objectId)).split("\n")[1]).toBe(
      `${carol.address}  AwaitingAcceptance  ${TIME}  no        no       carol`,
    );
    expect((await tss("holder", "list", `0x${"0".repeat(64)}`)).err).toContain("DWALLET_NOT_FOUND");
  });
});
