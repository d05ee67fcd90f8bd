import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useSession } from "../api/session-context.ts";
import { useIdempotencyKey } from "../api/use-idempotency-key.ts";
import { useOnNetwork } from "../api/use-on-network.ts";
import { amountFault, lengthFault } from "../format/input-faults.ts";
import { formatMoney, formatMoneyChange, parseMoney } from "../format/money.ts";
import { ActionDialog } from "../ui/action-dialog.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/field.tsx";

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
      isReady={
        amountMicroUsd !== undefined &&
        amountMicroUsd !== 0n &&
        reason.trim() !== "" &&
        reasonFault === undefined
      }
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
