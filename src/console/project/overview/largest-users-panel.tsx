import type { JSX } from "preact";
import type { ListUserUsageResponse, UserUsage } from "../../../../gen/client/tss/v1/billing_pb.ts";
import { Empty } from "../../design/empty.tsx";
import { Panel } from "../../design/panel.tsx";
import { type DataColumn, DataTable } from "../../design/table/data-table.tsx";
import { formatCount, formatMoney } from "../../format/text.ts";
import { UserLink } from "../access/user-link.tsx";

/** The number of users that the panel shows. */
export const LARGEST_COUNT = 10;

/** The users who were charged most in the last 30 days. */
export function LargestUsersPanel({ usage }: LargestUsersPanelProps): JSX.Element {
  return (
    <Panel
      title="Largest users"
      note={`The ${LARGEST_COUNT} users who were charged most in the last 30 days, refunds subtracted.${
        usage.nextPageToken === "" ? "" : " “tss user usage” lists all."
      }`}
    >
      <DataTable
        caption="Largest users"
        columns={COLUMNS}
        rows={usage.users}
        rowKey={({ userReference }) => userReference}
        empty={
          <Empty title="No user was charged">
            Charges of dWallets without a user are in the sums of the project alone.
          </Empty>
        }
      />
    </Panel>
  );
}

interface LargestUsersPanelProps {
  readonly usage: Pick<ListUserUsageResponse, "users" | "nextPageToken">;
}

const COLUMNS: readonly DataColumn<UserUsage>[] = [
  { title: "User", cell: ({ userReference }) => <UserLink reference={userReference} /> },
  { title: "Charged", isNumber: true, cell: ({ chargedMicroUsd }) => formatMoney(chargedMicroUsd) },
  { title: "Signatures", isNumber: true, cell: ({ signCount }) => formatCount(signCount) },
  { title: "dWallets", isNumber: true, cell: ({ dwalletCount }) => formatCount(dwalletCount) },
  { title: "Shares", isNumber: true, cell: ({ shareCount }) => formatCount(shareCount) },
  { title: "Refunds", isNumber: true, cell: ({ refundCount }) => formatCount(refundCount) },
];
