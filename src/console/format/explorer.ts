import { networkTraits } from "../../protocol/network-traits.ts";

/** A page of an explorer about a transaction, an object or an account; undefined on a network without an explorer. */
export function explorerUrl(
  network: string,
  kind: "tx" | "object" | "account",
  id: string,
): string | undefined {
  const { explorerUrl: base } = networkTraits(network);
  return base && `${base}/${kind}/${encodeURIComponent(id)}`;
}
