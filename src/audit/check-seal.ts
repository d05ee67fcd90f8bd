import type { AuditSeal } from "../seals/audit-seal.ts";
import { merkleRoot } from "../seals/merkle-tree.ts";
import type { HashedEntry } from "./check-entries.ts";
import { verifySealSignature } from "./seal-key.ts";

/** Returns true if the entries, complete and in order, match the seal. */
export function fitsEntries(seal: AuditSeal, entries: readonly HashedEntry[]): boolean {
  const last = entries.at(-1);
  if (last === undefined) return false;
  const root = merkleRoot(entries.map(({ computedLeafHash }) => computedLeafHash));
  return Buffer.compare(root, seal.merkleRoot) === 0 && Buffer.compare(last.chainHash, seal.chainHash) === 0;
}

/** Whether a seal is signed: `none`, `wrong`, by a key that is `trusted`, or by one that is `unknown`. */
export function signatureStanding(
  { sealHash: hash, publicKey, signature }: AuditSeal,
  trusted: readonly Uint8Array[],
): "none" | "wrong" | "trusted" | "unknown" {
  if (publicKey === null || signature === null) return "none";
  if (!verifySealSignature(publicKey, hash, signature)) return "wrong";
  return trusted.some((key) => Buffer.compare(key, publicKey) === 0) ? "trusted" : "unknown";
}
