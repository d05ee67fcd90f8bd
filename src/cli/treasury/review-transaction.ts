import { readFile, stat } from "node:fs/promises";
import { bcs } from "@mysten/sui/bcs";
import { fromBase64 } from "@mysten/sui/utils";
import { equalBytes } from "../../protocol/bytes.ts";
import type { CommandContext } from "../command-line/command.ts";
import { WrongValue } from "../command-line/option.ts";
import { formatPairs } from "../output/format.ts";
import type { TargetValues } from "./change-options.ts";
import { openTreasury, reviewSubject } from "./open-treasury.ts";
import type { TreasuryChain } from "./open-treasury-chain.ts";
import { showAmount } from "./parameter-kinds.ts";
import { ForeignBytesError, type ReviewSubject, reviewCommands } from "./review-commands.ts";

/**
 * Decodes a transaction for people: its sender, every call with every value, and its maximum cost. Throws a
 * {@link ForeignBytesError} if it does anything but call this Treasury, or publish or upgrade its package.
 */
export function reviewTransaction(bytes: Uint8Array, subject: ReviewSubject): ReviewedTransaction {
  const { sender, kind, gasData, expiration } = parseExactly(bytes);
  const calls = reviewKind(kind, subject);
  const budget = BigInt(gasData.budget);
  const payer = gasData.owner === sender ? "the sender" : gasData.owner;
  return {
    sender,
    gasOwner: gasData.owner,
    text: [
      formatPairs([
        ["network", `${subject.network}, chain ${subject.chainIdentifier}`],
        ["treasury", subject.treasuryId],
        ["sender", sender],
        ["gas", `at most ${showAmount(budget, "SUI")}, paid by ${payer}`],
        ["valid", describeExpiration(expiration, subject)],
      ]),
      calls,
    ].join("\n\n"),
  };
}

/** Decodes a transaction without gas data. Throws a {@link ForeignBytesError}. */
export function reviewTransactionKind(kindBytes: Uint8Array, sender: string, subject: ReviewSubject): string {
  const head = formatPairs([
    ["network", `${subject.network}, chain ${subject.chainIdentifier}`],
    ["treasury", subject.treasuryId],
    ["sender", sender],
  ]);
  return `${head}\n\n${reviewKind(bcs.TransactionKind.parse(kindBytes), subject)}`;
}

/** A transaction that concerns only the Treasury. */
interface ReviewedTransaction {
  readonly sender: string;
  readonly gasOwner: string;
  /** The review for people. */
  readonly text: string;
}

type TransactionV1 = NonNullable<typeof bcs.TransactionData.$inferType.V1>;

function parseExactly(bytes: Uint8Array): TransactionV1 {
  let data: TransactionV1 | undefined;
  let again: Uint8Array;
  try {
    const parsed = bcs.TransactionData.parse(bytes);
    data = parsed.V1;
    again = bcs.TransactionData.serialize(parsed).toBytes();
  } catch {
    throw new ForeignBytesError("these are not the bytes of a transaction");
  }
  if (data === undefined || !equalBytes(again, bytes))
    throw new ForeignBytesError("these are not the bytes of exactly one transaction");
  return data;
}

function reviewKind(kind: TransactionV1["kind"], subject: ReviewSubject): string {
  const program = kind.ProgrammableTransaction;
  if (program === undefined) throw new ForeignBytesError("the transaction is not a program of calls");
  return reviewCommands(program, subject);
}

function describeExpiration(expiration: TransactionV1["expiration"], subject: ReviewSubject): string {
  switch (expiration.$kind) {
    case "None":
      return "until one of its objects changes, such as its gas coins";
    case "Epoch":
      return `up to epoch ${expiration.Epoch}`;
    default: {
      const during = expiration.ValidDuring ?? expiration.Validity;
      if (during.chain !== subject.chainIdentifier)
        throw new ForeignBytesError(
          `the transaction is for the chain ${during.chain}, not for ${subject.network}, ${subject.chainIdentifier}`,
        );
      return `from epoch ${during.minEpoch ?? "any"} to epoch ${during.maxEpoch ?? "any"}`;
    }
  }
}

/** Opens the chain, and the Treasury if one is known. The bytes of a publication precede the Treasury. */
export async function openForReview(
  values: TargetValues,
  context: CommandContext,
): Promise<{ readonly chain: TreasuryChain; readonly subject: ReviewSubject }> {
  const { openTreasuryChain } = await import("./open-treasury-chain.ts");
  const chain = await openTreasuryChain(values, context);
  if (chain.treasuryId === undefined) return { chain, subject: reviewSubject(chain) };
  const opened = await openTreasury(values, context);
  return { chain: opened, subject: reviewSubject(opened) };
}

/** Reads the bytes of a transaction from a file, in base64. */
export async function readTransactionFile(file: string): Promise<Uint8Array> {
  if ((await stat(file)).size > MAX_CHARACTERS)
    throw new ForeignBytesError(`${file} is too long for a transaction`);
  const text = (await readFile(file, "utf8")).trim();
  if (!BASE64.test(text))
    throw new ForeignBytesError(`${file} must contain the bytes of a transaction in base64`);
  return fromBase64(text);
}

/** Parses signatures in base64, separated by commas. */
export function signatureList(text: string): string[] {
  const all = text.split(",").map((one) => one.trim());
  if (all.some((one) => !BASE64.test(one)))
    throw new WrongValue("takes signatures in base64, separated by commas");
  return all;
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** A transaction of Sui has at most 128 KiB. */
const MAX_CHARACTERS = 200_000;
