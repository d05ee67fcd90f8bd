import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { JSX } from "preact";
import { type ApiKey, ApiKey_ScopeSchema } from "../../../gen/client/tss/v1/admin_pb.ts";
import { enumName } from "../format/enum-name.ts";
import { Badge } from "./badge.tsx";
import type { DataColumn } from "./data-table.tsx";
import { Time } from "./time.tsx";

/** The columns of a list of a project's keys. */
export const apiKeyColumns: readonly DataColumn<ApiKey>[] = [
  {
    title: "Name",
    cell: ({ name, prefix }) => (
      <>
        {name} <code class="muted">{prefix}…</code>
      </>
    ),
  },
  { title: "State", cell: (key) => <KeyState of={key} /> },
  {
    title: "Scopes",
    cell: ({ scopes }) => scopes.map((scope) => enumName(ApiKey_ScopeSchema, scope)).join(", "),
  },
  {
    title: "Addresses",
    cell: ({ allowedAddresses }) => (allowedAddresses.length === 0 ? "any" : allowedAddresses.join(", ")),
  },
  { title: "Last use", cell: ({ lastUseTime }) => <Time of={lastUseTime} otherwise="never" /> },
  { title: "Created", cell: ({ createTime }) => <Time of={createTime} /> },
];

/** Whether a key still opens anything. */
export function KeyState({ of: { expireTime, revokeTime } }: KeyStateProps): JSX.Element {
  if (revokeTime !== undefined) return <Badge tone="bad">revoked</Badge>;
  if (expireTime === undefined) return <Badge tone="good">valid</Badge>;
  if (timestampDate(expireTime).getTime() <= Date.now()) return <Badge tone="none">expired</Badge>;
  return (
    <>
      <Badge tone="warn">expires</Badge> <Time of={expireTime} />
    </>
  );
}

interface KeyStateProps {
  readonly of: Pick<ApiKey, "expireTime" | "revokeTime">;
}
