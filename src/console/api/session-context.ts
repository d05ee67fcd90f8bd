import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Session } from "./session.ts";

/** The signed-in session and the way out of it. */
export const SessionContext = createContext<SessionValue | undefined>(undefined);

interface SessionValue {
  readonly session: Session;
  /** Discards the key, and shows the reason. */
  signOut(message: string): void;
}

/** Returns the session of the page. */
export function useSession(): Session {
  return useSessionValue().session;
}

/** Returns the function that discards the key. */
export function useSignOut(): SessionValue["signOut"] {
  return useSessionValue().signOut;
}

function useSessionValue(): SessionValue {
  const value = useContext(SessionContext);
  if (value === undefined) throw new Error("a page is shown without a session");
  return value;
}
