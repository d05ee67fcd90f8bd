import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { type ApiKey, ApiKey_ScopeSchema } from "../../../gen/client/tss/v1/admin_pb.ts";
import { useSession } from "../api/session-context.ts";
import { useOnNetwork } from "../api/use-on-network.ts";
import { usePages } from "../api/use-pages.ts";
import { enumName } from "../format/enum-name.ts";
import type { PageProps } from "../route.ts";
import { apiKeyColumns } from "../ui/api-key-columns.tsx";
import { DataTable } from "../ui/data-table.tsx";
import { Empty } from "../ui/empty.tsx";
import { Id } from "../ui/id.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { PageFrame } from "../ui/page-frame.tsx";
import { Pager } from "../ui/pager.tsx";
import { Panel } from "../ui/panel.tsx";
import { SecretDialog } from "../ui/secret-dialog.tsx";
import { AdjustCreditDialog } from "./adjust-credit-dialog.tsx";
import { CreateApiKeyDialog } from "./create-api-key-dialog.tsx";
import { RevokeApiKeyDialog } from "./revoke-api-key-dialog.tsx";
import { RotateApiKeyDialog } from "./rotate-api-key-dialog.tsx";

export function ProjectPage({ id: projectId }: PageProps): JSX.Element {
  const { admin } = useSession();
  const onNetwork = useOnNetwork();
  const [open, setOpen] = useState<OpenDialog>();
  const keys = usePages(
    async (pageToken, signal) => {
      const reply = await admin.listApiKeys({ projectId, pageToken }, { signal });
      return { items: reply.apiKeys, nextPageToken: reply.nextPageToken };
    },
    [projectId],
  );
  const close = (): void => setOpen(undefined);
  const show = (title: string, secret: string): void => {
    setOpen(secret === "" ? undefined : { kind: "secret", title, secret });
    keys.reload();
  };
  const actions = (
    <>
      <button type="button" class="button" onClick={() => setOpen({ kind: "credit" })}>
        Adjust the credit
      </button>
      <button type="button" class="button button-primary" onClick={() => setOpen({ kind: "create" })}>
        Create a key
      </button>
    </>
  );
  return (
    <PageFrame
      title={`Project${onNetwork}`}
      lead={<Id id={projectId} what="project id" isWhole />}
      actions={actions}
    >
      <Panel
        title="API keys"
        note={`Newest first, including revoked and expired keys.${onNetwork && ` They work only${onNetwork}.`}`}
      >
        <Loaded call={keys}>
          {({ items }) => (
            <DataTable
              caption="API keys"
              columns={[
                ...COLUMNS,
                {
                  title: "Actions",
                  cell: (key) => (
                    <KeyActions
                      apiKey={key}
                      onRotate={() => setOpen({ kind: "rotate", key })}
                      onRevoke={() => setOpen({ kind: "revoke", key })}
                    />
                  ),
                },
              ]}
              rows={items}
              rowKey={({ apiKeyId }) => apiKeyId}
              empty={<Empty title="No keys yet">The project cannot call the service without one.</Empty>}
            />
          )}
        </Loaded>
        <Pager pages={keys} of="keys" />
      </Panel>
      {open?.kind === "create" && (
        <CreateApiKeyDialog
          projectId={projectId}
          onClose={close}
          onCreated={(key) => show("The new key", key)}
        />
      )}
      {open?.kind === "rotate" && (
        <RotateApiKeyDialog apiKey={open.key} onClose={close} onRotated={(key) => show("The new key", key)} />
      )}
      {open?.kind === "revoke" && (
        <RevokeApiKeyDialog apiKey={open.key} onClose={close} onRevoked={() => show("", "")} />
      )}
      {open?.kind === "credit" && <AdjustCreditDialog projectId={projectId} onClose={close} />}
      {open?.kind === "secret" && <SecretDialog title={open.title} secret={open.secret} onClose={close} />}
    </PageFrame>
  );
}

const COLUMNS = apiKeyColumns<ApiKey>(({ scopes }) =>
  scopes.map((scope) => enumName(ApiKey_ScopeSchema, scope)),
);

type OpenDialog =
  | { readonly kind: "create" | "credit" }
  | { readonly kind: "rotate" | "revoke"; readonly key: ApiKey }
  | { readonly kind: "secret"; readonly title: string; readonly secret: string };

function KeyActions({ apiKey, onRotate, onRevoke }: KeyActionsProps): JSX.Element {
  if (apiKey.revokeTime !== undefined) return <span class="muted">—</span>;
  return (
    <span class="row-actions">
      {apiKey.replacedBy === undefined && (
        <button type="button" class="button button-small" onClick={onRotate}>
          Rotate<span class="visually-hidden"> the key {apiKey.name}</span>
        </button>
      )}
      <button type="button" class="button button-small button-danger" onClick={onRevoke}>
        Revoke<span class="visually-hidden"> the key {apiKey.name}</span>
      </button>
    </span>
  );
}

interface KeyActionsProps {
  readonly apiKey: ApiKey;
  onRotate(): void;
  onRevoke(): void;
}
