import type { Allowance } from "../access/allowances/allowance.ts";
import type { AuditOrigin } from "../audit/audit-event.ts";
import type { ChainNetwork } from "../chain/fullnodes/network.ts";
import type { NetworkReader } from "../chain/reader.ts";
import type { Signals } from "../platform/coordination/signals.ts";
import type { Database } from "../platform/store/database.ts";
import type { Reaching } from "../users/reach.ts";

/** What onboarding and sharing need of a network. */
export interface OnboardingDeps {
  readonly database: Database;
  readonly network: ChainNetwork;
  /** For data that all callers share. */
  readonly reader: Pick<NetworkReader, "networkKey" | "networkKeys">;
  /** For calls of a project, within the project's budget of reads. */
  readonly readerFor: (
    projectId: string,
  ) => Pick<NetworkReader, "getObjects" | "registeredEncryptionKey" | "epoch" | "chainIdentifier">;
  readonly signals: Signals;
  /** The maximum number of dWallets, and of encryption keys, that a project may create in 24 hours. */
  readonly dkgsPerDay: number;
  readonly dkgPriceMicroUsd: bigint;
  readonly importPriceMicroUsd: bigint;
  /** Returns whether the Treasury pays for imported keys of this curve, as the chain numbers it. */
  readonly paysImports: (curve: number) => Promise<boolean>;
  /** The maximum number of users of a project, deleted ones included. */
  readonly usersMaxCount: number;
  /** The maximum number of refunds of a project on one day (UTC) after the network rejected its users' messages. */
  readonly refundsPerDay: number;
}

export interface OnboardingCaller extends Reaching {
  /** The limits of a narrow key or a session. */
  readonly allowance?: Allowance | undefined;
  readonly origin: AuditOrigin;
}

/** The priority of registering, creating and accepting: a user waits, but nobody has paid. */
export const ONBOARDING_PRIORITY = 20;
