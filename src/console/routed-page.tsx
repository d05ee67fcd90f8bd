import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useSession } from "./api/session.ts";
import { ErrorBoundary } from "./error-boundary.tsx";
import type { PageProps, Route } from "./route.ts";
import { Empty } from "./ui/empty.tsx";
import { PageFrame } from "./ui/page-frame.tsx";

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
