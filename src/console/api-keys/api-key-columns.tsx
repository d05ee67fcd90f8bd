import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { JSX } from "preact";
import type { DataColumn } from "../design/table/data-table.tsx";
import { Badge } from "../design/value/badge.tsx";
import { Cut } from "../design/value/cut.tsx";
import { Id } from "../design/value/id.tsx";
import { Time } from "../design/value/time.tsx";
import { plainTime } from "../format/text.ts";
import { KeyLimits, type LimitedKey } from "./key-limits.tsx";

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
          <Cut text={name} />
          <code class="below muted">{prefix}…</code>
          {apiKeyId === usedKeyId && <p class="small muted">the key of this console</p>}
        </>
      ),
      text: ({ name }) => name,
    },
    {
      title: "Key id",
      isExtra: true,
      cell: ({ apiKeyId }) => <Id id={apiKeyId} what="key id" />,
      text: ({ apiKeyId }) => apiKeyId,
    },
    { title: "State", cell: (key) => <KeyState of={key} />, text: keyStateText },
    {
      title: "Scopes",
      cell: (key) => scopesOf(key).join(", "),
      text: (key) => scopesOf(key).join(", "),
    },
    { title: "Callers", cell: (key) => <KeyCallers of={key} /> },
    { title: "Limits", cell: (key) => <KeyLimits of={key} /> },
    {
      title: "Last use",
      cell: ({ lastUseTime }) => <Time of={lastUseTime} otherwise="never" />,
      text: ({ lastUseTime }) => plainTime(lastUseTime),
    },
    {
      title: "Created",
      cell: ({ createTime }) => <Time of={createTime} />,
      text: ({ createTime }) => plainTime(createTime),
    },
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
export function KeyState({
  of: { expireTime, revokeTime },
  isShortLived = false,
}: KeyStateProps): JSX.Element {
  if (revokeTime !== undefined) return <Badge tone="none">revoked</Badge>;
  if (expireTime === undefined) return <Badge tone="good">valid</Badge>;
  const leftMs = timestampDate(expireTime).getTime() - Date.now();
  if (leftMs <= 0) return <Badge tone="none">expired</Badge>;
  return (
    <>
      <Badge tone={!isShortLived && leftMs < SOON_MS ? "warn" : "good"}>expires</Badge>{" "}
      <Time of={expireTime} />
    </>
  );
}

/** Returns the state of a key as a word. */
export function keyStateText({ expireTime, revokeTime }: KeyTimes): string {
  if (revokeTime !== undefined) return "revoked";
  if (expireTime === undefined) return "valid";
  return timestampDate(expireTime).getTime() <= Date.now() ? "expired" : "expires";
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
  /** True for a session, which always expires soon. */
  readonly isShortLived?: boolean;
}

/** A key that expires within two weeks needs a successor. */
const SOON_MS = 14 * 86_400_000;
