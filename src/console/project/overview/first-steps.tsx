import type { JSX } from "preact";
import { useSession } from "../../api/session.ts";
import { Panel } from "../../design/panel.tsx";
import { CopyButton } from "../../design/value/id.tsx";
import program from "./first-program.txt?raw";

/** The lines that lead a new project to its first signature. */
export function FirstSteps(): JSX.Element {
  const { network } = useSession();
  return (
    <Panel
      title="First steps"
      note="They disappear with the first signature. No key is in them: read it from the environment or a file."
    >
      <ol class="first-steps">
        {firstSteps(location.origin, network).map(({ title, text }) => (
          <li key={title}>
            <p class="first-step-title">{title}</p>
            <div class="code-block">
              <pre>
                <code>{text}</code>
              </pre>
              <CopyButton text={text} label={`Copy: ${title}`} />
            </div>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

/** Returns the steps for a service at an origin. */
function firstSteps(origin: string, network: string): readonly { title: string; text: string }[] {
  return [
    {
      title: "Check that the key works",
      text: `export TSS_API_KEY=… # your key\ncurl -H "authorization: Bearer $TSS_API_KEY" ${origin}/v1/account`,
    },
    {
      title: "Make a key and sign with it, in TypeScript (npm install threshold-signing-client)",
      text: program.trim().replace("ORIGIN", origin).replace("NETWORK", network),
    },
    {
      title: "Let a page of yours sign for one user: your backend makes it a session",
      text: `const { token } = await client.sessions.create({
  userReference: "user-42",
  scopes: ["onboard", "sign", "read"],
  origins: ["https://app.example"],
}); // The page fetches it in createClient({ baseUrl, network, session: () => … }).`,
    },
  ];
}
