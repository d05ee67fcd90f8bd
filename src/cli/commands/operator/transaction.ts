import {
  ChainOperation_Kind,
  ChainOperation_KindSchema,
  ChainTransaction_State,
  ChainTransaction_StateSchema,
  ChainTransactionSchema,
} from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { enumValue, objectId, optional } from "../../command-line/option.ts";
import { formatCoins, formatEnum, formatTime } from "../../output/format.ts";
import { listCommand } from "../../output/list-command.ts";

const list = listCommand({
  caller: "operator",
  isDirect: false,
  summary: "list the service's transactions, newest first",
  options: {
    lane: optional("<object-id>", "show only the lane of this OperatorCap", objectId),
    state: optional(
      "<state>",
      "show only stored, landed, aborted or dropped transactions",
      enumValue(ChainTransaction_State),
    ),
    kind: optional(
      "<kind>",
      "show only register, dkg, accept, presign or sign operations",
      enumValue(ChainOperation_Kind),
    ),
  },
  async read({ admin }, { lane, state, kind }, page) {
    const { chainTransactions: rows, nextPageToken } = await admin.listChainTransactions({
      ...(lane && { operatorCapId: lane }),
      ...(state && { state }),
      ...(kind && { kind }),
      ...page,
    });
    return { rows, nextPageToken };
  },
  row: ChainTransactionSchema,
  columns: [
    { title: "CREATED", of: ({ createTime }) => formatTime(createTime) },
    { title: "TRANSACTION", of: ({ txDigest }) => txDigest },
    { title: "STATE", of: ({ state }) => formatEnum(ChainTransaction_StateSchema, state) },
    { title: "SENT", of: ({ sendCount }) => String(sendCount), align: "right" },
    {
      title: "GAS",
      of: ({ gasUsedMist: gas }) => (gas === undefined ? "-" : formatCoins(gas, "SUI")),
      align: "right",
    },
    { title: "OPERATIONS", of: ({ operations }) => countByKind(operations.map(({ kind }) => kind)) },
    { title: "LANE", of: ({ operatorCapId }) => operatorCapId },
    { title: "ERROR", of: ({ errorMessage }) => errorMessage ?? "-" },
  ],
});

export const transactionCommands = { list };

/** Such as `sign 8, presign 2`. */
function countByKind(kinds: readonly ChainOperation_Kind[]): string {
  const names = [...new Set(kinds)].map((kind) => {
    const count = kinds.filter((other) => other === kind).length;
    return `${formatEnum(ChainOperation_KindSchema, kind)} ${count}`;
  });
  return names.join(", ") || "gas";
}
