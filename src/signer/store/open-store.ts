import { awsKms } from "../seals/aws-kms.ts";
import { gcpKms } from "../seals/gcp-kms.ts";
import { passphraseSeal } from "../seals/passphrase-seal.ts";
import { wrappedSeal } from "../seals/wrapped-seal.ts";
import type { VaultClient } from "../vault/vault-client.ts";
import { openVaultStore } from "../vault/vault-key-store.ts";
import { vaultTransit } from "../vault/vault-transit.ts";
import { openFileKeyStore } from "./file-key-store.ts";
import type { KeyStore } from "./key-store.ts";
import { createMemoryKeyStore } from "./memory-key-store.ts";
import type { KeySeal } from "./sealed-file.ts";

/** Where seeds live. */
export type StorePlace =
  | { readonly kind: "file"; readonly file: string }
  | { readonly kind: "vault"; readonly mount: string; readonly path: string }
  | { readonly kind: "memory" };

/** What seals them. */
export type SealChoice =
  | { readonly kind: "passphrase" }
  | { readonly kind: "aws-kms"; readonly key: string }
  | { readonly kind: "gcp-kms"; readonly key: string }
  | { readonly kind: "vault-transit"; readonly mount: string; readonly key: string };

/** The parts of which a store is made. */
export interface StoreParts {
  readonly vault: VaultClient | undefined;
  /** Asked only if a passphrase seals. */
  readonly passphrase: () => Promise<string>;
}

/** Opens a seal. Throws if the package of a cloud is missing. */
export async function openSeal(choice: SealChoice, { vault, passphrase }: StoreParts): Promise<KeySeal> {
  switch (choice.kind) {
    case "passphrase":
      return passphraseSeal(await passphrase());
    case "aws-kms":
      return wrappedSeal(await awsKms(choice.key));
    case "gcp-kms":
      return wrappedSeal(await gcpKms(choice.key));
    case "vault-transit":
      return wrappedSeal(vaultTransit(needed(vault), choice.mount, choice.key));
  }
}

/** Opens a store. The memory needs no seal. */
export async function openStore(place: StorePlace, seal: SealChoice, parts: StoreParts): Promise<KeyStore> {
  switch (place.kind) {
    case "file":
      return await openFileKeyStore(place.file, await openSeal(seal, parts));
    case "vault":
      return await openVaultStore(needed(parts.vault), place, await openSeal(seal, parts));
    case "memory":
      return createMemoryKeyStore();
  }
}

/** Returns Vault. The settings need it for each store and each seal that is there. */
export function needed(vault: VaultClient | undefined): VaultClient {
  if (vault === undefined) throw new Error("SIGNER_VAULT_URL is not set");
  return vault;
}
