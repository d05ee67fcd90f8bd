import type { JSX } from "preact";
import { PageFrame } from "../ui/page-frame.tsx";
import { ActivityPanel } from "./activity-panel.tsx";
import { ReadinessPanel } from "./readiness-panel.tsx";
import { ReservesPanel } from "./reserves-panel.tsx";

/** The state of the service at a glance. */
export function OverviewPage(): JSX.Element {
  return (
    <PageFrame title="Overview">
      <ReadinessPanel />
      <ActivityPanel />
      <ReservesPanel />
    </PageFrame>
  );
}
