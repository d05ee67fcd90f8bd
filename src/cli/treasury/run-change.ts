import { writeFile } from "node:fs/promises";
import { SimulationError } from "@mysten/sui/client";
import type { Keypair } from "@mysten/sui/cryptography";
import { Transaction } from "@mysten/sui/transactions";
import { toBase64 } from "@mysten/sui/utils";
import { toFailure } from "../../chain/outcome.ts";
import { type CommandContext, UsageError } from "../command.ts";
import { confirm } from "../confirm.ts";
import type { ChangeValues } from "./change-options.ts";
import { dryRun } from "./dry-run.ts";
import { describeExecuted, type ExecutedChange, executeSigned } from "./execute-signed.ts";
import { explainFailure } from "./explain-abort.ts";
import type { TreasuryChain } from "./open-treasury-chain.ts";
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
