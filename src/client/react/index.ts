/**
 * The package's entry `threshold-signing-service/react`: hooks for React 18.2 and 19. It needs no browser to load, so a
 * page can be rendered on a server.
 */
export type { DWalletQueryState } from "./dwallet-queries.ts";
export type { MutationProgress, MutationState } from "./mutation-store.ts";
export { SigningProvider, type SigningProviderProps, useSigningClient } from "./signing-provider.ts";
export { type DWalletQuery, useDWallet } from "./use-dwallet.ts";
export {
  type Mutation,
  type MutationCallbacks,
  type OnboardedKey,
  type OnboardVariables,
  type ResumedAction,
  type ResumeVariables,
  useOnboard,
  useResume,
  useSign,
} from "./use-mutations.ts";
