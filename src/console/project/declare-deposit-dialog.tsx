import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useSession } from "../api/session.ts";
import { digestFault } from "../format/input-faults.ts";
import { ActionDialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";

/** Requests an immediate check of a transaction for deposits. */
export function DeclareDepositDialog({ onClose, onDeclared }: DeclareDepositDialogProps): JSX.Element {
  const { billing } = useSession();
  const [digest, setDigest] = useState("");
  return (
    <ActionDialog
      title="Declare a deposit"
      action="Check the transaction"
      isReady={digest.trim() !== "" && digestFault(digest) === undefined}
      onClose={onClose}
      onAct={async () => {
        await billing.declareDeposit({ txDigest: digest.trim() });
        onDeclared();
      }}
    >
      <TextField
        label="Transaction digest"
        value={digest}
        onInput={setDigest}
        required
        autofocus
        fault={digestFault(digest)}
        hint="43 or 44 characters of base 58, as your wallet shows it."
      />
    </ActionDialog>
  );
}

interface DeclareDepositDialogProps {
  onClose(): void;
  onDeclared(): void;
}
