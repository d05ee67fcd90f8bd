import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useSession } from "../api/session-context.ts";
import { useIdempotencyKey } from "../api/use-idempotency-key.ts";
import { useOnNetwork } from "../api/use-on-network.ts";
import { formatMoney, formatMoneyChange, parseMoney } from "../format/money.ts";
import { ActionDialog } from "../ui/action-dialog.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";

/** Adds or removes a project's credit, and shows the new balance. */
export function AdjustCreditDialog({ projectId, onClose }: AdjustCreditDialogProps): JSX.Element {
  const { admin } = useSession();
  const onNetwork = useOnNetwork();
  const [amount, setAmount] = useState("");
  const [reason, setReason] = useState("");
  const [balance, setBalance] = useState<bigint>();
  const headers = useIdempotencyKey([projectId, amount, reason]);
  const amountMicroUsd = parseMoney(amount);
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
      isReady={amountMicroUsd !== undefined && amountMicroUsd !== 0n && reason.trim() !== ""}
      onClose={onClose}
      onAct={async () => {
        const { ledgerEntry } = await admin.adjustCredit(
          { projectId, amountMicroUsd: amountMicroUsd ?? 0n, reason: reason.trim() },
          { headers },
        );
        setBalance(ledgerEntry?.balanceMicroUsd ?? 0n);
      }}
    >
      <TextField
        label="Amount in dollars"
        value={amount}
        onInput={setAmount}
        inputMode="decimal"
        required
        autofocus
        hint="A negative amount removes credit."
      />
      <TextField
        label="Reason"
        value={reason}
        onInput={setReason}
        maxLength={200}
        required
        hint="The project sees it in its ledger."
      />
    </ActionDialog>
  );
}

interface AdjustCreditDialogProps {
  readonly projectId: string;
  onClose(): void;
}
