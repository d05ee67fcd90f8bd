import { useEffect, useState } from "preact/hooks";
import { addressOn, networkInAddress } from "./go-to.ts";

/**
 * Returns the network in the address, or the first network if the address names none of them. With several networks,
 * also writes it to the address, so that a reload, a link and the back button keep it.
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
