import type { SessionSource } from "threshold-signing-service/sdk";

/** Who uses the page, and how they sign in. */
export interface Login {
  /** The signed-in user. */
  readonly user: string | undefined;
  /** Why the provider's answer was refused. The user can sign in again. */
  readonly failure: unknown;
  /** The users of the demo; undefined if an identity provider asks who the user is. */
  readonly users: readonly string[] | undefined;
  readonly serviceUrl: string;
  /** Returns a token of the signed-in user for the service. Without the key of this device it is useless. */
  readonly session: SessionSource;
  /** Signs the visitor in. The page must then be loaded again, unless this leaves it. */
  signIn(user: string): Promise<void>;
  signOut(): Promise<void>;
}
