import { ChainOperation_KindSchema } from "../../../gen/proto/tss/v1/admin_pb.ts";
import { GetOutboxResponseSchema, OutboxEntry_StateSchema } from "../../../gen/proto/tss/v1/operations_pb.ts";
import { formatEnum, formatTime } from "../format.ts";
import { serviceCommand } from "../service-command.ts";
import { formatTable } from "../table.ts";

export const outboxCommand = serviceCommand({
  caller: "operator",
  isDirect: false,
  summary: "count the operations that are not on the chain yet",
  options: {},
  call: ({ operations }) => operations.getOutbox({}),
  reply: GetOutboxResponseSchema,
  show: ({ entries }) =>
    entries.length === 0
      ? "every operation is on the chain"
      : formatTable(
          [
            { title: "KIND", of: ({ kind }) => formatEnum(ChainOperation_KindSchema, kind) },
            { title: "STATE", of: ({ state }) => formatEnum(OutboxEntry_StateSchema, state) },
            { title: "COUNT", of: ({ count }) => String(count), align: "right" },
            { title: "OLDEST", of: ({ oldestCreateTime }) => formatTime(oldestCreateTime) },
          ],
          entries,
        ),
});
