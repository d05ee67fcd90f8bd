import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ApiKey_Scope as Scope } from "../../../gen/client/tss/v1/admin_pb.ts";
import { useSession } from "../api/session-context.ts";
import { useIdempotencyKey } from "../api/use-idempotency-key.ts";
import { addressesFault, addressesIn, nameFault } from "../format/input-faults.ts";
import { ActionDialog } from "../ui/action-dialog.tsx";
import { SelectField, TextField } from "../ui/field.tsx";
import { EXPIRIES, expiryOf } from "./expiries.ts";

export function CreateApiKeyDialog({ projectId, onClose, onCreated }: CreateApiKeyDialogProps): JSX.Element {
  const { admin } = useSession();
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(SCOPES.map(([scope]) => scope));
  const [addresses, setAddresses] = useState("");
  const [expiry, setExpiry] = useState("never");
  const headers = useIdempotencyKey([name, scopes.join(), addresses, expiry]);
  const toggle = (scope: Scope): void =>
    setScopes(scopes.includes(scope) ? scopes.filter((each) => each !== scope) : [...scopes, scope]);
  return (
    <ActionDialog
      title="Create a key"
      action="Create"
      isReady={
        name.trim() !== "" &&
        nameFault(name) === undefined &&
        scopes.length > 0 &&
        addressesFault(addresses) === undefined
      }
      onClose={onClose}
      onAct={async () => {
        const expireMs = expiryOf(expiry, Date.now());
        const reply = await admin.createApiKey(
          {
            ...{ projectId, name: name.trim(), scopes: [...scopes] },
            allowedAddresses: [...addressesIn(addresses)],
            ...(expireMs !== undefined && { expireTime: timestampFromMs(expireMs) }),
          },
          { headers },
        );
        onCreated(reply.plaintext);
      }}
    >
      <TextField label="Name" value={name} onInput={setName} fault={nameFault(name)} required autofocus />
      <fieldset class="field">
        <legend>Scopes</legend>
        {SCOPES.map(([scope, title]) => (
          <label key={scope} class="check">
            <input type="checkbox" checked={scopes.includes(scope)} onChange={() => toggle(scope)} /> {title}
          </label>
        ))}
        <p class="field-fault" role="status">
          {scopes.length === 0 && "A key needs at least one scope."}
        </p>
      </fieldset>
      <TextField
        label="Allowed addresses"
        value={addresses}
        onInput={setAddresses}
        fault={addressesFault(addresses)}
        hint="IP addresses and CIDR blocks, separated by commas. Empty allows every address."
      />
      <SelectField label="Expires" options={EXPIRIES} value={expiry} onSelect={setExpiry} />
    </ActionDialog>
  );
}

interface CreateApiKeyDialogProps {
  readonly projectId: string;
  onClose(): void;
  /** Called with the plaintext key; empty if an earlier reply had it. */
  onCreated(plaintext: string): void;
}

const SCOPES: readonly (readonly [Scope, string])[] = [
  [Scope.onboard, "onboard: encryption keys and dWallets"],
  [Scope.sign, "sign: signatures"],
  [Scope.read, "read: dWallets and sign requests"],
  [Scope.billing, "billing: balance, prices and ledger"],
];
