import { command } from "../../command-line/command.ts";
import { flag, nonEmptyText, objectId, required } from "../../command-line/option.ts";
import { noTreasury, openRecovery } from "../../open-recovery.ts";
import { formatPairs } from "../../output/format.ts";
import { TARGET_OPTIONS } from "../../treasury/change-options.ts";
import { readSeedFile } from "../../treasury/key-files.ts";

export const rehearseExitCommand = command({
  summary: "show that a user could take a dWallet out now; changes nothing",
  details:
    "Needs neither a service nor gas. The fullnode simulates the exit with random bytes as its signature, so it\n" +
    "gets nothing that it could submit. Run it on a schedule: it exits with 0 only if the user could leave.",
  options: {
    seedFile: required("<file>", "the user's seed: 64 hex digits, mode 0600", nonEmptyText),
    dwallet: required("<id>", "the dWallet", objectId),
    ...TARGET_OPTIONS,
    json: flag("print a JSON object"),
  },
  async run(values, context) {
    const seed = readSeedFile(values.seedFile);
    try {
      const { recovery, network, treasuryId, packageId } = await openRecovery(
        { ...values, fullnodeUrl: values.fullnode },
        context,
      );
      if (treasuryId === undefined) throw noTreasury(network);
      const { checkedAt, ...rehearsed } = await recovery.rehearseLeave({
        seed,
        dwalletId: values.dwallet,
        packageId: values.package ?? packageId,
      });
      const checked = { ...rehearsed, checkedAt: checkedAt.toISOString() };
      context.print(
        values.json
          ? JSON.stringify(checked, undefined, 2)
          : `The user could leave now.\n${formatPairs([
              ["dWallet", checked.dwalletId],
              ["Treasury", checked.treasuryId],
              ["owner", checked.owner],
              ["Sui epoch", checked.epoch],
              ["checked", checked.checkedAt],
            ])}`,
      );
    } finally {
      seed.fill(0);
    }
  },
});
