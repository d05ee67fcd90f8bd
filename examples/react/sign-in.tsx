/** @jsxImportSource react */
import { type SyntheticEvent, useState } from "react";
import { explain } from "../web/explain-error.ts";
import type { Login } from "../web/login.ts";

/** Lets the visitor choose a user of the demo. In your app, your own login says who the user is. */
export function SignIn({ login: { users = [], signIn } }: { readonly login: Login }) {
  const [user, setUser] = useState(users[0] ?? "");
  const [failure, setFailure] = useState("");
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    // Begins again with nothing of another user in memory.
    signIn(user).then(
      () => location.reload(),
      (error: unknown) => setFailure(explain(error)),
    );
  };
  return (
    <form onSubmit={submit}>
      <fieldset>
        <legend>Who you are</legend>
        <p className="help">This is a demo. It asks for no password.</p>
        <label htmlFor="user">User</label>
        <select id="user" value={user} onChange={(event) => setUser(event.currentTarget.value)}>
          {users.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <div className="buttons">
          <button type="submit">Sign in</button>
        </div>
        <p role="alert">{failure}</p>
      </fieldset>
    </form>
  );
}

/** Shows who is signed in, and signs the user out. */
export function SignOut({ login: { user, signOut } }: { readonly login: Login }) {
  const [failure, setFailure] = useState("");
  const leave = () => {
    signOut().then(
      () => location.reload(),
      (error: unknown) => setFailure(explain(error)),
    );
  };
  return (
    <>
      <p>
        You are {user}.{" "}
        <button type="button" onClick={leave}>
          Sign out
        </button>
      </p>
      <p role="alert">{failure}</p>
    </>
  );
}
