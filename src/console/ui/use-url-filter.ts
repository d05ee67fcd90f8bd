import { useEffect, useState } from "preact/hooks";
import { ROUTE_EVENTS } from "./use-route.ts";

/**
 * A filter that the page's address keeps, as in `#/transactions?state=2`, so that a reload after the sign-in, a link
 * and the back button keep it. A value that the page does not know counts as the default.
 */
export function useUrlFilter<Value extends string = string>(
  name: string,
  defaultValue: NoInfer<Value>,
  isKnown: (value: string) => boolean = () => true,
): readonly [Value, (value: Value) => void] {
  const read = (): Value => {
    const value = parametersOf(location.hash).get(name);
    return value !== null && isKnown(value) ? (value as Value) : defaultValue;
  };
  const [value, setValue] = useState(read);
  useEffect(() => {
    const follow = (): void => setValue(read);
    for (const event of ROUTE_EVENTS) addEventListener(event, follow);
    return () => {
      for (const event of ROUTE_EVENTS) removeEventListener(event, follow);
    };
  }, []);
  return [
    value,
    (wanted) => {
      const parameters = parametersOf(location.hash);
      if (wanted === defaultValue) parameters.delete(name);
      else parameters.set(name, wanted);
      const [path = ""] = location.hash.split("?", 1);
      const hash = parameters.size === 0 ? path : `${path}?${parameters}`;
      // The address of a first page may have no hash yet.
      if (hash !== location.hash) history.pushState(null, "", hash || "#/");
      setValue(wanted);
    },
  ];
}

/** Returns a function that accepts the values of a choice. */
export function isOneOf(options: readonly (readonly [string, string])[]): (value: string) => boolean {
  return (value) => options.some(([option]) => option === value);
}

function parametersOf(hash: string): URLSearchParams {
  return new URLSearchParams(hash.split("?")[1] ?? "");
}
