/** `npm run console:design`: the tokens and the components of the console, each in its states, on one page. */
import { render } from "preact";
import type { Session } from "../../api/session.ts";
import { SessionContext } from "../../api/session.ts";
import { showControls } from "../form/show-controls.ts";
import { watchBack } from "../form/use-stay.ts";
import { PageFrame } from "../page-frame.tsx";
import { applyTheme, ThemeChoice } from "../theme-choice.tsx";
import { Actions } from "./actions.tsx";
import { Charts } from "./charts.tsx";
import { States } from "./states.tsx";
import { Tables } from "./tables.tsx";
import { Tokens } from "./tokens.tsx";
import { Values } from "./values.tsx";

showControls();
watchBack();
applyTheme();

/** The components read from the session who is signed in. None of them makes a call here. */
const signedIn: Pick<Session, "role" | "network" | "networks" | "projectName" | "scopes" | "apiKeyId"> = {
  role: "operator",
  network: "localnet",
  networks: ["localnet"],
  projectName: "",
  scopes: undefined,
  apiKeyId: undefined,
};
const session = signedIn as Session;

render(
  <SessionContext.Provider value={{ session, signOut: () => {} }}>
    <main class="gallery">
      <PageFrame
        title="Design"
        lead="The tokens and the components of the console, each in its states."
        actions={<ThemeChoice />}
      >
        <Tokens />
        <Values />
        <Actions />
        <States />
        <Tables />
        <Charts />
      </PageFrame>
    </main>
  </SessionContext.Provider>,
  document.getElementById("app")!,
);
