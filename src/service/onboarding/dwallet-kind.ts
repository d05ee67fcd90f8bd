import { DWalletKind } from "../../../gen/proto/tss/v1/onboarding_pb.ts";
import type { SignatureAlgorithmName } from "../../protocol/algorithms.ts";
import { isEcdsa } from "../../protocol/signatures/signature-forms.ts";

/** Where a dWallet's key comes from, as its row says. */
export type DWalletKindName = "dkg" | "imported_key";

/** Returns the kind of a request; an unspecified one is a DKG. */
export function kindName(kind: DWalletKind): DWalletKindName {
  return kind === DWalletKind.imported_key ? "imported_key" : "dkg";
}

/** Encodes the kind of a row. */
export function encodeKind(kind: string): DWalletKind {
  return isImportedKey({ kind }) ? DWalletKind.imported_key : DWalletKind.dkg;
}

/** Returns whether the user had the key of a row's dWallet before. */
export function isImportedKey({ kind }: { readonly kind: string }): boolean {
  return kind === "imported_key";
}

/** Returns whether Ika signs with presigns that only this dWallet can use: ECDSA of an imported key. */
export function needsOwnPresigns(
  dwallet: { readonly kind: string },
  signatureAlgorithm: SignatureAlgorithmName,
): boolean {
  return isImportedKey(dwallet) && isEcdsa(signatureAlgorithm);
}
