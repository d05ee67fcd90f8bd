import type { ComponentType } from "preact";

/** A page's path and its code, which is loaded when the page opens. */
export interface Route {
  /** The first part of the path; empty for the first page. */
  readonly path: string;
  readonly title: string;
  /**
   * The path of the menu entry that is marked while this page is open. The page is itself an entry if this is its own
   * path.
   */
  readonly menu: string;
  /** The heading of the menu under which the entry stands. Absent for the first page and for pages that are no entry. */
  readonly group?: string;
  /** The scope that a project's key needs for the page. Absent if every key may open it. */
  readonly scope?: string;
  /** True if an id follows the first part of the path. */
  readonly hasId?: boolean;
  load(): Promise<ComponentType<PageProps>>;
}

/** The properties of every page. */
export interface PageProps {
  /** The id in the path; empty for a page without one. */
  readonly id: string;
}

/** Returns the page of a path; undefined if there is none. */
export function findRoute(routes: readonly Route[], [first = "", id]: readonly string[]): Route | undefined {
  return routes.find((route) => route.path === first && (route.hasId === true) === (id !== undefined));
}
