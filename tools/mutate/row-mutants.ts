import type { Mutant } from "./mutant.ts";

const VERIFY = ["test/component/service/ledger/verify-ledger.test.ts"];
const POSTINGS = ["test/component/service/ledger/postings.test.ts"];
const LANES = ["test/component/service/chain/submit/own-rows.test.ts"];
const SIGNING = ["test/component/service/signing/own-rows.test.ts"];
const PRESIGNS = ["test/component/service/presigns/own-rows.test.ts"];
const SHARED = "test/race/shared-statements.test.ts";
const BILLING = ["test/component/service/billing/own-rows.test.ts"];
const CUSTODY = ["test/component/service/onboarding/custody-rows.test.ts"];
const ACCESS = ["test/component/service/access/own-rows.test.ts"];

/** Statements that change, take or count the rows of others as well, and steps that take another's event. */
export const ROW_MUTANTS: readonly Mutant[] = [
  {
    name: "the ledger takes another project's refund for the request's own",
    file: "src/service/ledger/verify-ledger.ts",
    find: "ON b.kind = r.refunded_as AND b.subject = r.id::text AND b.project_id = r.project_id",
    replace: "ON b.kind = r.refunded_as AND b.subject = r.id::text",
    tests: VERIFY,
  },
  {
    name: "the ledger expects a refund of a request that did not fail",
    file: "src/service/ledger/verify-ledger.ts",
    find: "WHEN status = 'failed' AND refunded THEN",
    replace: "WHEN refunded THEN",
    tests: VERIFY,
  },
  {
    name: "an expired reservation never counts",
    file: "src/service/ledger/postings.ts",
    find: "lapsed_at > clock_timestamp() - ${LAPSES_COUNT_FOR}",
    replace: "lapsed_at > clock_timestamp() + ${LAPSES_COUNT_FOR}",
    tests: POSTINGS,
  },
  {
    name: "an exit on another network ends a dWallet's reservations",
    file: "src/service/signing/loops/exit-loop.ts",
    find: "WHERE c.network = ${network} AND c.state",
    replace: "WHERE c.state",
    tests: SIGNING,
  },
  {
    name: "the half of a request that still has its own is overwritten",
    file: "src/service/signing/lost-sign-requests.ts",
    find: " AND user_sign_message = ''`",
    replace: "`",
    tests: SIGNING,
  },
  {
    name: "a session of another curve fills a presign",
    file: "src/service/presigns/presign-moves.ts",
    find: "WHERE p.id = made.id AND p.curve = made.curve",
    replace: "WHERE p.id = made.id",
    tests: [...PRESIGNS, SHARED],
  },
  {
    name: "a presign that a request holds is filled again",
    file: "src/service/presigns/presign-moves.ts",
    find: "AND state = 'pending'\n          ORDER BY id FOR UPDATE",
    replace: "ORDER BY id FOR UPDATE",
    tests: PRESIGNS,
  },
  {
    name: "a session of another curve burns a presign",
    file: "src/service/presigns/presign-moves.ts",
    find: "AND state = 'pending' AND curve = ${curveNumber}",
    replace: "AND state = 'pending'",
    tests: PRESIGNS,
  },
  {
    name: "a lane drops the row of a merged coin, which a slow fullnode then brings back",
    file: "src/service/chain/submit/lane-table.ts",
    find: "objectId: { in: [...objectIds] }, merged: false }",
    replace: "objectId: { in: [...objectIds] } }",
    tests: LANES,
  },
  {
    name: "an operation that was sent returns to the queue",
    file: "src/service/chain/submit/outbox.ts",
    find: "not_before = now() + ${how.delayMs} * interval '1 millisecond', updated_at = now()\n        WHERE id = ANY(${ids}::uuid[]) AND state = 'queued'`",
    replace:
      "not_before = now() + ${how.delayMs} * interval '1 millisecond', updated_at = now()\n        WHERE id = ANY(${ids}::uuid[])`",
    tests: LANES,
  },
  {
    name: "a deposit on another network is credited",
    file: "src/service/billing/deposits/credit-deposits.ts",
    find: "AND d.network = ${network} AND d.state = 'waiting'",
    replace: "AND d.state = 'waiting'",
    tests: BILLING,
  },
  {
    name: "an older price overwrites a newer one",
    file: "src/service/billing/prices/check-price.ts",
    find: "  if (time <= (doubted?.price.time ?? accepted.time)) return state;\n",
    replace: "",
    tests: ["test/component/service/billing/prices/price-feed.test.ts"],
  },
  {
    name: "two replicas judge readings by the same stored price",
    file: "src/service/billing/prices/stored-prices.ts",
    find: "AND coin_type = ${coinType} FOR UPDATE`",
    replace: "AND coin_type = ${coinType}`",
    tests: ["test/race/price-bounds.test.ts"],
  },
  {
    name: "an exit goes to the chain before the dWallet's submitted signature",
    file: "src/service/onboarding/custody/custody-loop.ts",
    find: "r.status IN ('prepared', 'queued', 'submitted')",
    replace: "r.status IN ('prepared', 'queued')",
    tests: CUSTODY,
  },
  {
    name: "an older state of the chain brings a dWallet back that has left",
    file: "src/service/onboarding/custody/custody-state.ts",
    find: " AND (left_version IS NULL OR left_version < ${version})",
    replace: "",
    tests: CUSTODY,
  },
  {
    name: "an exit to another recipient is taken for the consent's own",
    file: "src/service/onboarding/custody/consent-operation.ts",
    find: " && exit.recipient === recipient,",
    replace: ",",
    tests: CUSTODY,
  },
  {
    name: "a rotated key lives longer than its own expiry",
    file: "src/service/access/keys/api-keys.ts",
    find: "ELSE least(expires_at, now() + ${overlapSeconds}::integer * interval '1 second') END",
    replace: "ELSE now() + ${overlapSeconds}::integer * interval '1 second' END",
    tests: ACCESS,
  },
  {
    name: "an operator revokes a key of another network",
    file: "src/service/access/keys/api-keys.ts",
    find: "AND revoked_at IS NULL AND p.id = project_id AND p.network = ${network}",
    replace: "AND revoked_at IS NULL AND p.id = project_id",
    tests: ACCESS,
  },
];
