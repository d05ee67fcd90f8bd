import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { ApiKey } from "../../../gen/client/tss/v1/admin_pb.ts";
import { useSession } from "../api/session-context.ts";
import { useIdempotencyKey } from "../api/use-idempotency-key.ts";
import { ActionDialog } from "../ui/action-dialog.tsx";
import { SelectField } from "../ui/field.tsx";

/** Replaces a key with a new one. The old key stays valid during the overlap. */
export function RotateApiKeyDialog({ apiKey, onClose, onRotated }: RotateApiKeyDialogProps): JSX.Element {
  const { admin } = useSession();
  const [overlap, setOverlap] = useState("86400");
  const headers = useIdempotencyKey([apiKey.apiKeyId, overlap]);
  return (
    <ActionDialog
      title={`Rotate the key “${apiKey.name}”`}
      action="Rotate the key"
      onClose={onClose}
      onAct={async () => {
        const { plaintext } = await admin.rotateApiKey(
          { apiKeyId: apiKey.apiKeyId, overlapSeconds: Number(overlap) },
          { headers },
        );
        onRotated(plaintext);
      }}
    >
      <p>
        A new key with the same scopes and addresses replaces <code>{apiKey.prefix}…</code>. Callers must use
        it before the old one expires.
      </p>
      <SelectField label="The old key stays valid" options={OVERLAPS} value={overlap} onSelect={setOverlap} />
    </ActionDialog>
  );
}

interface RotateApiKeyDialogProps {
  readonly apiKey: ApiKey;
  onClose(): void;
  /** Called with the new plaintext key; empty if an earlier reply had it. */
  onRotated(plaintext: string): void;
}

/** The choices for the overlap: seconds, and the label. */
const OVERLAPS: readonly (readonly [string, string])[] = [
  ["3600", "for an hour"],
  ["86400", "for a day"],
  ["604800", "for a week"],
  ["2592000", "for thirty days"],
  ["0", "not at all"],
];
