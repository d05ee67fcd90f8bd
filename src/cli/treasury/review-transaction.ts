import { bcs } from "@mysten/sui/bcs";
import { equalBytes } from "../../protocol/bytes.ts";
import { formatPairs } from "../table.ts";
import { ForeignBytesError } from "./foreign-bytes-error.ts";
import { showAmount } from "./parameter-kinds.ts";
import { type ReviewSubject, reviewCommands } from "./review-commands.ts";

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
export interface ReviewedTransaction {
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
