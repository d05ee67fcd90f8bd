import { useSession } from "./session-context.ts";

/** ` on mainnet`, for a text that must say where it acts; empty if the service has one network. */
export function useOnNetwork(): string {
  const { network, networks } = useSession();
  return networks.length > 1 ? ` on ${network}` : "";
}
