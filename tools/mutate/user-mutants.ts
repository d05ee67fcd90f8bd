import type { Mutant } from "./mutant.ts";

const RACE = ["test/race/frozen-users.test.ts"];
const FOREIGN = ["test/component/service/access/foreign-resources.test.ts"];
const OWNERSHIP = ["test/component/service/users/ownership.test.ts"];
const USERS = ["test/component/service/users/users-service.test.ts"];

/** Lines that decide what a confined caller sees, and what a frozen or deleted user stops. */
export const USER_MUTANTS: readonly Mutant[] = [
  {
    name: "the usage of a user is that of all users",
    file: "src/service/billing/read-usage.ts",
    find: "WHERE user_reference = ${userReference} AND`",
    replace: "WHERE true OR user_reference = ${userReference} AND`",
    tests: ["test/component/service/billing/usage.test.ts"],
  },
  {
    name: "the usage of a user lacks the refunds of dWallets",
    file: "prisma/migrations/20261128050000_shares/migration.sql",
    find: "IN ('sign', 'refund', 'dkg', 'dkg_refund', 'share', 'share_refund')",
    replace: "IN ('sign', 'refund', 'dkg', 'share', 'share_refund')",
    tests: ["test/component/service/billing/usage.test.ts"],
  },
  {
    name: "an entry between the migrations counts twice",
    file: "prisma/migrations/20261127024000_usage_by_user_before/migration.sql",
    find: '\n  AND w.id <= (SELECT "last_id" FROM "ledger_user_hour_start")',
    replace: "",
    tests: ["test/race/usage-migration.test.ts"],
  },
  {
    name: "a confined caller calls a method about the whole project",
    file: "src/service/access/access-gate.ts",
    find: 'reach !== "own" && isConfined(allowance)',
    replace: "reach === undefined && isConfined(allowance)",
    tests: ["test/component/service/access/contract-access.test.ts"],
  },
  {
    name: "a caller sees the dWallets of other users",
    file: "src/service/users/reach.ts",
    find: "user_reference = ANY(${users}::text[])",
    replace: "user_reference <> ALL(${users}::text[])",
    tests: FOREIGN,
  },
  {
    name: "a caller sees dWallets that it is not confined to",
    file: "src/service/users/reach.ts",
    find: "dwalletIds === undefined ? {} : { objectId: { in: [...dwalletIds] } },",
    replace: "{},",
    tests: FOREIGN,
  },
  {
    name: "users share their idempotency keys and page tokens",
    file: "src/service/users/reach.ts",
    find: "if (allowance === undefined || !isConfined(allowance)) return projectId;",
    replace: "if (projectId !== undefined) return projectId;",
    tests: FOREIGN,
  },
  {
    name: "a caller makes a dWallet for another user",
    file: "src/service/users/reach.ts",
    find: "if (users.includes(named)) return named;",
    replace: "if (named !== undefined) return named;",
    tests: OWNERSHIP,
  },
  {
    name: "a session shows another user's dWallet",
    file: "src/service/users/reach.ts",
    find: "dwallet.userReference !== null && users.includes(dwallet.userReference)",
    replace: "dwallet.userReference !== null",
    tests: OWNERSHIP,
  },
  {
    name: "a dWallet is made with a key that was not registered for its user",
    file: "src/service/onboarding/encryption-keys.ts",
    find: "reference === undefined ? {} : { users: { some: { projectId, reference } } }",
    replace: "{}",
    tests: OWNERSHIP,
  },
  {
    name: "a freeze does not wait for what is under way",
    file: "src/service/users/ensure-user.ts",
    find: "WHERE u.frozen_at IS NULL FOR SHARE OF u",
    replace: "WHERE u.frozen_at IS NULL",
    tests: RACE,
  },
  {
    name: "a half of a frozen user is queued",
    file: "src/service/signing/submit.ts",
    find: "user_reference IS NULL OR user_reference IN (SELECT reference FROM user_now)",
    replace: "true",
    tests: RACE,
  },
  {
    name: "a presign is reserved for a frozen user",
    file: "src/service/signing/take-reservation.ts",
    find: "user_reference IS NULL OR user_reference IN (SELECT reference FROM user_now)",
    replace: "true",
    tests: RACE,
  },
  {
    name: "a dWallet is made for a user who is being frozen",
    file: "src/service/users/ensure-user.ts",
    find: "AND reference = ${reference} FOR SHARE",
    replace: "AND reference = ${reference}",
    tests: RACE,
  },
  {
    name: "a user is deleted with a dWallet in the service",
    file: "src/service/users/users.ts",
    find: "if (held !== undefined) {",
    replace: "if (held === null) {",
    tests: USERS,
  },
  {
    name: "a holder submits after its removal",
    file: "src/service/signing/submit.ts",
    find: "NOT is_of_holder OR request_id IN",
    replace: "true OR request_id IN",
    tests: ["test/race/removed-holders.test.ts"],
  },
  {
    name: "a deleted reference is used again",
    file: "src/service/users/ensure-user.ts",
    find: "if (row?.isDeleted) throw userDeleted(reference);\n",
    replace: "",
    tests: USERS,
  },
  {
    name: "a project has more users than its limit",
    file: "src/service/users/ensure-user.ts",
    find: "counted.count >= maxCount",
    replace: "counted.count > maxCount",
    tests: RACE,
  },
  {
    name: "a session outlives the key that created it, after a rotation",
    file: "src/service/access/stored-sessions.ts",
    find: "isExpired: isExpired || isMakerExpired",
    replace: "isExpired",
    tests: ["test/component/service/access/sessions.test.ts"],
  },
  {
    name: "sessions without a key outlive the keys that are issued again",
    file: "src/service/restore/reissue-keys.ts",
    find: "  await endSessionsOfNetwork(database, network, ORIGIN);\n",
    replace: "",
    tests: ["test/component/service/access/sessions.test.ts"],
  },
  {
    name: "the request for a deleted user's address holds up all others",
    file: "src/service/billing/deposits/deposit-address.ts",
    find: "usersMaxCount: undefined };",
    replace: "usersMaxCount: 1_000 };",
    tests: ["test/component/service/billing/deposits/references.test.ts"],
  },
];
