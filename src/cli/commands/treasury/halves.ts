import { command } from "../../command-line/command.ts";
import { flag, objectId, optional } from "../../command-line/option.ts";
import { formatTable } from "../../output/format.ts";
import { TARGET_OPTIONS } from "../../treasury/change-options.ts";

export const treasuryHalvesCommand = command({
  summary: "list the held halves that the Treasury can still complete, with their last epochs",
  details:
    "Queries only a fullnode, so it also lists halves that no database knows. The owner of a dWallet ends its halves by\n" +
    "taking it out of the Treasury; nothing else ends one on the chain before its last epoch.",
  options: {
    dwallet: optional("<id>", "show only the halves of this dWallet", objectId),
    ...TARGET_OPTIONS,
    json: flag("print a JSON array"),
  },
  async run({ json, dwallet, ...target }, context) {
    const { openTreasury } = await import("../../treasury/open-treasury.ts");
    const { readEpoch } = await import("../../treasury/treasury-status.ts");
    const { readKeptHalves } = await import("../../../service/chain/treasury/read-halves.ts");
    const opened = await openTreasury(target, context);
    const { epoch } = await readEpoch(opened);
    const { client, treasuryId } = opened;
    const halves = (await readKeptHalves(client, { treasuryId, epoch }))
      .filter(({ dwalletId }) => dwallet === undefined || dwalletId === dwallet)
      .map(({ lastEpoch, ...half }) => ({ ...half, lastEpoch: String(lastEpoch) }));
    context.print(json ? JSON.stringify(halves, undefined, 2) : formatTable(COLUMNS, halves));
  },
});

const COLUMNS = [
  { title: "DWALLET", of: ({ dwalletId }: ShownHalf) => dwalletId },
  { title: "PRESIGN", of: ({ presignId }: ShownHalf) => presignId },
  { title: "LAST EPOCH", of: ({ lastEpoch }: ShownHalf) => lastEpoch },
];

interface ShownHalf {
  readonly dwalletId: string;
  readonly presignId: string;
  readonly lastEpoch: string;
}
