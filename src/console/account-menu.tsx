import type { JSX } from "preact";
import { useSession, useSignOut } from "./api/session.ts";
import { Menu } from "./design/menu.tsx";
import { ThemeChoice } from "./design/theme-choice.tsx";

/** Who is signed in, the theme, and the way out. */
export function AccountMenu(): JSX.Element {
  const { role, projectName, scopes } = useSession();
  const signOut = useSignOut();
  const name = role === "operator" ? "Operator" : projectName;
  return (
    <Menu
      icon="person"
      label={
        <>
          <span class="visually-hidden">Account: </span>
          <span class="account-name">{name}</span>
        </>
      }
    >
      <p>
        <strong class="wrap spaces">{name}</strong>
        <span class="muted small account-key">
          {scopes === undefined ? "An admin key" : `A project’s key, with the scopes ${scopes.join(", ")}`}
        </span>
      </p>
      <ThemeChoice />
      <button type="button" class="button" onClick={() => signOut("You are signed out.")}>
        Sign out
      </button>
    </Menu>
  );
}
