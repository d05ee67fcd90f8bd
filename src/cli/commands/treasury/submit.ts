import { verifyTransactionSignature } from "@mysten/sui/verify";
import { command, UsageError } from "../../command-line/command.ts";
import { flag, nonEmptyText, optional, required } from "../../command-line/option.ts";
import { confirm } from "../../confirm.ts";
import { messageOf } from "../../connections/unreachable-error.ts";
import { formatPairs } from "../../output/format.ts";
import { TARGET_OPTIONS } from "../../treasury/change-options.ts";
import { MULTISIG_OPTIONS, type MultisigValues, multisigOf, readKeyFile } from "../../treasury/key-files.ts";
import {
  openForReview,
  readTransactionFile,
  reviewTransaction,
  signatureList,
} from "../../treasury/review-transaction.ts";
import { describeExecuted, dryRun, executeSigned } from "../../treasury/run-change.ts";

export const submitCommand = command({
  summary: "review and send bytes that were signed elsewhere",
  details:
    "Refuses bytes that do anything but call this Treasury, or publish or upgrade its package, and signatures that\n" +
    "are not the sender's. With --public-keys and --threshold it combines the signatures of a multisig's keys.",
  options: {
    bytes: required("<file>", "the file of unsigned bytes that another command wrote", nonEmptyText),
    signature: required(
      "<base64>",
      "the sender's signature; several, separated by commas, for a multisig",
      signatureList,
    ),
    ...MULTISIG_OPTIONS,
    yes: flag("send without asking"),
    dryRun: flag("only show what would happen"),
    ...TARGET_OPTIONS,
  },
  async run(values, context) {
    const bytes = await readTransactionFile(values.bytes);
    const { chain, subject } = await openForReview(values, context);
    const review = reviewTransaction(bytes, subject);
    context.print(review.text);
    if (review.gasOwner !== review.sender)
      throw new Error("another address pays for the gas, and its signature is missing");
    const signature = await signatureOf(bytes, review.sender, values);
    context.print(`\nThe signature is the sender's. The dry run succeeds. ${await dryRun(chain, bytes)}`);
    if (values.dryRun) return;
    if (!values.yes && !(await confirm(context, `Send this transaction to ${chain.name}?`)))
      throw new Error("nothing was sent");
    context.print(describeExecuted(await executeSigned(chain, bytes, [signature], context)));
  },
});

/** Combines the signatures of a multisig, and verifies the result as the sender's signature of these bytes. */
async function signatureOf(
  bytes: Uint8Array,
  sender: string,
  values: MultisigValues & { readonly signature: readonly string[] },
): Promise<string> {
  const multisig = multisigOf(values);
  const [first = "", ...more] = values.signature;
  if (multisig === undefined && more.length > 0)
    throw new UsageError("several signatures need --public-keys and --threshold of their multisig");
  try {
    const signature = multisig?.combinePartialSignatures([first, ...more]) ?? first;
    await verifyTransactionSignature(bytes, signature, { address: sender });
    return signature;
  } catch (error) {
    throw new Error(`the signature is not the sender's, ${sender}, over these bytes: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

export const signCommand = command({
  summary: "show unsigned bytes, and sign them with a key file, as one key of a multisig",
  details: "Refuses bytes that do anything but call this Treasury, or publish or upgrade its package.",
  options: {
    bytes: required("<file>", "the unsigned bytes", nonEmptyText),
    keyFile: optional("<file>", "the key: suiprivkey1... or 64 hex digits, mode 0600", nonEmptyText),
    yes: flag("sign without asking"),
    ...TARGET_OPTIONS,
  },
  async run(values, context) {
    const bytes = await readTransactionFile(values.bytes);
    const { subject } = await openForReview(values, context);
    context.print(reviewTransaction(bytes, subject).text);
    if (values.keyFile === undefined) return;
    const key = readKeyFile(values.keyFile);
    if (!values.yes && !(await confirm(context, "Sign this transaction?")))
      throw new Error("nothing was signed");
    const { signature } = await key.signTransaction(bytes);
    context.print(
      `\n${formatPairs([
        ["signer", key.toSuiAddress()],
        ["public key", key.getPublicKey().toSuiPublicKey()],
        ["signature", signature],
      ])}`,
    );
  },
});
