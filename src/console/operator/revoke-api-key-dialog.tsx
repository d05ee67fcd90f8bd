import type { JSX } from "preact";
import type { ApiKey } from "../../../gen/client/tss/v1/admin_pb.ts";
import { useSession } from "../api/session-context.ts";
import { ActionDialog } from "../ui/action-dialog.tsx";
import { Time } from "../ui/time.tsx";

/** Asks for confirmation before a project's key is revoked, which cannot be undone. */
export function RevokeApiKeyDialog({ apiKey, onClose, onRevoked }: RevokeApiKeyDialogProps): JSX.Element {
  const { admin } = useSession();
  return (
    <ActionDialog
      title={`Revoke the key “${apiKey.name}”?`}
      action="Revoke the key"
      isDangerous
      onClose={onClose}
      onAct={async () => {
        await admin.revokeApiKey({ apiKeyId: apiKey.apiKeyId });
        onRevoked();
      }}
    >
      <p>
        Every call with <code>{apiKey.prefix}…</code> will fail. This cannot be undone. The key was last used:{" "}
        <Time of={apiKey.lastUseTime} otherwise="never" />.
      </p>
    </ActionDialog>
  );
}

interface RevokeApiKeyDialogProps {
  readonly apiKey: ApiKey;
  onClose(): void;
  onRevoked(): void;
}
