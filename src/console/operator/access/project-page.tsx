import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { ApiKey, Project } from "../../../../gen/client/tss/v1/admin_pb.ts";
import { useOnNetwork, useSession } from "../../api/session.ts";
import { type LiveCall, useCall, useIdempotencyKey } from "../../api/use-call.ts";
import { usePages } from "../../api/use-pages.ts";
import { apiKeyColumns } from "../../api-keys/api-key-columns.tsx";
import { Empty } from "../../design/empty.tsx";
import { ActionDialog, Dialog, SecretDialog } from "../../design/form/dialog.tsx";
import { TextField } from "../../design/form/field.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import { Panel } from "../../design/panel.tsx";
import { ListTable } from "../../design/table/list-table.tsx";
import { Stat, Stats } from "../../design/value/facts.tsx";
import { Id } from "../../design/value/id.tsx";
import { Time } from "../../design/value/time.tsx";
import { missingText } from "../../format/form-state.ts";
import { amountFault, lengthFault, projectIdFault } from "../../format/input-faults.ts";
import { formatMoney, formatMoneyChange, parseMoney } from "../../format/text.ts";
import type { PageProps } from "../../route.ts";
import {
  AllowedOriginsDialog,
  CreateApiKeyDialog,
  RevokeApiKeyDialog,
  RotateApiKeyDialog,
  scopeNames,
} from "./api-key-dialogs.tsx";
import { RevokeApiKeysDialog } from "./revoke-api-keys-dialog.tsx";

export function ProjectPage({ id: projectId }: PageProps): JSX.Element {
  const { admin } = useSession();
  const isId = projectIdFault(projectId) === undefined;
  const project = useCall(
    async (signal) => (isId ? (await admin.getProject({ projectId }, { signal })).project : undefined),
    [projectId],
    { everyMs: 10_000 },
  );
  const { data, failure } = project;
  const isMissing = !isId || failure?.reason === "PROJECT_NOT_FOUND";
  if (isMissing || data === undefined) {
    return (
      <PageFrame
        title={isMissing ? "No such project" : "Project"}
        up={{ href: "#/projects", title: "All projects" }}
      >
        {isMissing ? (
          <Empty title="This network has no project with this id">
            <code>{projectId}</code>
          </Empty>
        ) : (
          <Loaded call={project} lines={6}>
            {() => undefined}
          </Loaded>
        )}
      </PageFrame>
    );
  }
  return <FoundProject project={data} call={project} />;
}

function FoundProject({ project, call }: FoundProjectProps): JSX.Element {
  const { admin } = useSession();
  const { projectId, name, network, balanceMicroUsd, heldMicroUsd, createTime } = project;
  const onNetwork = useOnNetwork();
  const [open, setOpen] = useState<OpenDialog>();
  const keys = usePages(
    "keys",
    async (at, signal) => {
      const reply = await admin.listApiKeys({ projectId, ...at }, { signal });
      return { items: reply.apiKeys, nextPageToken: reply.nextPageToken };
    },
    [projectId],
    { everyMs: 10_000 },
  );
  const close = (): void => setOpen(undefined);
  const show = (title: string, secret: string): void => {
    setOpen({ kind: "secret", title, secret });
    keys.reload();
  };
  const change = (): void => {
    close();
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
      title={`${name}${onNetwork}`}
      up={{ href: "#/projects", title: "All projects" }}
      lead={
        <>
          Project <Id id={projectId} what="project id" isWhole />
        </>
      }
      actions={actions}
    >
      <section class="panel" aria-label="Credit">
        <Loaded call={call}>
          {() => (
            <Stats>
              <Stat name="Balance" value={formatMoney(balanceMicroUsd)} note="all entries of the ledger" />
              <Stat name="Held" value={formatMoney(heldMicroUsd)} note="for open reservations" />
              <Stat name="Free" value={formatMoney(balanceMicroUsd - heldMicroUsd)} note="to spend" />
              <Stat name="Network" value={network} note={<Time of={createTime} />} />
            </Stats>
          )}
        </Loaded>
      </section>
      <Panel
        title="API keys"
        note={`Newest first, including revoked and expired keys.${onNetwork && ` They work only${onNetwork}.`}`}
        actions={
          (keys.data?.items.filter(({ revokeTime }) => revokeTime === undefined).length ?? 0) > 1 && (
            <button type="button" class="button" onClick={() => setOpen({ kind: "revoke-several" })}>
              Revoke several
            </button>
          )
        }
      >
        <ListTable
          caption="API keys"
          columns={[
            ...COLUMNS,
            {
              title: "Actions",
              cell: (key) => (
                <KeyActions
                  apiKey={key}
                  onPages={() => setOpen({ kind: "pages", key })}
                  onRotate={() => setOpen({ kind: "rotate", key })}
                  onRevoke={() => setOpen({ kind: "revoke", key })}
                />
              ),
            },
          ]}
          rowKey={({ apiKeyId }) => apiKeyId}
          empty={<Empty title="No keys yet">The project cannot call the service without one.</Empty>}
          pages={keys}
        />
      </Panel>
      {open?.kind === "create" && (
        <CreateApiKeyDialog
          projectId={projectId}
          onClose={close}
          onCreated={(key) => show("The new key", key)}
        />
      )}
      {open?.kind === "pages" && (
        <AllowedOriginsDialog apiKey={open.key} onClose={close} onChanged={change} />
      )}
      {open?.kind === "rotate" && (
        <RotateApiKeyDialog apiKey={open.key} onClose={close} onRotated={(key) => show("The new key", key)} />
      )}
      {open?.kind === "revoke" && <RevokeApiKeyDialog apiKey={open.key} onClose={close} onRevoked={change} />}
      {open?.kind === "revoke-several" && (
        <RevokeApiKeysDialog
          projectId={projectId}
          projectName={name}
          onClose={close}
          onChanged={keys.reload}
        />
      )}
      {open?.kind === "credit" && (
        <AdjustCreditDialog projectId={projectId} onClose={close} onBooked={call.reload} />
      )}
      {open?.kind === "secret" && <SecretDialog title={open.title} secret={open.secret} onClose={close} />}
    </PageFrame>
  );
}

const COLUMNS = apiKeyColumns<ApiKey>(scopeNames);

interface FoundProjectProps {
  readonly project: Project;
  readonly call: LiveCall<Project | undefined>;
}

type OpenDialog =
  | { readonly kind: "create" | "credit" | "revoke-several" }
  | { readonly kind: "pages" | "rotate" | "revoke"; readonly key: ApiKey }
  | { readonly kind: "secret"; readonly title: string; readonly secret: string };

function KeyActions({ apiKey, onPages, onRotate, onRevoke }: KeyActionsProps): JSX.Element | null {
  if (apiKey.revokeTime !== undefined) return null;
  return (
    <span class="row-actions">
      <button type="button" class="button button-small" onClick={onPages}>
        Pages<span class="visually-hidden"> of the key {apiKey.name}</span>
      </button>
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
  onPages(): void;
  onRotate(): void;
  onRevoke(): void;
}

/** Adds or removes a project's credit, and shows the new balance. */
export function AdjustCreditDialog({ projectId, onClose, onBooked }: AdjustCreditDialogProps): JSX.Element {
  const { admin } = useSession();
  const onNetwork = useOnNetwork();
  const [amount, setAmount] = useState("");
  const [reason, setReason] = useState("");
  const [balance, setBalance] = useState<bigint>();
  const headers = useIdempotencyKey([projectId, amount, reason]);
  const amountMicroUsd = parseMoney(amount);
  const reasonFault = lengthFault(reason.trim(), REASON_MAX_LENGTH);
  if (balance !== undefined) {
    return (
      <Dialog title="The credit is booked" onClose={onClose}>
        <p>The project now has {formatMoney(balance)}.</p>
        <div class="dialog-actions">
          <button type="button" class="button button-primary" onClick={onClose}>
            Close
          </button>
        </div>
      </Dialog>
    );
  }
  return (
    <ActionDialog
      title={`Adjust the credit${onNetwork}`}
      action={amountMicroUsd ? `Book ${formatMoneyChange(amountMicroUsd)}` : "Book"}
      missing={missingText({
        required: [
          [
            "Amount in dollars",
            amountMicroUsd === undefined && amountFault(amount) === undefined ? "" : amount,
          ],
          ["Reason", reason],
        ],
        faults: [amountFault(amount), reasonFault],
      })}
      onClose={onClose}
      onAct={async () => {
        const { ledgerEntry } = await admin.adjustCredit(
          { projectId, amountMicroUsd: amountMicroUsd ?? 0n, reason: reason.trim() },
          { headers },
        );
        setBalance(ledgerEntry?.balanceMicroUsd ?? 0n);
        onBooked();
      }}
    >
      <TextField
        label="Amount in dollars"
        value={amount}
        onInput={setAmount}
        inputMode="decimal"
        required
        autofocus
        fault={amountFault(amount)}
        hint="A negative amount removes credit."
      />
      <TextField
        label="Reason"
        value={reason}
        onInput={setReason}
        fault={reasonFault}
        required
        hint="The project sees it in its ledger."
      />
    </ActionDialog>
  );
}

const REASON_MAX_LENGTH = 200;

interface AdjustCreditDialogProps {
  readonly projectId: string;
  onClose(): void;
  /** Called when the credit is booked. The dialog stays open with the new balance. */
  onBooked(): void;
}
