import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ActionDialog, SecretDialog } from "../form/dialog.tsx";
import { SelectField, TextField } from "../form/field.tsx";
import { Panel } from "../panel.tsx";
import { Icon } from "../value/icon.tsx";

/** Buttons, fields and dialogs. */
export function Actions(): JSX.Element {
  const [open, setOpen] = useState<"confirm" | "form" | "secret" | "lost">();
  const [text, setText] = useState("12.50");
  const close = (): void => setOpen(undefined);
  return (
    <Panel
      title="Actions"
      note="The second line of a panel says what it has."
      actions={
        <button type="button" class="button">
          An action of the panel
        </button>
      }
    >
      <div class="actions">
        <button type="button" class="button button-primary">
          Primary
        </button>
        <button type="button" class="button">
          Plain
        </button>
        <button type="button" class="button button-danger">
          Danger
        </button>
        <button type="button" class="button" disabled>
          Disabled
        </button>
        <button type="button" class="button button-primary" disabled>
          Disabled
        </button>
        <button type="button" class="button button-small">
          <Icon name="save" /> Small
        </button>
        <button type="button" class="icon-button" aria-label="An icon">
          <Icon name="filter" />
        </button>
      </div>
      <div class="filters">
        <TextField label="Text" value={text} onInput={setText} hint="A hint says how to write it." />
        <TextField
          label="With a fault"
          value="1e3"
          onInput={() => {}}
          fault="Write an amount such as 12.50."
        />
        <TextField label="Secret" value="secret" onInput={() => {}} isSecret />
        <SelectField label="Choice" options={CHOICES} value="hour" onSelect={() => {}} />
        <SelectField label="Beside it" options={CHOICES} value="day" isInline onSelect={() => {}} />
        <label class="check">
          <input type="checkbox" checked /> chosen
        </label>
      </div>
      <div class="actions">
        <button type="button" class="button" onClick={() => setOpen("confirm")}>
          Open a confirmation
        </button>
        <button type="button" class="button" onClick={() => setOpen("form")}>
          Open a form
        </button>
        <button type="button" class="button" onClick={() => setOpen("secret")}>
          Open a secret
        </button>
        <button type="button" class="button" onClick={() => setOpen("lost")}>
          Open a lost secret
        </button>
      </div>
      {open === "confirm" && (
        <ActionDialog
          title="Revoke the key “backend”?"
          action="Revoke the key"
          isDangerous
          confirmedBy={{ name: "backend", what: "key’s name" }}
          onClose={close}
          onAct={async () => close()}
        >
          <p>Every call with the key fails, and the programs that use it stop.</p>
        </ActionDialog>
      )}
      {open === "form" && (
        <ActionDialog
          title="Adjust the credit"
          action="Book it"
          onClose={close}
          onAct={() => Promise.reject(new Error("the call failed"))}
        >
          <TextField label="Amount in dollars" value={text} onInput={setText} autofocus />
        </ActionDialog>
      )}
      {(open === "secret" || open === "lost") && (
        <SecretDialog
          title="The new key"
          secret={open === "secret" ? "tss_local_0123456789abcdef" : ""}
          onClose={close}
        />
      )}
    </Panel>
  );
}

const CHOICES = [
  ["hour", "Last hour"],
  ["day", "Last day"],
] as const;
