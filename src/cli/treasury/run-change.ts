import { writeFile } from "node:fs/promises";
import { SimulationError } from "@mysten/sui/client";
import type { Keypair } from "@mysten/sui/cryptography";
import { Transaction, TransactionDataBuilder } from "@mysten/sui/transactions";
import { toBase64 } from "@mysten/sui/utils";
import { type ExecutionFailure, type TransactionResult, toFailure } from "../../service/chain/outcome.ts";
import { type CommandContext, UsageError } from "../command-line/command.ts";
import { confirm } from "../confirm.ts";
import { messageOf } from "../connections/unreachable-error.ts";
import { formatPairs } from "../output/format.ts";
import type { ChangeValues } from "./change-options.ts";
import type { TreasuryChain } from "./open-treasury-chain.ts";
import { showAmount } from "./parameter-kinds.ts";
import type { ReviewSubject } from "./review-commands.ts";
import { reviewTransaction, reviewTransactionKind } from "./review-transaction.ts";

/**
 * Builds a transaction, prints it decoded, and dry-runs it. Then asks for confirmation, signs and sends it, or writes
 * its unsigned bytes. Returns its effects, or undefined if nothing was sent.
 */
export async function runChange(options: ChangeRun): Promise<ExecutedChange | undefined> {
  const { chain, subject, context, values, signer, holder, next } = options;
  const sender = signer?.toSuiAddress() ?? values.sender ?? holder?.address;
  if (sender === undefined) throw new UsageError("--sender is missing: anyone may send this transaction");
  if (holder !== undefined && holder.address !== sender)
    throw new Error(`${holder.what} is ${holder.address}, but the transaction's sender would be ${sender}`);
  const bytes = await buildOrExplain(options, sender);
  const review = reviewTransaction(bytes, subject);
  context.print(review.text);
  context.print(`\nThe dry run succeeds. ${await dryRun(chain, bytes)}`);
  if (values.dryRun) return undefined;
  if (signer === undefined) {
    await writeUnsigned(values.unsigned ?? "", bytes, context);
    return undefined;
  }
  if (!values.yes && !(await confirm(context, `Send this transaction to ${chain.name}?`)))
    throw new Error("nothing was sent");
  const { signature } = await signer.signTransaction(bytes);
  const executed = await executeSigned(chain, bytes, [signature], context);
  context.print(describeExecuted(executed));
  for (const line of next?.(executed) ?? []) context.print(line);
  return executed;
}

export interface ChangeRun {
  readonly chain: TreasuryChain;
  readonly subject: ReviewSubject;
  readonly context: CommandContext;
  readonly values: ChangeValues;
  /** Undefined for unsigned bytes and for a dry run. */
  readonly signer: Keypair | undefined;
  /** The required sender; undefined if anyone may send the transaction. */
  readonly holder: { readonly what: string; readonly address: string } | undefined;
  /** Adds the calls. @param sender the address that sends, and pays for, the transaction */
  add(tx: Transaction, sender: string): void | Promise<void>;
  /** Returns lines to print after the execution. */
  next?(executed: ExecutedChange): readonly string[];
}

/** Above this, the command requires an explicit budget. No call of the Treasury costs as much. */
const MAX_BUDGET_MIST = 5_000_000_000n;

async function buildOrExplain(options: ChangeRun, sender: string): Promise<Uint8Array> {
  const { chain, subject, context, values, add } = options;
  const tx = new Transaction();
  tx.setSender(sender);
  tx.setGasOwner(sender);
  await add(tx, sender);
  const kind = await tx.build({ onlyTransactionKind: true });
  if (values.gasBudget !== undefined) tx.setGasBudget(values.gasBudget);
  let bytes: Uint8Array;
  try {
    bytes = await tx.build({ client: chain.client });
  } catch (error) {
    if (!(error instanceof SimulationError)) throw error;
    context.print(reviewTransactionKind(kind, sender, subject));
    const why = error.executionError ? explainFailure(toFailure(error.executionError)) : error.message;
    throw new Error(`the dry run fails, and nothing was sent: ${why}`, { cause: error });
  }
  assertModestGas(bytes, values.gasBudget);
  return bytes;
}

/** Throws if the fullnode, which chooses the gas budget, chose an excessive one. */
function assertModestGas(bytes: Uint8Array, gasBudget: bigint | undefined): void {
  const { budget } = Transaction.from(bytes).getData().gasData;
  if (gasBudget === undefined && BigInt(budget ?? 0) > MAX_BUDGET_MIST)
    throw new Error("the fullnode wants more than 5 SUI for gas: set --gas-budget, or use another fullnode");
}

async function writeUnsigned(file: string, bytes: Uint8Array, { print }: CommandContext): Promise<void> {
  await writeFile(file, `${toBase64(bytes)}\n`, { flag: "wx" });
  print(
    [
      `The unsigned bytes are in ${file}. Every signer reviews them with \`tss treasury sign --bytes ${file}\` and a key file,`,
      `or signs them with another wallet. Then \`tss treasury submit --bytes ${file} --signature ...\` sends them.`,
    ].join("\n"),
  );
}

/**
 * Simulates a transaction and describes the cost of its gas. Throws with an explanation if the chain would refuse it.
 */
export async function dryRun(
  { client }: Pick<TreasuryChain, "client">,
  transaction: Uint8Array,
): Promise<string> {
  let why: string;
  try {
    const result = await client.core.simulateTransaction({ transaction, include: { effects: true } });
    const { status, effects } = result.Transaction ?? result.FailedTransaction;
    if (status.success && effects !== undefined) {
      const { computationCost, storageCost, storageRebate } = effects.gasUsed;
      const cost = BigInt(computationCost) + BigInt(storageCost) - BigInt(storageRebate);
      return cost < 0n
        ? `The gas refund exceeds the cost by ${showAmount(-cost, "SUI")}.`
        : `The gas costs about ${showAmount(cost, "SUI")}.`;
    }
    why = status.success ? "the fullnode returned no effects" : explainFailure(toFailure(status.error));
  } catch (error) {
    if (!(error instanceof SimulationError)) throw error;
    why = error.executionError ? explainFailure(toFailure(error.executionError)) : error.message;
  }
  throw new Error(`the dry run fails, and nothing was sent: ${why}`);
}

/** Explains why the chain refuses a transaction, and what to do. */
export function explainFailure({ message, abort, kind }: ExecutionFailure): string {
  const known = abort && ABORTS[abort.module]?.[abort.code];
  if (known !== undefined) return `${known} (${abort?.module}, code ${abort?.code})`;
  if (abort !== undefined)
    return `the module ${abort.module || "of another package"} aborts with code ${abort.code}: ${message}`;
  return GENERAL[kind] ?? message;
}

/** Explanations by module and abort code of `move/treasury`. */
const ABORTS: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  treasury: {
    1: "the Treasury has another version than the package: after an upgrade call `tss treasury migrate` with the newest package, and pass its id with --package",
    2: "the Treasury is paused: `tss treasury unpause` ends the pause",
    3: "the OperatorCap belongs to another Treasury",
    4: "no price ceiling is set for this operation: set it with `tss treasury set-ceiling`",
    5: "the Treasury's balance is too low: `tss treasury status` shows it",
    6: "a batch has 1 to 100 sessions",
    7: "the Treasury already has this version: there is nothing to do",
    8: "the dWallet is on another curve",
  },
  operators: {
    1: "the Treasury does not know this OperatorCap: it was revoked, or belongs to another Treasury; `tss treasury status` lists the known ones",
    2: "the OperatorCap serves another address: it cannot be used by this sender",
    3: "the OperatorCap has expired: `tss treasury renew-operator` gives it a later epoch",
    4: "the operator has spent its limits of this epoch: wait for the next epoch, or raise them with `tss treasury renew-operator`",
    5: "a Treasury has at most 64 operators: revoke one first",
  },
  roles: {
    1: "this AdminCap is invalid: it belongs to another Treasury, or was replaced; `tss treasury status` shows the current one and its holder",
    2: "the sender is not the pauser: the administrator sets it with `tss treasury set-roles`",
    3: "the sender is not the recovery holder: the administrator sets it with `tss treasury set-roles`",
    4: "the administration is not offered, or not to the sender: `tss treasury status` shows a pending offer",
    5: "an offer of the recovery holder can be accepted only after seven epochs: `tss treasury status` shows when",
  },
  custody: {
    1: "the Treasury holds no capability of this dWallet: it has left, or was never here",
    2: "the Treasury holds no capability of this presign: it was used, or was never here",
    3: "the owner of the dWallet has forbidden this permanently",
    4: "nothing of this kind is announced: `tss treasury status` shows the announcements",
    5: "an announcement already exists: withdraw it first to make another one",
    6: "the delay of fourteen epochs has not passed: `tss treasury status` shows when it ends",
    7: "the signature is not the owner's, or signs another message",
    8: "the last epoch of the owner's consent has passed",
    9: "the owner's consent was already used, or is out of order",
    10: "at most 64 releases are announced at the same time: withdraw one first",
    11: "the announcement has expired, fourteen epochs after its delay: withdraw it and make it again",
    12: "the dWallet is of the other kind: one of a DKG and an imported key have calls of their own",
    13: "the Treasury keeps no such half of a signature: it was used, has expired, or the dWallet has left since",
    14: "the dWallet has 64 halves of signatures already, which is the maximum",
    15: "the Treasury keeps a half of a signature for 1 to 31 epochs",
  },
};

/** Explanations of failures other than aborts. */
const GENERAL: Readonly<Record<string, string>> = {
  InsufficientGas: "the gas budget is too low: raise it with --gas-budget",
  FunctionNotFound:
    "the package has no such function: check the package id, or use the version of the command that fits it",
};

/**
 * Sends a signed transaction and waits until the fullnode shows its effects. If it fails or its outcome is unknown,
 * throws an error that names the digest.
 */
export async function executeSigned(
  { client }: Pick<TreasuryChain, "client">,
  transaction: Uint8Array,
  signatures: string[],
  { note }: Pick<CommandContext, "note">,
): Promise<ExecutedChange> {
  const digest = TransactionDataBuilder.getDigestFromBytes(transaction);
  // Printed first, so that the operator can look the transaction up if this process dies before the reply.
  note(`sending the transaction ${digest}`);
  const include = { effects: true, events: true, objectTypes: true } as const;
  let result: TransactionResult & { readonly $kind: string };
  try {
    result = await client.core.executeTransaction({ transaction, signatures, include });
  } catch (cause) {
    const found = await client.core.getTransaction({ digest, include }).catch(() => undefined);
    if (found === undefined)
      throw new Error(
        `the fullnode did not confirm the transaction ${digest}: ${messageOf(cause)}. Look for this digest in an explorer before you repeat anything`,
        { cause },
      );
    result = found;
  }
  const { status, effects, events } = result.Transaction ?? result.FailedTransaction;
  if (!status.success)
    throw new Error(
      `the transaction ${digest} failed on the chain: ${explainFailure(toFailure(status.error))}`,
    );
  // The transaction is already final, but the next command may have to read it from this fullnode.
  await client.core
    .waitForTransaction({ digest, timeout: WAIT_MS })
    .catch(() => note("it is executed, but the fullnode does not show it yet: wait before the next command"));
  const types = typesOf(result);
  const { computationCost, storageCost, storageRebate } = effects.gasUsed;
  return {
    digest,
    gasMist: BigInt(computationCost) + BigInt(storageCost) - BigInt(storageRebate),
    events: events.map(({ eventType, bcs }) => ({ type: eventType, bcs })),
    created: effects.changedObjects
      .filter(({ idOperation }) => idOperation === "Created")
      .map(({ objectId, outputOwner, outputState }) => ({
        id: objectId,
        type: outputState === "PackageWrite" ? "package" : (types[objectId] ?? ""),
        owner: outputOwner?.AddressOwner,
      })),
  };
}

/** The effects of an executed transaction. */
export interface ExecutedChange {
  readonly digest: string;
  readonly gasMist: bigint;
  readonly events: readonly { readonly type: string; readonly bcs: Uint8Array }[];
  readonly created: readonly CreatedObject[];
}

interface CreatedObject {
  readonly id: string;
  /** The Move type, or "package". */
  readonly type: string;
  /** Undefined if no address owns it. */
  readonly owner: string | undefined;
}

/** Describes the effects of an executed transaction. */
export function describeExecuted({ digest, gasMist, events, created }: ExecutedChange): string {
  const counts = new Map<string, number>();
  for (const { type } of events) {
    const name = type.split("::").at(-1) ?? type;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const shown = [...counts].map(([name, count]) => (count === 1 ? name : `${name} (${count} times)`));
  return `\n${formatPairs([
    ["executed", digest],
    ["gas", gasMist < 0n ? `${showAmount(-gasMist, "SUI")} refunded` : showAmount(gasMist, "SUI")],
    ["events", shown.join(", ")],
    ...NAMED.flatMap((name) => created.filter(({ type }) => type.endsWith(name))).map(
      ({ id, type, owner }): [string, string] => [
        `new ${type.split("::").at(-1)}`,
        owner === undefined ? id : `${id}, held by ${owner}`,
      ],
    ),
  ])}`;
}

const WAIT_MS = 60_000;
const NAMED = ["package", "::Treasury", "::AdminCap", "::OperatorCap", "::UpgradeCap"];

function typesOf(result: object): Readonly<Record<string, string>> {
  const { Transaction: transaction } = result as { Transaction?: { objectTypes?: Record<string, string> } };
  return transaction?.objectTypes ?? {};
}
