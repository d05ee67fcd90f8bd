import { Holder_StateSchema, HolderSchema } from "../../../../gen/proto/tss/v1/sharing_pb.ts";
import { objectId, operand } from "../../command-line/option.ts";
import { formatEnum, formatTime } from "../../output/format.ts";
import { listCommand } from "../../output/list-command.ts";

const list = listCommand({
  caller: "project",
  isDirect: false,
  summary:
    "list who has a share of a dWallet besides its owner: at most 50, first those who can still use it",
  options: { dwallet: operand("<dwallet-id>", "the object id of the dWallet", objectId) },
  // The service lists a dWallet's holders in one page.
  async read({ sharing }, { dwallet: dwalletId }) {
    const { holders: rows } = await sharing.listHolders({ dwalletId });
    return { rows, nextPageToken: "" };
  },
  row: HolderSchema,
  columns: [
    { title: "HOLDER", of: ({ holderAddress }) => holderAddress },
    { title: "STATE", of: ({ state }) => formatEnum(Holder_StateSchema, state) },
    { title: "SHARED", of: ({ createTime }) => formatTime(createTime) },
    { title: "ACCEPTED", of: ({ acceptTime }) => formatTime(acceptTime, "no") },
    { title: "REMOVED", of: ({ removeTime }) => formatTime(removeTime, "no") },
    { title: "USER", of: ({ userReference = "none" }) => userReference },
  ],
});

export const holderCommands = { list };
