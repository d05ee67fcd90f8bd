import { command } from "../../command.ts";
import { confirm } from "../../confirm.ts";
import { flag, optional, required } from "../../option.ts";
import { nonEmptyText } from "../../option-values.ts";
import { formatPairs } from "../../table.ts";
import { openForReview } from "../../treasury/open-for-review.ts";
import { TARGET_OPTIONS } from "../../treasury/open-treasury-chain.ts";
import { readKeyFile } from "../../treasury/read-key-file.ts";
import { reviewTransaction } from "../../treasury/review-transaction.ts";
import { readTransactionFile } from "../../treasury/transaction-file.ts";

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
