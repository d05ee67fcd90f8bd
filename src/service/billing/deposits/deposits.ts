import type { PaymentReader } from "../../chain/payment-reader.ts";
import { RecentMap } from "../../platform/coordination/recent-map.ts";
import type { Clock } from "../../platform/lifecycle/clock.ts";
import type { Database } from "../../platform/store/database.ts";
import type { Secret } from "../../platform/telemetry/secret.ts";
import type { PriceSource } from "../prices/price-source.ts";
import type { AcceptedCoin } from "./accepted-coins.ts";
import type { AddressRequests } from "./request-address.ts";

/** The accepted coins of a network, their prices, and the master seed of the deposit addresses. */
export interface Deposits {
  readonly database: Database;
  readonly network: string;
  /** 32 bytes. Undefined in a process that asks others for addresses. */
  readonly masterSeed: Secret<Uint8Array> | undefined;
  /** How to ask for addresses, and to tell of due ones. Needed without a master seed. */
  readonly requests?: AddressRequests | undefined;
  readonly coins: readonly AcceptedCoin[];
  readonly prices: PriceSource;
  readonly minimumMicroUsd: bigint;
  /** The maximum number of a project's deposit addresses with a reference. */
  readonly maxReferences: number;
  /** The maximum number of users of a project, deleted ones included. A reference is a user's. */
  readonly usersMaxCount: number;
  readonly reader: PaymentReader;
  /** Returns the reader for calls of a project, which counts against the project's budget of reads. */
  readonly readerFor: (projectId: string) => Pick<PaymentReader, "payments">;
  /** Recent refusals, which are repeated without reading the chain. */
  readonly recentRefusals: RecentRefusals;
}

/** Creates an empty cache. */
export function createRecentRefusals(clock: Pick<Clock, "now">): RecentRefusals {
  const known = new RecentMap<string, { readonly reason: RefusalReason; readonly untilMs: number }>(
    MAX_COUNT,
  );
  const keyOf = (projectId: string, txDigest: string) => `${projectId} ${txDigest}`;
  return {
    find(projectId, txDigest) {
      const found = known.get(keyOf(projectId, txDigest));
      return found !== undefined && found.untilMs > clock.now() ? found.reason : undefined;
    },
    add(projectId, txDigest, reason) {
      known.set(keyOf(projectId, txDigest), { reason, untilMs: clock.now() + KEPT_MS });
    },
  };
}

/**
 * Caches declared transactions that paid nothing, by project, for two seconds. A repeated declaration meanwhile does
 * not read the chain.
 */
interface RecentRefusals {
  /** The reason of a recent refusal; undefined if there was none. */
  find(projectId: string, txDigest: string): RefusalReason | undefined;
  add(projectId: string, txDigest: string, reason: RefusalReason): void;
}

/** Why a declared transaction credits nothing. */
export type RefusalReason = "DEPOSIT_NOT_FOUND" | "DEPOSIT_TAKEN";

/** About the time in which a fullnode learns of a new transaction, so that a retry is not refused for much longer. */
const KEPT_MS = 2_000;
const MAX_COUNT = 10_000;
