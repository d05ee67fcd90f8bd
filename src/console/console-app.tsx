import type { JSX } from "preact";
import { useCallback, useMemo, useState } from "preact/hooks";
import { useChosenNetwork } from "./address/use-route.ts";
import { type KeySession, SessionContext } from "./api/session.ts";
import { Shell } from "./shell.tsx";
import { SignIn } from "./sign-in.tsx";

/** The console: the sign-in, or the pages of the key's role. */
export function ConsoleApp(): JSX.Element {
  const [session, setSession] = useState<KeySession>();
  const [farewell, setFarewell] = useState("");
  const signOut = useCallback((message: string) => {
    setSession(undefined);
    setFarewell(message);
  }, []);
  if (session === undefined) return <SignIn message={farewell} onSession={setSession} />;
  return <SignedIn session={session} signOut={signOut} />;
}

function SignedIn({ session: ofKey, signOut }: SignedInProps): JSX.Element {
  const network = useChosenNetwork(ofKey.networks);
  const session = useMemo(() => ofKey.on(network), [ofKey, network]);
  const value = useMemo(() => ({ session, signOut }), [session, signOut]);
  return (
    <SessionContext.Provider value={value}>
      <Shell />
    </SessionContext.Provider>
  );
}

interface SignedInProps {
  readonly session: KeySession;
  signOut(message: string): void;
}
