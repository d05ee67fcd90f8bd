import { useEffect, useState } from "preact/hooks";

/** The path after the `#` of the address, such as `/projects/…`, and the place that it names. */
export function useRoute(): readonly string[] {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = (): void => setHash(location.hash);
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return hash
    .replace(/^#?\/?/, "")
    .split("/")
    .filter(Boolean)
    .map(decodeOr);
}

function decodeOr(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
