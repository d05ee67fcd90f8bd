import type { Scenario } from "./scenario.ts";
import { ADMIN_SCENARIOS } from "./scenarios/admin-scenarios.ts";
import { CONSENT_SCENARIOS } from "./scenarios/consent-scenarios.ts";
import { HALF_SCENARIOS } from "./scenarios/half-scenarios.ts";
import { IKA_SCENARIOS } from "./scenarios/ika-scenarios.ts";
import { IMPORT_SCENARIOS } from "./scenarios/import-scenarios.ts";
import { OPERATOR_SCENARIOS } from "./scenarios/operator-scenarios.ts";
import { PAYMENT_SCENARIOS } from "./scenarios/payment-scenarios.ts";
import { RELEASE_SCENARIOS } from "./scenarios/release-scenarios.ts";
import { ROLE_SCENARIOS } from "./scenarios/role-scenarios.ts";

/**
 * The Treasury's behaviour, for the Move package and for the localnet's model. A Treasury starts with ample funds, one
 * operator without effective limits, and ceilings of exactly the network's price for curve 0 and algorithm 0. The
 * scenarios cover every function that changes something, and every abort code.
 */
export const SCENARIOS: readonly Scenario[] = [
  ...PAYMENT_SCENARIOS,
  ...IKA_SCENARIOS,
  ...ADMIN_SCENARIOS,
  ...OPERATOR_SCENARIOS,
  ...ROLE_SCENARIOS,
  ...CONSENT_SCENARIOS,
  ...RELEASE_SCENARIOS,
  ...IMPORT_SCENARIOS,
  ...HALF_SCENARIOS,
];
