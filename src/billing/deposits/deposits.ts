import type { PaymentReader } from "../../chain/payment-reader.ts";
import type { Database } from "../../store/database.ts";
import type { Secret } from "../../telemetry/secret.ts";
import type { PriceSource } from "../prices/price-source.ts";
import type { AcceptedCoin } from "./accepted-coins.ts";
import type { RecentRefusals } from "./recent-refusals.ts";
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
  readonly reader: PaymentReader;
  /** Returns the reader for calls of a project, which counts against the project's budget of reads. */
  readonly readerFor: (projectId: string) => Pick<PaymentReader, "payments">;
  /** Recent refusals, which are repeated without reading the chain. */
  readonly recentRefusals: RecentRefusals;
}
