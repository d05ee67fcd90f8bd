import { command, UsageError } from "../../command-line/command.ts";
import { nonEmptyText, optional } from "../../command-line/option.ts";
import { formatPairs } from "../../output/format.ts";
import { MULTISIG_OPTIONS, multisigOf, readKeyFile } from "../../treasury/key-files.ts";

export const multisigCommand = command({
  summary: "show the address of a multisig, which can hold an AdminCap or an UpgradeCap",
  details: "Does not read the chain. The order of the keys is part of the address.",
  options: {
    keyFile: optional("<file>", "only show the public key of the key in this file", nonEmptyText),
    ...MULTISIG_OPTIONS,
  },
  async run({ keyFile, ...values }, { print }) {
    const multisig = multisigOf(values);
    if (keyFile !== undefined) {
      if (multisig !== undefined) throw new UsageError("--key-file and --public-keys exclude each other");
      const publicKey = readKeyFile(keyFile).getPublicKey();
      print(
        formatPairs([
          ["address", publicKey.toSuiAddress()],
          ["public key", publicKey.toSuiPublicKey()],
        ]),
      );
      return;
    }
    if (multisig === undefined) throw new UsageError("--public-keys is missing");
    print(
      formatPairs([
        ["address", multisig.toSuiAddress()],
        ["threshold", String(multisig.getThreshold())],
        ...multisig
          .getPublicKeys()
          .map(({ publicKey, weight }, index): [string, string] => [
            `key ${index + 1}`,
            `${publicKey.toSuiAddress()}, weight ${weight}`,
          ]),
      ]),
    );
  },
});
