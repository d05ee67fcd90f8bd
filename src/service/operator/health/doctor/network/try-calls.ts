import { SimulationError } from "@mysten/sui/client";
import { Transaction } from "@mysten/sui/transactions";
import type { ChainNetwork } from "../../../../chain/fullnodes/network.ts";
import { type ExecutionFailure, toFailure } from "../../../../chain/outcome.ts";
import { createNetworkReader } from "../../../../chain/reader.ts";
import { type ChainCalls, createTreasuryCalls } from "../../../../chain/treasury/treasury-calls.ts";
import { NotChecked } from "../../checks/health-check.ts";

/** Dry-runs calls of the service through the first OperatorCap. Signs and pays nothing. */
export async function tryCalls(
  network: ChainNetwork,
  addCalls: (calls: ChainCalls) => void,
): Promise<DryRunOutcome> {
  const { core } = network.client;
  const [capId = ""] = network.treasury.operatorCapIds;
  const cap = (await createNetworkReader(network).ownedObjects([capId])).get(capId);
  if (cap === undefined) throw new NotChecked("the fullnode lacks the first OperatorCap");
  const transaction = new Transaction();
  transaction.setSender(network.senderAddress);
  transaction.setGasOwner(network.gasOwnerAddress);
  addCalls(createTreasuryCalls(transaction, network, cap));
  try {
    const include = { effects: true, events: true, bcs: true } as const;
    const result = await core.simulateTransaction({ transaction, include });
    const { status, effects, events, bcs } = result.Transaction ?? result.FailedTransaction;
    if (!status.success) return { kind: "failed", failure: toFailure(status.error) };
    const { computationCost, storageCost } = effects.gasUsed;
    return {
      kind: "done",
      use: {
        // The rebate comes after the execution, so the budget must cover these without it.
        gas: BigInt(computationCost) + BigInt(storageCost),
        bytes: BigInt(bcs?.length ?? 0),
        "new objects": countOf(effects.changedObjects.filter(({ idOperation }) => idOperation === "Created")),
        events: countOf(events),
        "bytes of one event": events.reduce((most, event) => max(most, countOf(event.bcs)), 0n),
      },
    };
  } catch (error) {
    if (!(error instanceof SimulationError) || error.executionError === undefined) throw error;
    return { kind: "failed", failure: toFailure(error.executionError) };
  }
}

/** The result of a dry run. */
export type DryRunOutcome =
  | { readonly kind: "done"; readonly use: TransactionUse }
  | { readonly kind: "failed"; readonly failure: ExecutionFailure };

/** What a transaction uses of Sui's limits. */
export type TransactionUse = Readonly<Record<keyof typeof LIMITS, bigint>>;

/** Sui's limits of one transaction (`sui-protocol-config/src/lib.rs`): gas in MIST. */
const LIMITS = {
  gas: 50_000_000_000n,
  bytes: 131_072n,
  "new objects": 2_048n,
  events: 1_024n,
  "bytes of one event": 256_000n,
} as const;

/** The share of a limit in percent from which on a transaction is close to it. */
const NEAR_PERCENT = 80n;

/** Returns the limits that a transaction comes close to, with its use of each. */
export function nearLimits(use: TransactionUse): string[] {
  const names = Object.keys(LIMITS) as (keyof typeof LIMITS)[];
  return names
    .filter((name) => use[name] * 100n >= LIMITS[name] * NEAR_PERCENT)
    .map((name) => `${use[name]} of ${LIMITS[name]} ${name === "gas" ? "MIST of gas" : name}`);
}

/** Describes what a transaction uses. */
export function describeUse({ gas, bytes, events, ...use }: TransactionUse): string {
  return [
    `${Number(gas) / 1e9} SUI of gas`,
    `${bytes} bytes`,
    `${use["new objects"]} new objects`,
    `${events} events of at most ${use["bytes of one event"]} bytes`,
  ].join(", ");
}

/** Describes a failure: the abort if there is one. */
export function textOf({ message, abort }: ExecutionFailure): string {
  return abort === undefined ? message : `${abort.module} aborts with code ${abort.code}`;
}

const countOf = ({ length }: { readonly length: number }): bigint => BigInt(length);
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
