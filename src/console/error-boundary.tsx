import { Component, type ComponentChildren } from "preact";
import { PageFrame } from "./ui/page-frame.tsx";

/** Replaces the page with an error of the console itself, from which the reader can continue. */
export class ErrorBoundary extends Component<{ readonly children: ComponentChildren }, State> {
  override state: State = { fault: undefined };

  static override getDerivedStateFromError(fault: unknown): State {
    return { fault };
  }

  override render(): ComponentChildren {
    if (this.state.fault === undefined) return this.props.children;
    return (
      <PageFrame title="This page has an error">
        <div class="failure" role="alert">
          <div>
            <p class="failure-title">The console could not show the page</p>
            <p>{faultText(this.state.fault)}</p>
          </div>
          <button type="button" class="button" onClick={() => this.setState({ fault: undefined })}>
            Try again
          </button>
        </div>
      </PageFrame>
    );
  }
}

interface State {
  readonly fault: unknown;
}

function faultText(fault: unknown): string {
  return fault instanceof Error ? fault.message.slice(0, 300) : "It was reported without a reason.";
}
