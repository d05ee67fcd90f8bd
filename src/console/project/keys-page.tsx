import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { AccountKey } from "../../../gen/client/tss/v1/account_pb.ts";
import { useSession } from "../api/session.ts";
import { usePages } from "../api/use-pages.ts";
import { apiKeyColumns } from "../ui/api-key-columns.tsx";
import { DataTable, Pager } from "../ui/data-table.tsx";
import { Empty } from "../ui/empty.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { PageFrame } from "../ui/page-frame.tsx";

export function KeysPage(): JSX.Element {
  const { account, projectName, apiKeyId } = useSession();
  const columns = useMemo(() => apiKeyColumns<AccountKey>(({ scopes }) => scopes, apiKeyId), [apiKeyId]);
  const keys = usePages(
    async (pageToken, signal) => {
      const reply = await account.listAccountKeys({ pageToken }, { signal });
      return { items: reply.accountKeys, nextPageToken: reply.nextPageToken };
    },
    [],
    { everyMs: 15_000 },
  );
  return (
    <PageFrame
      title="Keys"
      lead={`The API keys of ${projectName}, newest first. The operator creates, rotates and revokes them.`}
    >
      <section class="panel" aria-label="API keys">
        <Loaded call={keys}>
          {({ items }) => (
            <DataTable
              caption="API keys"
              columns={columns}
              rows={items}
              rowKey={({ apiKeyId }) => apiKeyId}
              empty={<Empty title="No keys" />}
            />
          )}
        </Loaded>
        <Pager pages={keys} of="keys" />
      </section>
    </PageFrame>
  );
}
