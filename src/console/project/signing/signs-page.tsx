import type { JSX } from "preact";
import { PageFrame } from "../../design/page-frame.tsx";
import { SignRequestsPanel } from "./sign-requests-panel.tsx";

export function SignsPage(): JSX.Element {
  return (
    <PageFrame title="Sign requests" lead="From the reservation of a presign to the verified signature.">
      <SignRequestsPanel isWholePage />
    </PageFrame>
  );
}
