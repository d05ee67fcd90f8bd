import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import {
  type ApiKey,
  ApiKey_ScopeSchema,
  ApiKey_Scope as Scope,
} from "../../../../gen/client/tss/v1/admin_pb.ts";
import { useSession } from "../../api/session.ts";
import { useIdempotencyKey } from "../../api/use-call.ts";
import { ActionDialog } from "../../design/form/dialog.tsx";
import { SelectField, TextField } from "../../design/form/field.tsx";
import { Time } from "../../design/value/time.tsx";
import { missingText } from "../../format/form-state.ts";
import {
  addressesFault,
  addressesIn,
  nameFault,
  originsFault,
  originsIn,
} from "../../format/input-faults.ts";
import { allowanceIn, NO_LIMITS } from "../../format/limits.ts";
import { enumName } from "../../format/text.ts";
import { areRight, LimitFields } from "./limit-fields.tsx";

export function CreateApiKeyDialog({ projectId, onClose, onCreated }: CreateApiKeyDialogProps): JSX.Element {
  const { admin } = useSession();
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(DEFAULT_SCOPES);
  const [addresses, setAddresses] = useState("");
  const [origins, setOrigins] = useState("");
  const [expiry, setExpiry] = useState("never");
  const [limits, setLimits] = useState(NO_LIMITS);
  const headers = useIdempotencyKey([
    name,
    scopes.join(),
    addresses,
    origins,
    expiry,
    JSON.stringify(limits),
  ]);
  const toggle = (scope: Scope): void =>
    setScopes(scopes.includes(scope) ? scopes.filter((each) => each !== scope) : [...scopes, scope]);
  return (
    <ActionDialog
      title="Create a key"
      action="Create"
      missing={missingText({
        required: [
          ["Name", name],
          ["Scopes", scopes.join()],
        ],
        faults: [
          nameFault(name),
          addressesFault(addresses),
          originsFault(origins),
          areRight(limits) ? undefined : "limits",
        ],
      })}
      onClose={onClose}
      onAct={async () => {
        const expireMs = expiryOf(expiry, Date.now());
        const allowance = allowanceIn(limits);
        const reply = await admin.createApiKey(
          {
            projectId,
            name: name.trim(),
            scopes: [...scopes],
            allowedAddresses: [...addressesIn(addresses)],
            allowedOrigins: [...originsIn(origins)],
            ...(expireMs !== undefined && { expireTime: timestampFromMs(expireMs) }),
            ...(allowance && { allowance }),
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
      <OriginsField value={origins} onInput={setOrigins} />
      <SelectField label="Expires" options={EXPIRIES} value={expiry} onSelect={setExpiry} />
      <LimitFields value={limits} onChange={setLimits} />
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
  [Scope.sessions, "sessions: users and their sessions"],
  [Scope.webhooks, "webhooks: endpoints and their deliveries"],
  [Scope.release, "release: held halves of signatures"],
  [Scope.propose, "propose: halves that are held until another key releases them"],
];

/** A key that releases is for somebody else than a key that signs. */
const DEFAULT_SCOPES = SCOPES.map(([scope]) => scope).filter(
  (scope) => scope !== Scope.release && scope !== Scope.propose,
);

/** Changes the web origins whose pages may send a key. */
export function AllowedOriginsDialog({ apiKey, onClose, onChanged }: AllowedOriginsDialogProps): JSX.Element {
  const { admin } = useSession();
  const [origins, setOrigins] = useState(apiKey.allowedOrigins.join(", "));
  return (
    <ActionDialog
      title={`The pages of the key “${apiKey.name}”`}
      action="Save"
      missing={missingText({ required: [], faults: [originsFault(origins)] })}
      onClose={onClose}
      onAct={async () => {
        await admin.setAllowedOrigins({ apiKeyId: apiKey.apiKeyId, allowedOrigins: [...originsIn(origins)] });
        onChanged();
      }}
    >
      <OriginsField value={origins} onInput={setOrigins} autofocus />
      <p>
        Everybody who opens such a page can read the key. Pages whose origin you remove are refused within
        seconds, and their streams end.
      </p>
    </ActionDialog>
  );
}

interface AllowedOriginsDialogProps {
  readonly apiKey: ApiKey;
  onClose(): void;
  onChanged(): void;
}

function OriginsField({ value, onInput, autofocus = false }: OriginsFieldProps): JSX.Element {
  return (
    <TextField
      label="Allowed origins"
      value={value}
      onInput={onInput}
      autofocus={autofocus}
      fault={originsFault(value)}
      hint="The pages that may send the key, separated by commas; * allows every page. Empty allows none but this console."
    />
  );
}

interface OriginsFieldProps {
  readonly value: string;
  onInput(value: string): void;
  readonly autofocus?: boolean;
}

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
        A new key with the same scopes, addresses, origins and limits replaces <code>{apiKey.prefix}…</code>.
        Callers must use it before the old one expires.
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

/** Asks for confirmation before a project's key is revoked, which cannot be undone. */
export function RevokeApiKeyDialog({ apiKey, onClose, onRevoked }: RevokeApiKeyDialogProps): JSX.Element {
  const { admin } = useSession();
  return (
    <ActionDialog
      title={`Revoke the key “${apiKey.name}”?`}
      action="Revoke the key"
      isDangerous
      confirmedBy={{ name: apiKey.name, what: "key’s name" }}
      onClose={onClose}
      onAct={async () => {
        await admin.revokeApiKey({ apiKeyId: apiKey.apiKeyId });
        onRevoked();
      }}
    >
      <p>
        Every call with <code>{apiKey.prefix}…</code> fails within five seconds, and programs that use it
        stop: {scopesText(apiKey)}. This cannot be undone. The key was last used:{" "}
        <Time of={apiKey.lastUseTime} otherwise="never" />.
      </p>
    </ActionDialog>
  );
}

const scopesText = (apiKey: ApiKey): string => `they may no longer ${scopeNames(apiKey).join(", ")}`;

/** Returns the names of what a key may do. */
export function scopeNames({ scopes }: Pick<ApiKey, "scopes">): readonly string[] {
  return scopes.map((scope) => enumName(ApiKey_ScopeSchema, scope));
}

interface RevokeApiKeyDialogProps {
  readonly apiKey: ApiKey;
  onClose(): void;
  onRevoked(): void;
}

/** The choices for the lifetime of a new key: days or `never`, and the label. */
export const EXPIRIES: readonly (readonly [string, string])[] = [
  ["never", "never"],
  ["30", "in 30 days"],
  ["90", "in 90 days"],
  ["365", "in a year"],
];

/** Returns the end of a lifetime in milliseconds since 1970; undefined for `never`. */
export function expiryOf(expiry: string, nowMs: number): number | undefined {
  return expiry === "never" ? undefined : nowMs + Number(expiry) * 86_400_000;
}
