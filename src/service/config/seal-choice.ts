/** What wraps or derives the key of a store. */
export type SealConfig =
  | { readonly kind: "passphrase" }
  | { readonly kind: "aws-kms"; readonly key: string }
  | { readonly kind: "gcp-kms"; readonly key: string }
  | { readonly kind: "vault-transit"; readonly mount: string; readonly key: string };

/** Parses the form of SIGNER_SEAL. Returns undefined for another one. */
export function parseSeal(text: string): SealConfig | undefined {
  if (text === "passphrase") return { kind: "passphrase" };
  const [, aws] = /^aws-kms:([A-Za-z0-9:/_.-]{1,2048})$/.exec(text) ?? [];
  if (aws !== undefined) return { kind: "aws-kms", key: aws };
  const [, gcp] = GCP.exec(text) ?? [];
  if (gcp !== undefined) return { kind: "gcp-kms", key: gcp };
  const [, mount, key] = /^vault-transit:([A-Za-z0-9_-]{1,128})\/([A-Za-z0-9_.-]{1,128})$/.exec(text) ?? [];
  return mount === undefined || key === undefined ? undefined : { kind: "vault-transit", mount, key };
}

/** The forms of SIGNER_SEAL, in words. */
export const SEAL_FORMS =
  "passphrase, aws-kms:<key>, gcp-kms:projects/…/locations/…/keyRings/…/cryptoKeys/… or vault-transit:<mount>/<key>";

const GCP =
  /^gcp-kms:(projects\/[A-Za-z0-9:._-]+\/locations\/[a-z0-9-]+\/keyRings\/[A-Za-z0-9_-]+\/cryptoKeys\/[A-Za-z0-9_-]+)$/;
