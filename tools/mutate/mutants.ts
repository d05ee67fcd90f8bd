import { ACCESS_MUTANTS } from "./access-mutants.ts";
import { AGENT_MUTANTS } from "./agent-mutants.ts";
import { BACKEND_SIGNER_MUTANTS } from "./backend-signer-mutants.ts";
import { BUDGET_MUTANTS } from "./budget-mutants.ts";
import { CHAIN_MUTANTS } from "./chain-mutants.ts";
import { CHAIN_TRUST_MUTANTS } from "./chain-trust-mutants.ts";
import { CLASS_GROUP_MUTANTS } from "./class-group-mutants.ts";
import { CRYPTO_MUTANTS } from "./crypto-mutants.ts";
import { EVENT_MUTANTS } from "./event-mutants.ts";
import { HALF_MUTANTS } from "./half-mutants.ts";
import { IDENTITY_MUTANTS } from "./identity-mutants.ts";
import { KEY_OUTPUT_MUTANTS } from "./key-output-mutants.ts";
import { LOCALNET_MUTANTS } from "./localnet-mutants.ts";
import { MONEY_MUTANTS } from "./money-mutants.ts";
import type { Mutant } from "./mutant.ts";
import { ONBOARDING_MUTANTS } from "./onboarding-mutants.ts";
import { REACT_MUTANTS } from "./react-mutants.ts";
import { RESUME_MUTANTS } from "./resume-mutants.ts";
import { RETENTION_MUTANTS } from "./retention-mutants.ts";
import { ROW_MUTANTS } from "./row-mutants.ts";
import { SEED_MUTANTS } from "./seed-mutants.ts";
import { SHARE_MUTANTS } from "./share-mutants.ts";
import { SIGN_MUTANTS } from "./sign-mutants.ts";
import { SIGNER_MUTANTS } from "./signer-mutants.ts";
import { TREASURY_MUTANTS } from "./treasury-mutants.ts";
import { USER_MUTANTS } from "./user-mutants.ts";
import { WATCHTOWER_MUTANTS } from "./watchtower-mutants.ts";

/** Lines that decide about money, keys or trust, each changed for the worse. */
export const MUTANTS: readonly Mutant[] = [
  ...ACCESS_MUTANTS,
  ...BACKEND_SIGNER_MUTANTS,
  ...AGENT_MUTANTS,
  ...BUDGET_MUTANTS,
  ...CHAIN_MUTANTS,
  ...CHAIN_TRUST_MUTANTS,
  ...CLASS_GROUP_MUTANTS,
  ...CRYPTO_MUTANTS,
  ...EVENT_MUTANTS,
  ...WATCHTOWER_MUTANTS,
  ...KEY_OUTPUT_MUTANTS,
  ...HALF_MUTANTS,
  ...IDENTITY_MUTANTS,
  ...LOCALNET_MUTANTS,
  ...MONEY_MUTANTS,
  ...ONBOARDING_MUTANTS,
  ...REACT_MUTANTS,
  ...RESUME_MUTANTS,
  ...RETENTION_MUTANTS,
  ...ROW_MUTANTS,
  ...SEED_MUTANTS,
  ...SHARE_MUTANTS,
  ...SIGN_MUTANTS,
  ...SIGNER_MUTANTS,
  ...TREASURY_MUTANTS,
  ...USER_MUTANTS,
  {
    name: "an echo of Ctrl-C ends the service at once",
    file: "src/service/platform/lifecycle/run-until-signal.ts",
    find: "if (nowMs() - firstAtMs < ECHO_MS) return;",
    replace: "",
    tests: ["test/unit/service/platform/lifecycle/lifecycle.test.ts"],
  },
];
