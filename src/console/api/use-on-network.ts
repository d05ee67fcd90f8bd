import { useSession } from "./session-context.ts";

/** Returns a suffix such as ` on mainnet` for texts that must name their network; empty if the service has only one. */
export function useOnNetwork(): string {
  const { network, networks } = useSession();
  return networks.length > 1 ? ` on ${network}` : "";
}
