import type { JSX } from "preact";

/** A user's reference, as a link to the user's page. */
export function UserLink({ reference }: { readonly reference: string }): JSX.Element {
  return (
    <a class="wrap spaces user" href={userPath(reference)}>
      {reference}
    </a>
  );
}

/** Returns the address of a user's page. */
export function userPath(reference: string): string {
  return `#/users/${encodeURIComponent(reference)}`;
}
