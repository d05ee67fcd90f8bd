import { act, createElement, type ReactElement, StrictMode } from "react";
import { createRoot, type Root } from "react-dom/client";
import { SigningProvider } from "../../../../src/client/react/index.ts";
import type { TssClient } from "../../../../src/client/sdk/client.ts";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

/** A component that a test uses, in a tree of its own. */
export interface Rendered<Result> {
  /** What the hook returned last. */
  readonly result: Result;
  /** What it returned at each render. */
  readonly results: readonly Result[];
  /** The element of the page that React renders into. */
  readonly container: Element;
  /** Lets a client's reply arrive, and everything that follows from it. */
  settle(step?: () => unknown): Promise<void>;
  render(client: TssClient): Promise<void>;
  unmount(): Promise<void>;
}

/** Renders a component that calls a hook, below a provider in strict mode. */
export async function renderHook<Result>(
  client: TssClient,
  useHook: () => Result,
  around: (element: ReactElement) => ReactElement = (element) => element,
): Promise<Rendered<Result>> {
  const results: Result[] = [];
  const container = document.createElement("div");
  const root: Root = createRoot(container);
  const settle = (step: () => unknown = () => {}) =>
    act(async () => {
      await step();
    });
  const render = (next: TssClient) =>
    settle(() =>
      root.render(
        createElement(
          StrictMode,
          null,
          createElement(
            SigningProvider,
            { client: next },
            around(createElement(Probe, { use: () => void results.push(useHook()) })),
          ),
        ),
      ),
    );
  await render(client);
  return {
    get result() {
      return results.at(-1)!;
    },
    results,
    container,
    settle,
    render,
    unmount: () => settle(() => root.unmount()),
  };
}

function Probe({ use }: { readonly use: () => void }): null {
  use();
  return null;
}
