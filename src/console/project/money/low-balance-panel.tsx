import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useSession } from "../../api/session.ts";
import { ActionDialog } from "../../design/form/dialog.tsx";
import { TextField } from "../../design/form/field.tsx";
import { Panel } from "../../design/panel.tsx";
import { missingText } from "../../format/form-state.ts";
import { lowBalanceFault } from "../../format/input-faults.ts";
import { formatMoney, parseMoney, plainMoney } from "../../format/text.ts";

/** The balance below which the project gets the event `balance.low`, which can be changed here. */
export function LowBalancePanel({ lowBalanceMicroUsd, onChanged }: LowBalancePanelProps): JSX.Element {
  const [isChanging, setIsChanging] = useState(false);
  return (
    <Panel
      title="Warning"
      note="A fall below the amount is the event balance.low, which webhooks post."
      actions={
        <button type="button" class="button" onClick={() => setIsChanging(true)}>
          Change the warning
        </button>
      }
    >
      <p>
        {lowBalanceMicroUsd === undefined
          ? "There is no warning before the balance runs out."
          : `There is a warning below ${formatMoney(lowBalanceMicroUsd)}.`}
      </p>
      {isChanging && (
        <LowBalanceDialog
          before={lowBalanceMicroUsd}
          onClose={() => setIsChanging(false)}
          onSaved={() => {
            setIsChanging(false);
            onChanged();
          }}
        />
      )}
    </Panel>
  );
}

interface LowBalancePanelProps {
  /** Undefined if the project wants no event. */
  readonly lowBalanceMicroUsd: bigint | undefined;
  onChanged(): void;
}

function LowBalanceDialog({ before, onClose, onSaved }: LowBalanceDialogProps): JSX.Element {
  const { billing } = useSession();
  const [amount, setAmount] = useState(before === undefined ? "" : plainMoney(before));
  const fault = lowBalanceFault(amount);
  const lowBalanceMicroUsd = parseMoney(amount);
  const after = lowBalanceMicroUsd === undefined ? "none" : formatMoney(lowBalanceMicroUsd);
  return (
    <ActionDialog
      title="The warning of a low balance"
      action="Save"
      missing={missingText({ required: [], faults: [fault] })}
      onClose={onClose}
      onAct={async () => {
        await billing.setLowBalance(lowBalanceMicroUsd === undefined ? {} : { lowBalanceMicroUsd });
        onSaved();
      }}
    >
      <TextField
        label="Warn below, in dollars"
        value={amount}
        onInput={setAmount}
        inputMode="decimal"
        autofocus
        fault={fault}
        hint="Empty means no warning. A project without a webhook reads the event with ListEvents."
      />
      {fault === undefined && (
        <p>
          Before: {before === undefined ? "none" : formatMoney(before)}. After: {after}.
        </p>
      )}
    </ActionDialog>
  );
}

interface LowBalanceDialogProps {
  /** The threshold until now, in micro-USD. */
  readonly before: bigint | undefined;
  onClose(): void;
  onSaved(): void;
}
