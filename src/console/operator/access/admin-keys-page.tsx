import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { AdminKey } from "../../../../gen/client/tss/v1/admin_pb.ts";
import { useSession } from "../../api/session.ts";
import { useIdempotencyKey } from "../../api/use-call.ts";
import { usePages } from "../../api/use-pages.ts";
import { KeyState, keyStateText } from "../../api-keys/api-key-columns.tsx";
import { Empty } from "../../design/empty.tsx";
import { ActionDialog, SecretDialog } from "../../design/form/dialog.tsx";
import { SelectField, TextField } from "../../design/form/field.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import type { DataColumn } from "../../design/table/data-table.tsx";
import { ListTable } from "../../design/table/list-table.tsx";
import { Time } from "../../design/value/time.tsx";
import { missingText } from "../../format/form-state.ts";
import { adminNameFault } from "../../format/input-faults.ts";
import { plainTime } from "../../format/text.ts";
import { EXPIRIES, expiryOf } from "./api-key-dialogs.tsx";

export function AdminKeysPage(): JSX.Element {
  const { everyNetwork, networks } = useSession();
  const { admin } = everyNetwork;
  const [open, setOpen] = useState<OpenDialog>();
  const keys = usePages(
    "keys",
    async (at, signal) => {
      const reply = await admin.listAdminKeys({ ...at }, { signal });
      return { items: reply.adminKeys, nextPageToken: reply.nextPageToken };
    },
    [],
    { everyMs: 15_000 },
  );
  const close = (): void => setOpen(undefined);
  const create = (
    <button type="button" class="button button-primary" onClick={() => setOpen({ kind: "create" })}>
      Create an admin key
    </button>
  );
  const columns: readonly DataColumn<AdminKey>[] = [
    ...COLUMNS,
    {
      title: "Actions",
      cell: (key) =>
        key.revokeTime === undefined && (
          <button
            type="button"
            class="button button-small button-danger"
            onClick={() => setOpen({ kind: "revoke", key })}
          >
            Revoke<span class="visually-hidden"> the admin key {key.name}</span>
          </button>
        ),
    },
  ];
  return (
    <PageFrame
      title="Admin keys"
      lead={`A key for each person or program${networks.length > 1 ? ", for all networks" : ""}. The names of keys are the actors in the audit trail.`}
      actions={create}
    >
      <section class="panel">
        <ListTable
          caption="Admin keys"
          columns={columns}
          rowKey={({ adminKeyId }) => adminKeyId}
          empty={<Empty title="No named admin keys">Only ADMIN_API_KEY opens the operator's calls.</Empty>}
          pages={keys}
        />
      </section>
      {open?.kind === "create" && (
        <CreateAdminKeyDialog
          onClose={close}
          onCreated={(secret) => {
            setOpen({ kind: "secret", secret });
            keys.reload();
          }}
        />
      )}
      {open?.kind === "revoke" && (
        <ActionDialog
          title={`Revoke the admin key “${open.key.name}”?`}
          action="Revoke the key"
          isDangerous
          confirmedBy={{ name: open.key.name, what: "key’s name" }}
          onClose={close}
          onAct={async () => {
            await admin.revokeAdminKey({ adminKeyId: open.key.adminKeyId });
            close();
            keys.reload();
          }}
        >
          <p>
            Every call with <code>{open.key.prefix}…</code> will fail. This cannot be undone, and the name
            cannot be reused.
          </p>
        </ActionDialog>
      )}
      {open?.kind === "secret" && (
        <SecretDialog title="The new admin key" secret={open.secret} onClose={close} />
      )}
    </PageFrame>
  );
}

type OpenDialog =
  | { readonly kind: "create" }
  | { readonly kind: "revoke"; readonly key: AdminKey }
  | { readonly kind: "secret"; readonly secret: string };

const COLUMNS: readonly DataColumn<AdminKey>[] = [
  {
    title: "Name",
    cell: ({ name, prefix }) => (
      <>
        {name}
        <code class="below muted">{prefix}…</code>
      </>
    ),
    text: ({ name }) => name,
  },
  { title: "State", cell: (key) => <KeyState of={key} />, text: keyStateText },
  {
    title: "Last use",
    cell: ({ lastUseTime }) => <Time of={lastUseTime} otherwise="never" />,
    text: ({ lastUseTime }) => plainTime(lastUseTime),
  },
  {
    title: "Created",
    cell: ({ createTime }) => <Time of={createTime} />,
    text: ({ createTime }) => plainTime(createTime),
  },
];

function CreateAdminKeyDialog({ onClose, onCreated }: CreateAdminKeyDialogProps): JSX.Element {
  const { admin } = useSession().everyNetwork;
  const [name, setName] = useState("");
  const [expiry, setExpiry] = useState("never");
  const headers = useIdempotencyKey([name, expiry]);
  return (
    <ActionDialog
      title="Create an admin key"
      action="Create"
      missing={missingText({ required: [["Name of its owner", name]], faults: [adminNameFault(name)] })}
      onClose={onClose}
      onAct={async () => {
        const expireMs = expiryOf(expiry, Date.now());
        const expireTime = expireMs === undefined ? {} : { expireTime: timestampFromMs(expireMs) };
        const { plaintext } = await admin.createAdminKey({ name, ...expireTime }, { headers });
        onCreated(plaintext);
      }}
    >
      <TextField
        label="Name of its owner"
        value={name}
        onInput={setName}
        fault={adminNameFault(name)}
        required
        autofocus
        hint="Lower-case letters, digits and . _ - such as alice or ci-2027. It needs ADMIN_API_KEY itself."
      />
      <SelectField label="Expires" options={EXPIRIES} value={expiry} onSelect={setExpiry} />
    </ActionDialog>
  );
}

interface CreateAdminKeyDialogProps {
  onClose(): void;
  onCreated(plaintext: string): void;
}
