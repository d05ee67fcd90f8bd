import { toJsonString } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { Account, ListAccountKeysResponseSchema } from "../../../../gen/proto/tss/v1/account_pb.ts";
import { createAccountService } from "../../../../src/service/access/account-service.ts";
import type { Scope } from "../../../../src/service/access/caller.ts";
import { insertApiKey, revokeApiKey } from "../../../../src/service/access/keys/api-keys.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { projectWith, TEST_OPERATOR, TEST_ORIGIN } from "../../../support/database/rows.ts";
import { clientOf } from "../../../support/service/service-client.ts";

const SCOPES: readonly Scope[] = ["read", "billing"];
let database: Database;
let projectId: string;
let account: ReturnType<typeof clientOf<typeof Account>>;

beforeAll(async () => {
  database = await openTestDatabase();
  account = clientOf(Account, createAccountService({ database }), () => ({
    kind: "project",
    projectId,
    apiKeyId: "the calling key",
    network: "localnet",
    scopes: SCOPES,
    origin: TEST_ORIGIN,
  }));
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 100n);
});

const newKey = (name: string, project = projectId) =>
  insertApiKey(database, TEST_ORIGIN, { projectId: project, name, scopes: SCOPES });

it("a key reads its project and its own permissions", async () => {
  expect(await account.getAccount({})).toMatchObject({
    projectId,
    projectName: "test",
    network: "localnet",
    apiKeyId: "the calling key",
    scopes: ["read", "billing"],
  });
});

it("a project lists its own keys page by page, the newest first, with revoked ones", async () => {
  await newKey("another's", await projectWith(database, 0n));
  const [first, second, third] = [await newKey("first"), await newKey("second"), await newKey("third")];
  await revokeApiKey({ db: database, lookup: { forget() {} } }, TEST_OPERATOR, second.id);
  const page = await account.listAccountKeys({ pageSize: 2 });
  const rest = await account.listAccountKeys({ pageSize: 2, pageToken: page.nextPageToken });
  expect(rest.nextPageToken).toBe("");
  const listed = [...page.accountKeys, ...rest.accountKeys];
  expect(listed.map(({ apiKeyId, name }) => [apiKeyId, name])).toEqual([
    [third.id, "third"],
    [second.id, "second"],
    [first.id, "first"],
  ]);
  expect(listed.map(({ revokeTime }) => revokeTime !== undefined)).toEqual([false, true, false]);
  expect(timestampDate(listed[0]!.createTime!).getTime()).toBeGreaterThan(0);
});

it("a listed key shows its first characters and nothing else of the key", async () => {
  const { plaintext } = await newKey("key");
  const reply = await account.listAccountKeys({});
  const [listed] = reply.accountKeys;
  expect(listed).toMatchObject({
    scopes: ["read", "billing"],
    prefix: plaintext.slice(0, listed!.prefix.length),
  });
  expect(toJsonString(ListAccountKeysResponseSchema, reply)).not.toContain(
    plaintext.slice(listed!.prefix.length),
  );
});
