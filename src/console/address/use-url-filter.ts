import { parameterOf, withParameter } from "./hash-parameters.ts";
import { useAddress } from "./use-route.ts";

/**
 * A filter that the page's address keeps, as in `#/transactions?state=2`, so that a reload after the sign-in, a link
 * and the back button keep it. A value that the page does not know counts as the default. A changed filter returns the
 * lists to their first pages. The setter adds an entry to the browser's history, unless it replaces the current one.
 */
export function useUrlFilter<Value extends string = string>(
  name: string,
  defaultValue: NoInfer<Value>,
  isKnown: (value: string) => boolean = () => true,
): readonly [Value, (value: Value, how?: "push" | "replace") => void] {
  const read = (): Value => {
    const value = parameterOf(location.hash, name);
    return value !== null && isKnown(value) ? (value as Value) : defaultValue;
  };
  return [
    useAddress(read),
    (wanted, how = "push") => {
      const hash = withParameter(location.hash, { name, value: wanted, defaultValue });
      if (hash === location.hash) return;
      // The address of a first page may have no hash yet.
      history[`${how}State`](null, "", hash || "#/");
      // Other parameters may have changed too. The browser fires this only when the reader navigates.
      dispatchEvent(new PopStateEvent("popstate"));
    },
  ];
}

/** Returns a function that accepts the values of a choice. */
export function isOneOf(options: readonly (readonly [string, string])[]): (value: string) => boolean {
  return (value) => options.some(([option]) => option === value);
}
