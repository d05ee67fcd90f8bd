import type { ComponentType } from "preact";

/** One page: where it is, and its code, which is loaded when somebody opens it. */
export interface Route {
  /** The first part of the path; empty for the first page. */
  readonly path: string;
  readonly title: string;
  /** The entry of the menu that is marked while this page is open; the page itself is one if it is its own path. */
  readonly menu: string;
  /** Whether the path has an id after its first part. */
  readonly hasId?: boolean;
  load(): Promise<ComponentType<PageProps>>;
}

/** The properties of every page. */
export interface PageProps {
  /** The id in the path; empty for a page without one. */
  readonly id: string;
}

/** The page of a path; undefined if there is none. */
export function findRoute(routes: readonly Route[], [first = "", id]: readonly string[]): Route | undefined {
  return routes.find((route) => route.path === first && (route.hasId === true) === (id !== undefined));
}
