import { Component, type ComponentChildren, type ComponentType, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useSession } from "./api/session.ts";
import { Empty } from "./design/empty.tsx";
import { PageFrame } from "./design/page-frame.tsx";
import type { PageProps, Route } from "./route.ts";

/** Loads the code of a page once, and shows the page. */
export function RoutedPage({ route, path }: RoutedPageProps): JSX.Element {
  const { network } = useSession();
  const [loaded, setLoaded] = useState<Loaded>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    route?.load().then(
      (Content) => {
        if (isCurrent) setLoaded({ route, Content });
      },
      () => {
        if (isCurrent) setLoaded({ route, Content: undefined });
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [route, attempt]);
  if (route === undefined) {
    return (
      <PageFrame title="No such page">
        <Empty title="The address is not a page of the console">Choose a page in the menu.</Empty>
      </PageFrame>
    );
  }
  if (loaded?.route !== route) return <p class="visually-hidden">Loading the page</p>;
  const { Content } = loaded;
  if (Content === undefined) {
    return (
      <PageFrame title={route.title}>
        <Empty title="The page could not be loaded">
          The service does not answer, or it was updated. After an update, reload the console; it then asks
          for the key again.
        </Empty>
        <div class="actions">
          <button
            type="button"
            class="button"
            onClick={() => {
              setLoaded(undefined);
              setAttempt(attempt + 1);
            }}
          >
            Try again
          </button>
        </div>
      </PageFrame>
    );
  }
  const id = path[1] ?? "";
  // Resets the page when the network changes, so that no figure, filter or open dialog of the previous one remains.
  return (
    <ErrorBoundary key={[network, ...path].join("/")}>
      <Content id={id} />
    </ErrorBoundary>
  );
}

interface RoutedPageProps {
  readonly route: Route | undefined;
  readonly path: readonly string[];
}

interface Loaded {
  readonly route: Route;
  /** Undefined if the code could not be loaded. */
  readonly Content: ComponentType<PageProps> | undefined;
}

/** Replaces the page with an error of the console itself, from which the reader can continue. */
class ErrorBoundary extends Component<{ readonly children: ComponentChildren }, State> {
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
