/** Returns the URL of a transaction, an object or an account in an explorer; undefined on a network without one. */
export function explorerUrl(
  network: string,
  kind: "tx" | "object" | "account",
  id: string,
): string | undefined {
  if (!["testnet", "mainnet"].includes(network)) return undefined;
  return `https://suiscan.xyz/${network}/${kind}/${encodeURIComponent(id)}`;
}
