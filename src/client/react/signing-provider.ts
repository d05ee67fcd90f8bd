import { createContext, createElement, type ReactElement, type ReactNode, useContext, useState } from "react";
import type { TssClient } from "../sdk/client.ts";
import { createDWalletQueries, type DWalletQueries } from "./dwallet-queries.ts";

/**
 * Gives a client to the hooks below it. Another client ends the actions of the former one, and shows nothing of them:
 * pass the same client at each render.
 *
 * @example
 * const client = createClient({ baseUrl: "https://tss.example", session, network: "testnet" });
 * root.render(<SigningProvider client={client}><Wallet /></SigningProvider>);
 */
export function SigningProvider({ client, children }: SigningProviderProps): ReactElement {
  return createElement(SigningContext.Provider, { value: useScopeOf(client) }, children);
}

/** Properties of {@link SigningProvider}. */
export interface SigningProviderProps {
  /** One client for the page, made outside of the components. The provider does not close its engine. */
  readonly client: TssClient;
  readonly children?: ReactNode;
}

/**
 * Returns the client of the nearest {@link SigningProvider}, for calls that have no hook. Throws an Error if there is
 * none.
 *
 * @example
 * const client = useSigningClient();
 * const show = async () => setPrices(await client.prices());
 */
export function useSigningClient(): TssClient {
  return useScope().client;
}

/** What the hooks below one provider share. */
export interface SigningScope {
  readonly client: TssClient;
  readonly dwallets: DWalletQueries;
}

/** Returns what the hooks below the nearest provider share. */
export function useScope(): SigningScope {
  const scope = useContext(SigningContext);
  if (scope === undefined) throw new Error("put the component below a SigningProvider");
  return scope;
}

const SigningContext = createContext<SigningScope | undefined>(undefined);

/** Keeps the scope in a state, because React may forget a memo. */
function useScopeOf(client: TssClient): SigningScope {
  const [scope, setScope] = useState(() => createScope(client));
  if (scope.client === client) return scope;
  const next = createScope(client);
  setScope(next);
  return next;
}

function createScope(client: TssClient): SigningScope {
  return { client, dwallets: createDWalletQueries(client) };
}
