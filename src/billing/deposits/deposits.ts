import type { PaymentReader } from "../../chain/payment-reader.ts";
import type { Database } from "../../store/database.ts";
import type { Secret } from "../../telemetry/secret.ts";
import type { PriceSource } from "../prices/price-source.ts";
import type { AcceptedCoin } from "./accepted-coins.ts";
import type { RecentRefusals } from "./recent-refusals.ts";

/** The accepted coins of a network, their prices, and the key of the deposit addresses. */
export interface Deposits {
  readonly database: Database;
  readonly network: string;
  /** 32 bytes. */
  readonly masterSeed: Secret<Uint8Array>;
  readonly coins: readonly AcceptedCoin[];
  readonly prices: PriceSource;
  readonly minimumMicroUsd: bigint;
  /** How many deposit addresses with a reference a project may have. */
  readonly maxReferences: number;
  readonly reader: PaymentReader;
  /** For calls of a project, within the project's budget of reads. */
  readonly readerFor: (projectId: string) => Pick<PaymentReader, "payments">;
  /** Refusals that need no new look. */
  readonly recentRefusals: RecentRefusals;
}
