import { useEffect } from "preact/hooks";

/**
 * Keeps the reader on the page while something is shown that cannot be shown again: Back stays, however many Backs come
 * at once, and the browser asks before a reload or the end of the tab. Needs {@link watchBack}.
 */
export function useStay(): void {
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    const address = location.href;
    stayAt = address;
    addGuard(address);
    addEventListener("beforeunload", ask);
    return () => {
      stayAt = undefined;
      removeEventListener("beforeunload", ask);
      if (isGuard(history.state)) history.back();
    };
  }, []);
}

/**
 * Makes Back stay while a page asks for it. Call it once, before the first render: a browser calls the listeners of a
 * window in their order, and the pages must not see the address that Back leads to.
 */
export function watchBack(): void {
  addEventListener("popstate", () => {
    if (stayAt === undefined || isGuard(history.state)) return;
    // Several quick Backs pass the guard and the page's own entry too.
    if (location.href !== stayAt) history.pushState(null, "", stayAt);
    addGuard(stayAt);
  });
}

/** The address of the page that the reader stays on. */
let stayAt: string | undefined;

/** Adds an entry with the same address, which Back leaves instead of the page. */
function addGuard(address: string): void {
  history.pushState({ [GUARD]: true }, "", address);
}

const GUARD = "stay";

function isGuard(state: unknown): boolean {
  return typeof state === "object" && state !== null && GUARD in state;
}
