import type { JSX } from "preact";
import { PageFrame } from "../../design/page-frame.tsx";
import { SessionsPanel } from "./sessions-panel.tsx";

export function SessionsPage(): JSX.Element {
  return (
    <PageFrame
      title="Sessions"
      lead="Short-lived access of one user each, so that a page or an app holds no project key."
    >
      <SessionsPanel />
    </PageFrame>
  );
}
