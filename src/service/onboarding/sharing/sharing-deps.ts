import type { OnboardingDeps } from "../onboarding-deps.ts";

export interface SharingDeps extends OnboardingDeps {
  readonly sharePriceMicroUsd: bigint;
}
