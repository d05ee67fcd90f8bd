import { useEffect, useState } from "preact/hooks";

/** Returns the parts of the path after the `#` of the address, such as `/projects/…`, without its filters. */
export function useRoute(): readonly string[] {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = (): void => setHash(location.hash);
    for (const event of ROUTE_EVENTS) addEventListener(event, follow);
    return () => {
      for (const event of ROUTE_EVENTS) removeEventListener(event, follow);
    };
  }, []);
  return hash
    .replace(/\?.*$/s, "")
    .replace(/^#?\/?/, "")
    .split("/")
    .filter(Boolean)
    .map(decodeOr);
}

/** Events that follow a new address: a link fires the first, {@link goTo} and a history step fire the second. */
export const ROUTE_EVENTS = ["hashchange", "popstate"] as const;

function decodeOr(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
