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
 * Builds a block and has it signed by its sender and by the owner of the lane's gas. Throws {@link DryRunRefused} when
 * there is a dry run and it fails.
 */
export async function buildTransaction(
  network: ChainNetwork,
  reader: Pick<NetworkReader, "epoch">,
  { operatorCap, gasCoins }: LaneObjects,
  { addCalls, sender = network.hotWallet }: BlockContent,
  trial: Trial,
): Promise<SignedTransaction> {
  const { epoch, gasPriceMist } = await reader.epoch();
  const tx = new Transaction();
  tx.setSender(sender.toSuiAddress());
  tx.setGasOwner(network.gasOwnerAddress);
  tx.setGasPayment([...gasCoins]);
  tx.setGasPrice(gasPriceMist);
  tx.setExpiration({ Epoch: Number(epoch + VALID_EPOCHS_AHEAD) });
  addCalls(createTreasuryCalls(tx, network, operatorCap));
  if (trial === "on-chain") tx.setGasBudget(FIXED_BUDGET_MIST);
  const bytes = trial === "dry-run" ? await dryRun(tx, network) : await tx.build();
  const signers = new Map([sender, network.gasOwner].map((signer) => [signer.toSuiAddress(), signer]));
  const signed = await Promise.all([...signers.values()].map((signer) => signer.signTransaction(bytes)));
  const signatures = signed.map(({ signature }) => signature);
  // Of the bytes: the transaction would serialize itself once more, a hundred kilobytes of base64.
  const digest = TransactionDataBuilder.getDigestFromBytes(bytes);
  return { digest, sender: sender.toSuiAddress(), bytes, signatures };
}

/** A transaction that is signed and not yet stored. */
export interface SignedTransaction {
  readonly digest: string;
  readonly sender: string;
  readonly bytes: Uint8Array;
  readonly signatures: readonly string[];
}

/** What goes into a transaction, and whose it is. */
export interface BlockContent {
  addCalls(calls: ChainCalls): void;
  /** Default the hot wallet. */
  readonly sender?: Signer | undefined;
}

/** The chain's verdict on a dry run: nothing was signed, nothing was paid. */
export class DryRunRefused extends Error {
  override readonly name = "DryRunRefused";
  readonly failure: ExecutionFailure;

  constructor(failure: ExecutionFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** A transaction may land in the epoch in which it was built and the next one, and never after. */
const VALID_EPOCHS_AHEAD = 1n;

/** How a block gets its gas budget. */
export type Trial =
  /** By a dry run, which also finds aborts before anything is paid. */
  | "dry-run"
  /** A fixed one: the chain itself is to say what it makes of the block. */
  | "on-chain";

/** Enough for any one operation; what is not used is not paid. */
const FIXED_BUDGET_MIST = 300_000_000n;

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

/** The codes by which a fullnode says that it is the transaction that is wrong, not the fullnode. */
const REFUSALS = ["INVALID_ARGUMENT", "NOT_FOUND", "FAILED_PRECONDITION", "OUT_OF_RANGE"];

function isRefusal(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && REFUSALS.includes(String(cause.code));
}
