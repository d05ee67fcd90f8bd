import type { JSX } from "preact";
import { Cut } from "../../design/value/cut.tsx";

/** A user's reference, as a link to the user's page. */
export function UserLink({ reference }: { readonly reference: string }): JSX.Element {
  return (
    <a href={userPath(reference)}>
      <Cut text={reference} />
    </a>
  );
}

/** Returns the address of a user's page. */
export function userPath(reference: string): string {
  return `#/users/${encodeURIComponent(reference)}`;
}
