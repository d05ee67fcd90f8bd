/** @jsxImportSource react */
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { SigningProvider } from "threshold-signing-service/react";
import { createClient } from "threshold-signing-service/sdk";
import { createWorkerEngine } from "threshold-signing-service/worker";
import { explain } from "../web/explain-error.ts";
import type { Login } from "../web/login.ts";
import { openLogin } from "../web/open-login.ts";
import { SignIn, SignOut } from "./sign-in.tsx";
import { Wallet } from "./wallet.tsx";

const app = document.getElementById("app");
if (app === null) throw new Error("the page has no app");
createRoot(app).render(
  <StrictMode>
    <h1>Sign in React</h1>
    {await openLogin().then(contentOf, (error: unknown) => <p role="alert">{explain(error)}</p>)}
  </StrictMode>,
);

function contentOf(login: Login) {
  const { user, serviceUrl, session } = login;
  if (user === undefined) return <SignIn login={login} />;
  /** One client for the page. It asks the page's backend for a session, and computes on workers. */
  const client = createClient({
    baseUrl: serviceUrl,
    session,
    network: "localnet",
    engine: createWorkerEngine(),
  });
  return (
    <SigningProvider client={client}>
      <SignOut login={login} />
      <Wallet />
    </SigningProvider>
  );
}
