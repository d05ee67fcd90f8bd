import { useEffect, useState } from "preact/hooks";
import { addressOn, networkInAddress } from "./go-to.ts";

/**
 * The network that the address names, or the first one if it names none of them. Where there are several, the address
 * names it from then on, so that a reload, a link and the way back keep it.
 */
export function useChosenNetwork(networks: readonly string[]): string {
  const [named, setNamed] = useState(networkInAddress);
  useEffect(() => {
    const follow = (): void => setNamed(networkInAddress());
    addEventListener("popstate", follow);
    return () => removeEventListener("popstate", follow);
  }, []);
  const chosen = networks.find((network) => network === named) ?? networks[0] ?? "";
  useEffect(() => {
    if (networks.length > 1 && networkInAddress() !== chosen)
      history.replaceState(null, "", addressOn(chosen, location.hash));
  }, [networks, chosen, named]);
  return chosen;
}
