import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { JSX } from "preact";
import { Badge } from "./badge.tsx";
import type { DataColumn } from "./data-table.tsx";
import { KeyLimits, type LimitedKey } from "./key-limits.tsx";
import { Time } from "./time.tsx";

/** The columns of a list of a project's keys. Marks the key that the console itself uses, if there is one. */
export function apiKeyColumns<Key extends ShownKey>(
  scopesOf: (key: Key) => readonly string[],
  usedKeyId?: string,
): readonly DataColumn<Key>[] {
  return [
    {
      title: "Name",
      cell: ({ name, prefix, apiKeyId }) => (
        <>
          {name} <code class="muted">{prefix}…</code>
          {apiKeyId === usedKeyId && <p class="small muted">the key of this console</p>}
        </>
      ),
    },
    { title: "State", cell: (key) => <KeyState of={key} /> },
    { title: "Scopes", cell: (key) => scopesOf(key).join(", ") },
    { title: "Callers", cell: (key) => <KeyCallers of={key} /> },
    { title: "Limits", cell: (key) => <KeyLimits of={key} /> },
    { title: "Last use", cell: ({ lastUseTime }) => <Time of={lastUseTime} otherwise="never" /> },
    { title: "Created", cell: ({ createTime }) => <Time of={createTime} /> },
  ];
}

/** The addresses and pages that may use a key, a line each. */
function KeyCallers({ of: { allowedAddresses, allowedOrigins } }: KeyCallersProps): JSX.Element {
  const pages = allowedOrigins.includes("*") ? "any page" : `pages of ${allowedOrigins.join(", ")}`;
  return (
    <ul class="plain-list">
      <li>{allowedAddresses.length === 0 ? "any address" : allowedAddresses.join(", ")}</li>
      <li>{allowedOrigins.length === 0 ? <span class="muted">no page</span> : pages}</li>
    </ul>
  );
}

/** The state of a key: valid, valid until a time, expired or revoked. */
export function KeyState({ of: { expireTime, revokeTime } }: KeyStateProps): JSX.Element {
  if (revokeTime !== undefined) return <Badge tone="bad">revoked</Badge>;
  if (expireTime === undefined) return <Badge tone="good">valid</Badge>;
  if (timestampDate(expireTime).getTime() <= Date.now()) return <Badge tone="none">expired</Badge>;
  return (
    <>
      <Badge tone="warn">expires</Badge> <Time of={expireTime} />
    </>
  );
}

interface KeyTimes {
  readonly expireTime?: Timestamp | undefined;
  readonly revokeTime?: Timestamp | undefined;
}

/** The fields of a key that both an operator and a project see. */
interface ShownKey extends KeyTimes, LimitedKey {
  readonly apiKeyId: string;
  readonly name: string;
  readonly prefix: string;
  readonly allowedAddresses: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly createTime?: Timestamp | undefined;
  readonly lastUseTime?: Timestamp | undefined;
}

interface KeyCallersProps {
  readonly of: Pick<ShownKey, "allowedAddresses" | "allowedOrigins">;
}

interface KeyStateProps {
  readonly of: KeyTimes;
}
