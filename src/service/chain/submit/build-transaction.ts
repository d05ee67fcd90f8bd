import { randomInt } from "node:crypto";
import { SimulationError } from "@mysten/sui/client";
import type { Signer } from "@mysten/sui/cryptography";
import { Transaction, TransactionDataBuilder } from "@mysten/sui/transactions";
import type { Database } from "../../platform/store/database.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import type { ChainNetwork } from "../fullnodes/network.ts";
import { withDeadline } from "../fullnodes/with-deadline.ts";
import type { OperationFailure, OperationKind, OperationName } from "../operation.ts";
import { type ExecutionFailure, toFailure } from "../outcome.ts";
import type { NetworkReader } from "../reader.ts";
import { type ChainCalls, createTreasuryCalls } from "../treasury/treasury-calls.ts";
import { INVALID_TRANSACTION } from "./classify.ts";
import type { LaneObjects } from "./lane-table.ts";
import { failOperation, type QueuedOperation } from "./outbox.ts";

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
    minEpoch: String(epoch),
    maxEpoch: String(epoch),
    minTimestamp: null,
    maxTimestamp: null,
    chain: await reader.chainIdentifier(),
    nonce: randomInt(2 ** 32),
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

/**
 * Takes as many operations of one kind from the front as fit into one transaction. Returns undefined if none is left.
 * An operation whose row is gone can never be built, so it fails and does not block the others.
 */
export async function composeBlock(
  { database, kinds, log }: ComposeOptions,
  operations: readonly QueuedOperation[],
): Promise<Block | undefined> {
  const [first] = operations;
  if (first === undefined) return undefined;
  const kind = kinds.get(first.kind);
  if (!kind) throw new Error(`no operation kind ${first.kind}`);
  const subjects = await kind.load(
    database,
    operations.map((operation) => operation.subjectId),
  );
  for (const { id, kind: name, subjectId } of operations.filter((o) => !subjects.has(o.subjectId))) {
    log.error({ kind: name, subjectId }, "an operation's row does not exist");
    const detail = "the operation's row does not exist";
    await failOperation(database, id, "SUBJECT_MISSING", detail);
  }
  const sendable: QueuedOperation[] = [];
  for (const operation of operations) {
    const subject = subjects.get(operation.subjectId);
    const obstacle = subject === undefined ? undefined : kind.obstacle?.(subject);
    if (obstacle !== undefined) await fail(operation, subject, obstacle);
    else if (subject !== undefined) sendable.push(operation);
  }
  const together = kind.senderOf ? sendable.slice(0, 1) : sendable;
  const fitting = cutToSize(together, (operation) => kind.sizeBytes(subjects.get(operation.subjectId)));
  if (fitting.length === 0) return undefined;
  const chosen = fitting.map((operation) => subjects.get(operation.subjectId));
  return {
    operations: fitting,
    sender: kind.senderOf?.(chosen[0]),
    addCalls: (calls) => kind.add(calls, chosen),
  };

  async function fail(
    { id, kind: name }: QueuedOperation,
    subject: unknown,
    why: OperationFailure,
  ): Promise<void> {
    log.error({ kind: name, operation: id, reason: why.reason }, why.message);
    await database.transaction(async (db) => {
      if (await failOperation(db, id, why.reason, why.message)) await kind?.failed(db, subject, why);
    });
  }
}

/** The operations of one transaction. */
export interface Block extends BlockContent {
  readonly operations: readonly QueuedOperation[];
}

interface ComposeOptions {
  readonly database: Database;
  readonly kinds: ReadonlyMap<OperationName, OperationKind>;
  readonly log: Pick<Log, "error">;
}

/** The chain's limit is 128 KiB. The difference is for gas, signatures and the calls themselves. */
const BLOCK_BYTES = 100 * 1024;

/** Takes operations from the front while they fit, at least one. */
function cutToSize(
  operations: readonly QueuedOperation[],
  sizeOf: (operation: QueuedOperation) => number,
): QueuedOperation[] {
  let bytes = 0;
  const fitting: QueuedOperation[] = [];
  for (const operation of operations) {
    bytes += sizeOf(operation);
    if (fitting.length > 0 && bytes > BLOCK_BYTES) break;
    fitting.push(operation);
  }
  return fitting;
}
