import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useSession } from "../api/session-context.ts";
import { useIdempotencyKey } from "../api/use-idempotency-key.ts";
import { useOnNetwork } from "../api/use-on-network.ts";
import { nameFault } from "../format/input-faults.ts";
import { ActionDialog } from "../ui/action-dialog.tsx";
import { TextField } from "../ui/field.tsx";

export function CreateProjectDialog({ onClose, onCreated }: CreateProjectDialogProps): JSX.Element {
  const { admin } = useSession();
  const onNetwork = useOnNetwork();
  const [name, setName] = useState("");
  const headers = useIdempotencyKey([name]);
  return (
    <ActionDialog
      title={`Create a project${onNetwork}`}
      action="Create"
      isReady={name.trim() !== "" && nameFault(name) === undefined}
      onClose={onClose}
      onAct={async () => {
        const { project } = await admin.createProject({ name: name.trim() }, { headers });
        onCreated(project?.projectId ?? "");
      }}
    >
      <TextField label="Name" value={name} onInput={setName} fault={nameFault(name)} required autofocus />
    </ActionDialog>
  );
}

interface CreateProjectDialogProps {
  onClose(): void;
  onCreated(projectId: string): void;
}
