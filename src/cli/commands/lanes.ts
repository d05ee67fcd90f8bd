import { GetLanesResponseSchema } from "../../../gen/proto/tss/v1/operations_pb.ts";
import { formatTime } from "../format.ts";
import { serviceCommand } from "../service-command.ts";
import { formatTable } from "../table.ts";

export const lanesCommand = serviceCommand({
  caller: "operator",
  isDirect: false,
  summary: "show the lanes with their leases and transactions, also without the fullnode",
  options: {},
  call: ({ operations }) => operations.getLanes({}),
  reply: GetLanesResponseSchema,
  show: ({ lanes }) =>
    formatTable(
      [
        { title: "LANE", of: ({ operatorCapId }) => operatorCapId },
        { title: "CONFIGURED", of: ({ configured }) => (configured ? "yes" : "NO") },
        { title: "LEASED UNTIL", of: ({ leaseEndTime }) => formatTime(leaseEndTime, "-") },
        { title: "COINS", of: ({ gasCoinCount }) => String(gasCoinCount), align: "right" },
        { title: "UNRESOLVED", of: ({ unresolved }) => unresolved?.txDigest ?? "-" },
        { title: "SINCE", of: ({ unresolved }) => formatTime(unresolved?.createTime, "-") },
        { title: "LAST OUTCOME", of: ({ lastResolved }) => formatTime(lastResolved?.resolveTime, "-") },
        { title: "FOREIGN", of: ({ foreignTxDigest }) => foreignTxDigest ?? "-" },
      ],
      lanes,
    ),
});
