import { useEffect, useState } from "preact/hooks";

/** Returns the parts of the path after the `#` of the address, such as `/projects/…`. */
export function useRoute(): readonly string[] {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = (): void => setHash(location.hash);
    for (const event of EVENTS) addEventListener(event, follow);
    return () => {
      for (const event of EVENTS) removeEventListener(event, follow);
    };
  }, []);
  return hash
    .replace(/^#?\/?/, "")
    .split("/")
    .filter(Boolean)
    .map(decodeOr);
}

/** Fired by a link, and by {@link goTo} or a history step to another network. */
const EVENTS = ["hashchange", "popstate"] as const;

function decodeOr(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
