import { randomInt } from "node:crypto";
import { SimulationError } from "@mysten/sui/client";
import { type Signer, toSerializedSignature } from "@mysten/sui/cryptography";
import { GrpcTypes } from "@mysten/sui/grpc";
import { Transaction } from "@mysten/sui/transactions";
import { transactionDigest, transactionSigningDigest } from "../../../protocol/chain/sui-hash.ts";
import type { Database } from "../../platform/store/database.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import type { ChainNetwork } from "../fullnodes/network.ts";
import { withDeadline } from "../fullnodes/with-deadline.ts";
import type { OperationFailure, OperationKind, OperationName } from "../operation.ts";
import { type ExecutionFailure, toFailure } from "../outcome.ts";
import type { NetworkReader } from "../reader.ts";
import { type ChainCalls, createMoveCalls, createTreasuryCalls } from "../treasury/treasury-calls.ts";
import { INVALID_TRANSACTION } from "./classify.ts";
import type { LaneObjects } from "./lane-table.ts";
import { type BlockFrame, blockMessage, createMoveBlock, encodeBlock, type MoveBlock } from "./move-block.ts";
import { failOperation, type QueuedOperation } from "./outbox.ts";

/**
 * Builds a block and signs it as its sender and as the owner of the lane's gas. Throws {@link DryRunRefused} if a dry
 * run fails.
 */
export async function buildTransaction(
  network: ChainNetwork,
  reader: Pick<NetworkReader, "epoch" | "chainIdentifier">,
  objects: LaneObjects,
  content: BlockContent,
  trial: Trial,
): Promise<SignedTransaction> {
  const { gasOwner } = network;
  const { sender = network.hotWallet } = content;
  if (sender === undefined || gasOwner === undefined) throw new Error("this process has no key to sign with");
  const { epoch, gasPriceMist } = await reader.epoch();
  const frame: BlockFrame = {
    sender: sender.toSuiAddress(),
    gasOwner: network.gasOwnerAddress,
    gasCoins: objects.gasCoins,
    gasPriceMist,
    lastEpoch: epoch + VALID_EPOCHS_AHEAD,
  };
  const moves = movesOf(network, objects, content);
  const bytes =
    (moves && (await buildMoves(network, moves, frame, trial))) ??
    (await buildAny(network, reader, { frame, epoch, objects, content, trial }));
  const signers = new Map([sender, gasOwner].map((signer) => [signer.toSuiAddress(), signer]));
  const signatures = await signTransaction(bytes, [...signers.values()]);
  return { digest: transactionDigest(bytes), sender: frame.sender, bytes, signatures };
}

/**
 * Returns each signer's signature of a transaction in Sui's form. Equals `signer.signTransaction`, which hashes a hundred
 * kilobytes in JavaScript.
 */
export function signTransaction(bytes: Uint8Array, signers: readonly Signer[]): Promise<string[]> {
  const hash = transactionSigningDigest(bytes);
  return Promise.all(
    signers.map(async (signer) =>
      toSerializedSignature({
        signature: await signer.sign(hash),
        signatureScheme: signer.getKeyScheme(),
        publicKey: signer.getPublicKey(),
      }),
    ),
  );
}

/** Returns a block of nothing but Move calls that coins pay for; undefined for any other. */
function movesOf(
  network: ChainNetwork,
  { operatorCap }: LaneObjects,
  { addCalls, gas = "coins" }: BlockContent,
): MoveBlock | undefined {
  const block = createMoveBlock();
  let hasOthers = gas !== "coins";
  const other = () => {
    hasOthers = true;
  };
  const calls = createMoveCalls(block.builder, network, operatorCap);
  addCalls({ ...calls, splitGas: other, redeemGas: other, transferCoins: other });
  return hasOthers || block.calls.length === 0 ? undefined : block;
}

/** Returns undefined if the fullnode refuses the dry run. */
async function buildMoves(
  { client, clock, times, backOff }: ChainNetwork,
  block: MoveBlock,
  frame: BlockFrame,
  trial: Trial,
): Promise<Uint8Array | undefined> {
  if (trial === "on-chain") return encodeBlock(block, frame, FIXED_BUDGET_MIST);
  const request = {
    transaction: blockMessage(block, frame),
    doGasSelection: true,
    checks: GrpcTypes.SimulateTransactionRequest_TransactionChecks.ENABLED,
    readMask: { paths: ["transaction.transaction.gas_payment", "transaction.effects.status"] },
  };
  try {
    const { response } = await withDeadline(clock, times.buildMs, (signal) =>
      backOff.run(
        async () => client.transactionExecutionService.simulateTransaction(request, { abort: signal }),
        signal,
      ),
    );
    const budgetMist = response.transaction?.transaction?.gasPayment?.budget;
    if (response.transaction?.effects?.status?.success !== true || !budgetMist) return undefined;
    return encodeBlock(block, frame, budgetMist);
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

/** Builds any block with the SDK, which also reads the reason of a refused dry run. */
async function buildAny(
  network: ChainNetwork,
  reader: Pick<NetworkReader, "chainIdentifier">,
  { frame, epoch, objects, content, trial }: AnyBlock,
): Promise<Uint8Array> {
  const { addCalls, gas = "coins" } = content;
  const tx = new Transaction();
  tx.setSender(frame.sender);
  tx.setGasOwner(frame.gasOwner);
  tx.setGasPayment(gas === "coins" ? [...frame.gasCoins] : []);
  tx.setGasPrice(frame.gasPriceMist);
  if (gas === "coins") tx.setExpiration({ Epoch: Number(frame.lastEpoch) });
  else tx.setExpiration({ ValidDuring: await onceDuring(reader, epoch) });
  addCalls(createTreasuryCalls(tx, network, objects.operatorCap));
  if (trial === "on-chain") tx.setGasBudget(FIXED_BUDGET_MIST);
  return trial === "dry-run" ? dryRun(tx, network) : tx.build();
}

interface AnyBlock {
  readonly frame: BlockFrame;
  readonly epoch: bigint;
  readonly objects: LaneObjects;
  readonly content: BlockContent;
  readonly trial: Trial;
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
  {
    database,
    kinds,
    log,
  }: {
    readonly database: Database;
    readonly kinds: ReadonlyMap<OperationName, OperationKind>;
    readonly log: Log;
  },
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
