import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { AccountKey } from "../../../../gen/client/tss/v1/account_pb.ts";
import { useSession } from "../../api/session.ts";
import { usePages } from "../../api/use-pages.ts";
import { apiKeyColumns } from "../../api-keys/api-key-columns.tsx";
import { Empty } from "../../design/empty.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import { ListTable } from "../../design/table/list-table.tsx";

export function KeysPage(): JSX.Element {
  const { account, projectName, apiKeyId } = useSession();
  const columns = useMemo(() => apiKeyColumns<AccountKey>(({ scopes }) => scopes, apiKeyId), [apiKeyId]);
  const keys = usePages(
    "keys",
    async (at, signal) => {
      const reply = await account.listAccountKeys({ ...at }, { signal });
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
        <ListTable
          caption="API keys"
          columns={columns}
          rowKey={({ apiKeyId }) => apiKeyId}
          empty={<Empty title="No keys" />}
          pages={keys}
        />
      </section>
    </PageFrame>
  );
}
