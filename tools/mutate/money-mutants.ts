import type { Mutant } from "./mutant.ts";

const LIFECYCLE = ["test/component/signing/sign-lifecycle.test.ts"];
const POSTINGS = ["test/component/ledger/postings.test.ts"];
const DEPOSITS = ["test/component/billing/deposits/credit.test.ts"];

/** Lines that move credit, or say what a deposit is worth. */
export const MONEY_MUTANTS: readonly Mutant[] = [
  {
    name: "a reservation holds nothing",
    file: "src/ledger/postings.ts",
    find: "held_micro_usd = p.held_micro_usd + s.price_micro_usd,",
    replace: "held_micro_usd = p.held_micro_usd,",
    tests: LIFECYCLE,
  },
  {
    name: "a submitted request costs nothing",
    file: "src/ledger/postings.ts",
    find: "balance_micro_usd = p.balance_micro_usd - s.price_micro_usd,",
    replace: "balance_micro_usd = p.balance_micro_usd,",
    tests: LIFECYCLE,
  },
  {
    name: "what was charged stays held",
    file: "src/ledger/postings.ts",
    find: "                           held_micro_usd = p.held_micro_usd - s.price_micro_usd,\n",
    replace: "",
    tests: LIFECYCLE,
  },
  {
    name: "a reservation that expires stays held",
    file: "src/ledger/postings.ts",
    find: "- s.price_micro_usd,\n                           open_reservations = p.open_reservations - 1,\n                           lapsed_reservations = $",
    replace:
      ",\n                           open_reservations = p.open_reservations - 1,\n                           lapsed_reservations = $",
    tests: LIFECYCLE,
  },
  {
    name: "a signature that is found after a restore costs nothing",
    file: "src/ledger/postings.ts",
    find: "SET balance_micro_usd = p.balance_micro_usd - s.price_micro_usd\n",
    replace: "SET balance_micro_usd = p.balance_micro_usd\n",
    tests: POSTINGS,
  },
  {
    name: "what is held for others is charged",
    file: "src/ledger/postings.ts",
    find: ">= s.price_micro_usd\n      RETURNING s.id\n    ), charge_entry",
    replace: "IS NOT NULL\n      RETURNING s.id\n    ), charge_entry",
    tests: POSTINGS,
  },
  {
    name: "a refund gives nothing back",
    file: "src/ledger/postings.ts",
    find: "balance_micro_usd = p.balance_micro_usd + s.price_micro_usd,",
    replace: "balance_micro_usd = p.balance_micro_usd,",
    tests: LIFECYCLE,
  },
  {
    name: "a project has one refund more than its budget",
    file: "src/ledger/postings.ts",
    find: "s.refunds_per_day >\n",
    replace: "s.refunds_per_day >=\n",
    tests: POSTINGS,
  },
  {
    name: "refunds of yesterday count against the budget of today",
    file: "src/ledger/postings.ts",
    find: "THEN p.refunds_on_day ELSE 0 END)",
    replace: "THEN p.refunds_on_day ELSE p.refunds_on_day END)",
    tests: POSTINGS,
  },
  {
    name: "an expired reservation does not lower how many a project may hold",
    file: "src/ledger/postings.ts",
    find: "(sql`p`)} + 1,",
    replace: "(sql`p`)} + 0,",
    tests: ["test/race/lapsed-reservations.test.ts"],
  },
  {
    name: "a long message costs as much as a short one",
    file: "src/protocol/price-table.ts",
    find: "BigInt(furtherKib) * table.messageKibMicroUsd",
    replace: "BigInt(furtherKib) * 0n",
    tests: ["test/unit/protocol/price-table.test.ts"],
  },
  {
    name: "a DKG is queued without credit for it",
    file: "src/onboarding/create-dwallet.ts",
    find: "if (!charged) throw insufficientCredit(priceMicroUsd);",
    replace: "",
    tests: ["test/race/dkg-money.test.ts"],
  },
  {
    name: "a dWallet that is there is refunded",
    file: "src/onboarding/fail-dwallet.ts",
    find: " AND state = ${from} FOR UPDATE",
    replace: " FOR UPDATE",
    tests: ["test/race/dkg-money.test.ts"],
  },
  {
    name: "the key of an entry is not its request's, so that it may be booked twice",
    file: "src/ledger/postings.ts",
    find: ":' || s.id, ",
    replace: ":' || gen_random_uuid(), ",
    tests: LIFECYCLE,
  },
  {
    name: "credit is booked twice for one reference",
    file: "src/ledger/credit-project.ts",
    find: "'credit:' || ${reference}::text, ",
    replace: "'credit:' || ${reference}::text || gen_random_uuid(), ",
    tests: ["test/component/billing/ledger.test.ts"],
  },
  {
    name: "a deposit is credited twice",
    file: "src/billing/deposits/credit-deposits.ts",
    find: " AND d.state = 'waiting'",
    replace: "",
    tests: DEPOSITS,
  },
  {
    name: "a deposit below the minimum is credited",
    file: "src/billing/deposits/credit-deposits.ts",
    find: "HAVING sum(value) >= ${deps.minimumMicroUsd}::bigint",
    replace: "HAVING count(*) > 0",
    tests: DEPOSITS,
  },
  {
    name: "two who credit at once both count the same deposits",
    file: "src/billing/deposits/credit-deposits.ts",
    find: "ORDER BY d.id FOR UPDATE OF d",
    replace: "ORDER BY d.id",
    tests: ["test/race/deposits.test.ts"],
  },
  {
    name: "a payment to anybody is the project's deposit",
    file: "src/billing/deposits/record-payment.ts",
    find: "payments.filter((payment) => payment.address === address)",
    replace: "payments.filter(() => address.length > 0)",
    tests: DEPOSITS,
  },
  {
    name: "a price that is too old is used",
    file: "src/billing/prices/price-feed.ts",
    find: "return price && now() - price.time.getTime() <= maxAgeMs ? price : undefined;",
    replace: "return price;",
    tests: ["test/component/billing/prices/price-feed.test.ts"],
  },
  {
    name: "a price that jumps is believed",
    file: "src/billing/prices/check-price.ts",
    find: "return step * 100n <= from.picoUsd * BigInt(maxStepPercent);",
    replace: "return step >= 0n;",
    tests: ["test/unit/billing/prices/judge-price.test.ts"],
  },
  {
    name: "the deposit address of a project is the same on every network",
    file: "src/billing/deposits/deposit-key.ts",
    find: "{network}:$" + "{projectId.toLowerCase()}",
    replace: '{"localnet"}:$' + "{projectId.toLowerCase()}",
    tests: ["test/unit/billing/deposits/deposit-key.test.ts"],
  },
];
