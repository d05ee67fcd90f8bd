import { networkTraits } from "../../protocol/network-traits.ts";

/** Returns the URL of a transaction, an object or an account in an explorer; undefined on a network without one. */
export function explorerUrl(
  network: string,
  kind: "tx" | "object" | "account",
  id: string,
): string | undefined {
  const { explorerUrl: base } = networkTraits(network);
  return base && `${base}/${kind}/${encodeURIComponent(id)}`;
}
