import { randomInt } from "node:crypto";
import { SimulationError } from "@mysten/sui/client";
import type { Signer } from "@mysten/sui/cryptography";
import { Transaction, TransactionDataBuilder } from "@mysten/sui/transactions";
import type { ChainCalls } from "../calls.ts";
import type { ChainNetwork } from "../network.ts";
import { type ExecutionFailure, toFailure } from "../outcome.ts";
import type { NetworkReader } from "../reader.ts";
import { createTreasuryCalls } from "../treasury/treasury-calls.ts";
import { withDeadline } from "../with-deadline.ts";
import { INVALID_TRANSACTION } from "./classify.ts";
import type { LaneObjects } from "./lane-table.ts";

/**
 * Builds a block and signs it as its sender and as the owner of the lane's gas. Throws {@link DryRunRefused} if a dry
 * run fails.
 */
export async function buildTransaction(
  network: ChainNetwork,
  reader: Pick<NetworkReader, "epoch" | "chainIdentifier">,
  { operatorCap, gasCoins }: LaneObjects,
  { addCalls, sender = network.hotWallet, gas = "coins" }: BlockContent,
  trial: Trial,
): Promise<SignedTransaction> {
  const { gasOwner } = network;
  if (sender === undefined || gasOwner === undefined) throw new Error("this process has no key to sign with");
  const { epoch, gasPriceMist } = await reader.epoch();
  const tx = new Transaction();
  tx.setSender(sender.toSuiAddress());
  tx.setGasOwner(network.gasOwnerAddress);
  tx.setGasPayment(gas === "coins" ? [...gasCoins] : []);
  tx.setGasPrice(gasPriceMist);
  if (gas === "coins") tx.setExpiration({ Epoch: Number(epoch + VALID_EPOCHS_AHEAD) });
  else tx.setExpiration({ ValidDuring: await onceDuring(reader, epoch) });
  addCalls(createTreasuryCalls(tx, network, operatorCap));
  if (trial === "on-chain") tx.setGasBudget(FIXED_BUDGET_MIST);
  const bytes = trial === "dry-run" ? await dryRun(tx, network) : await tx.build();
  const signers = new Map([sender, gasOwner].map((signer) => [signer.toSuiAddress(), signer]));
  const signed = await Promise.all([...signers.values()].map((signer) => signer.signTransaction(bytes)));
  const signatures = signed.map(({ signature }) => signature);
  // Hashes the bytes here, because the transaction would serialize itself again, as a hundred kilobytes of base64.
  const digest = TransactionDataBuilder.getDigestFromBytes(bytes);
  return { digest, sender: sender.toSuiAddress(), bytes, signatures };
}

/** A signed transaction that is not yet stored. */
export interface SignedTransaction {
  readonly digest: string;
  readonly sender: string;
  readonly bytes: Uint8Array;
  readonly signatures: readonly string[];
}

/** The contents of a transaction, and its sender. */
export interface BlockContent {
  addCalls(calls: ChainCalls): void;
  /** Default: the hot wallet. */
  readonly sender?: Signer | undefined;
  /** What pays for the gas. Default: the lane's coins. */
  readonly gas?: "coins" | "address balance";
}

/** Thrown when the chain refuses a dry run. Nothing was signed or paid. */
export class DryRunRefused extends Error {
  override readonly name = "DryRunRefused";
  readonly failure: ExecutionFailure;

  constructor(failure: ExecutionFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** A transaction that coins pay for can land in the epoch in which it was built and in the next one, never later. */
const VALID_EPOCHS_AHEAD = 1n;

/** The source of a block's gas budget. */
export type Trial =
  /** A dry run, which also finds aborts before anything is paid. */
  | "dry-run"
  /** A fixed budget, without a check: only the execution shows whether the chain accepts the block. */
  | "on-chain";

/** Enough for any single operation. The sender pays only for the gas that is used. */
const FIXED_BUDGET_MIST = 300_000_000n;

/**
 * An address balance has no version that a transaction could use up, so the chain wants its epochs, its chain and a
 * nonce to execute it at most once. No spent coin proves that it is dead, so it can land in this epoch only: then it
 * cannot block its lane for longer.
 */
async function onceDuring(reader: Pick<NetworkReader, "chainIdentifier">, epoch: bigint) {
  return {
    ...{ minEpoch: String(epoch), maxEpoch: String(epoch), minTimestamp: null, maxTimestamp: null },
    ...{ chain: await reader.chainIdentifier(), nonce: randomInt(2 ** 32) },
  };
}

async function dryRun(tx: Transaction, network: ChainNetwork): Promise<Uint8Array> {
  try {
    return await withDeadline(network.clock, network.times.buildMs, (signal) =>
      network.backOff.run(() => tx.build({ client: network.client }), signal),
    );
  } catch (error) {
    if (!(error instanceof SimulationError)) throw error;
    if (error.executionError) throw new DryRunRefused(toFailure(error.executionError));
    if (isRefusal(error.cause))
      throw new DryRunRefused({ kind: INVALID_TRANSACTION, message: error.message });
    throw error;
  }
}

/** The codes of a fullnode for a wrong transaction, as opposed to a fault of the fullnode. */
const REFUSALS = ["INVALID_ARGUMENT", "NOT_FOUND", "FAILED_PRECONDITION", "OUT_OF_RANGE"];

function isRefusal(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && REFUSALS.includes(String(cause.code));
}
