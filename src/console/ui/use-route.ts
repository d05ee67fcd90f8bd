import { useEffect, useState } from "preact/hooks";

/** The path after the `#` of the address, such as `/projects/…`, and the place that it names. */
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

/** A link, and a step of the history to the page on another network. */
const EVENTS = ["hashchange", "popstate"] as const;

function decodeOr(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
