import type { Mutant } from "./mutant.ts";

const RACE = ["test/race/budgets.test.ts"];
const SLOTS = ["test/component/service/access/allowances/budget-slots.test.ts"];
const STORED = ["test/component/service/access/allowances/allowances.test.ts"];
const NARROW = ["test/component/service/signing/narrow-caller.test.ts"];
const BUDGETS = "src/service/access/allowances/budgets.ts";

/** Lines that keep a narrow key within its limits. */
export const BUDGET_MUTANTS: readonly Mutant[] = [
  {
    name: "a request beyond the budget's count is admitted",
    file: BUDGETS,
    find: "coalesce(left_count >= 1, true)",
    replace: "true",
    tests: SLOTS,
  },
  {
    name: "a price beyond the budget's sum is admitted",
    file: BUDGETS,
    find: "coalesce(left_micro_usd >= ${priceMicroUsd}::bigint, true)",
    replace: "true",
    tests: SLOTS,
  },
  {
    name: "a budget that is spent but for a part admits any price",
    file: BUDGETS,
    find: "left_micro_usd >= ${priceMicroUsd}::bigint",
    replace: "left_micro_usd >= 0",
    tests: SLOTS,
  },
  {
    name: "a budget is renewed while the database's clock is set back",
    file: BUDGETS,
    find: "greatest(newest_slot, budget_slot(${at}, window_seconds)) AS slot FROM budget_row",
    replace: "budget_slot(${at}, window_seconds) AS slot FROM budget_row",
    tests: SLOTS,
  },
  {
    name: "a price is given back into another slot",
    file: BUDGETS,
    find: "a.newest_slot - s.allowance_slot + 1",
    replace: "1",
    tests: RACE,
  },
  {
    name: "a price is given back to the budget though the money is not",
    file: BUDGETS,
    find: "FROM ${source} s JOIN ${posted} USING (id) WHERE a.id = s.allowance_id",
    replace: "FROM ${source} s WHERE a.id = s.allowance_id",
    tests: RACE,
  },
  {
    name: "a request takes nothing from the budget",
    file: "src/service/signing/take-reservation.ts",
    find: "${budget.take(sql`posting_hold`)}reserved",
    replace: "reserved",
    tests: RACE,
  },
  {
    name: "a reservation ignores the budget",
    file: "src/service/signing/take-reservation.ts",
    find: "WHERE funded AND holdable AND allowed${budget.andFits}",
    replace: "WHERE funded AND holdable AND allowed",
    tests: RACE,
  },
  {
    name: "a dWallet ignores the budget",
    file: "src/service/onboarding/create-dwallet.ts",
    find: "${charged(dkg, budget.andFits)}",
    replace: "${charged(dkg)}",
    tests: RACE,
  },
  {
    name: "a dWallet takes nothing from the budget",
    file: "src/service/onboarding/create-dwallet.ts",
    find: "${budget.take(sql`posting_charge`)}",
    replace: "",
    tests: RACE,
  },
  {
    name: "a narrow key signs with any algorithm",
    file: "src/service/signing/reserve.ts",
    find: "  requireAlgorithm(caller.allowance, input.triple.signatureAlgorithm);\n",
    replace: "",
    tests: NARROW,
  },
  {
    name: "a rotation renews the budget",
    file: "src/service/access/keys/api-keys.ts",
    find: "rotation?.allowanceId ??",
    replace: "",
    tests: STORED,
  },
  {
    name: "a key of users reads the whole project's money",
    file: "src/service/access/allowances/allowances.ts",
    find: 'scopes.includes("billing")',
    replace: "false",
    tests: STORED,
  },
  {
    name: "the gate forgets the limits of a narrow key",
    file: "src/service/access/access-gate.ts",
    find: "apiKeyId: id, network, scopes, allowance } as const",
    replace: "apiKeyId: id, network, scopes } as const",
    tests: STORED,
  },
  {
    name: "a narrow key submits what another caller has reserved with another algorithm",
    file: "src/service/signing/submit.ts",
    find: "  requireAlgorithm(caller.allowance, claim.signatureAlgorithm);\n",
    replace: "",
    tests: NARROW,
  },
  {
    name: "each exchange of an ID token adds a budget",
    file: "src/service/users/sessions.ts",
    find: "budget && sharedAllowanceId(providerId, userReference)",
    replace: "undefined as string | undefined",
    tests: ["test/component/service/access/identity/exchange-token.test.ts"],
  },
];
