import type { ConfigVariable } from "./config-variable.ts";
import type { ConfigReader } from "./reader.ts";
import type { VariableName } from "./variables.ts";

/** Reads the settings of a network's sweeps. */
export function readSweepConfig(
  read: ConfigReader<VariableName>,
  network: keyof typeof DESTINATION,
): SweepConfig {
  const destination = read.optional(DESTINATION[network]);
  if (destination !== undefined && (!ADDRESS.test(destination) || ZERO_ADDRESS.test(destination)))
    read.fault(DESTINATION[network], destination, "a Sui address, 0x and 64 hex digits, not zero");
  return {
    destination: destination?.toLowerCase(),
    minValueMicroUsd: BigInt(read.integer("BILLING_SWEEP_MIN_MICRO_USD", 0, 1_000_000_000_000)),
    intervalMs: 1000 * read.integer("BILLING_SWEEP_INTERVAL_SECONDS", 1, 86_400),
  };
}

/** The destination and the threshold of sweeps. */
export interface SweepConfig {
  /** A Sui address in lower case. Undefined: nothing is swept. */
  readonly destination: string | undefined;
  /** Coins of one address and type wait until their credit reaches this sum. */
  readonly minValueMicroUsd: bigint;
  readonly intervalMs: number;
}

const DESTINATION = {
  localnet: "BILLING_SWEEP_DESTINATION_LOCALNET",
  testnet: "BILLING_SWEEP_DESTINATION_TESTNET",
  mainnet: "BILLING_SWEEP_DESTINATION_MAINNET",
} as const;

/** The variables that {@link readSweepConfig} reads. */
export const SWEEP_VARIABLES = [
  {
    name: DESTINATION.localnet,
    description:
      "Sui address to which the service moves credited deposits; unset: they stay at the deposit addresses",
  },
  { name: DESTINATION.testnet, description: "The same on testnet" },
  { name: DESTINATION.mainnet, description: "The same on mainnet" },
  {
    name: "BILLING_SWEEP_MIN_MICRO_USD",
    default: "1000000",
    description: "Minimum credited value of the coins of one deposit address and type for a sweep",
    perNetwork: "override",
  },
  {
    name: "BILLING_SWEEP_INTERVAL_SECONDS",
    default: "600",
    description: "Interval between sweeps, 1 to 86400",
    perNetwork: "override",
  },
] as const satisfies readonly ConfigVariable[];

/** Nobody owns this address, so coins sent there are lost. */
const ZERO_ADDRESS = /^0x0+$/;
const ADDRESS = /^0x[0-9a-f]{64}$/i;
