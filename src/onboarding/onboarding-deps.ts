import type { AuditOrigin } from "../audit/audit-event.ts";
import type { ChainNetwork } from "../chain/network.ts";
import type { NetworkReader } from "../chain/reader.ts";
import type { Signals } from "../coordination/signals.ts";
import type { Database } from "../store/database.ts";

export interface OnboardingDeps {
  readonly database: Database;
  readonly network: ChainNetwork;
  /** For what all callers share, and reads once. */
  readonly reader: Pick<NetworkReader, "networkKey" | "networkKeys">;
  /** For calls of a project, within its budget of reads. */
  readonly readerFor: (projectId: string) => Pick<NetworkReader, "getObjects" | "registeredEncryptionKey">;
  readonly signals: Pick<Signals, "notify" | "subscribe">;
  /** How many dWallets, and how many encryption keys, a project may create in 24 hours. */
  readonly dkgsPerDay: number;
  /** What a project pays for a dWallet. */
  readonly dkgPriceMicroUsd: bigint;
  /** How many refunds a project may have on one day (UTC) after the network rejected its users' parts. */
  readonly refundsPerDay: number;
}

/** The project behind a call. */
export interface OnboardingCaller {
  readonly projectId: string;
  readonly origin: AuditOrigin;
}

/** Registering, creating and accepting: a user waits for them, but nobody has paid. */
export const ONBOARDING_PRIORITY = 20;
