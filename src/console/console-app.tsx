import type { JSX } from "preact";
import { useCallback, useMemo, useState } from "preact/hooks";
import type { Session } from "./api/session.ts";
import { SessionContext } from "./api/session-context.ts";
import { Shell } from "./shell.tsx";
import { SignIn } from "./sign-in.tsx";

/** The console: the sign-in, or the pages of the key's role. */
export function ConsoleApp(): JSX.Element {
  const [session, setSession] = useState<Session>();
  const [farewell, setFarewell] = useState("");
  const signOut = useCallback((message: string) => {
    setSession(undefined);
    setFarewell(message);
  }, []);
  const value = useMemo(() => session && { session, signOut }, [session, signOut]);
  if (value === undefined) return <SignIn message={farewell} onSession={setSession} />;
  return (
    <SessionContext.Provider value={value}>
      <Shell />
    </SessionContext.Provider>
  );
}
