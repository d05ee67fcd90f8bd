/** A page of an explorer about a transaction, an object or an account; undefined on a network without an explorer. */
export function explorerUrl(
  network: string,
  kind: "tx" | "object" | "account",
  id: string,
): string | undefined {
  if (!["testnet", "mainnet"].includes(network)) return undefined;
  return `https://suiscan.xyz/${network}/${kind}/${encodeURIComponent(id)}`;
}
