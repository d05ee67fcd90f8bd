import { Secret } from "../platform/telemetry/secret.ts";
import { isPublic } from "./checks.ts";
import type { ConfigReader } from "./reader.ts";
import { parseSeal, SEAL_FORMS, type SealConfig } from "./seal-choice.ts";
import type { SIGNER_VARIABLES } from "./variables/signer-variables.ts";

/** Where a signer keeps its seeds, what seals them, and where new ones come from. */
export interface SignerStoreConfig {
  readonly store:
    | { readonly kind: "file"; readonly file: string }
    | { readonly kind: "vault"; readonly mount: string; readonly path: string }
    | { readonly kind: "memory" };
  readonly seal: SealConfig;
  readonly passphraseFile: string | undefined;
  /** Undefined for random seeds. */
  readonly masterSeed:
    | { readonly kind: "file"; readonly file: string }
    | { readonly kind: "value"; readonly hex: Secret }
    | undefined;
  /** Undefined if neither the store nor the seal is in Vault. */
  readonly vault: VaultConfig | undefined;
}

/** HashiCorp Vault or OpenBao. */
export interface VaultConfig {
  /** Without a path. */
  readonly url: string;
  readonly login:
    | { readonly kind: "token"; readonly file: string }
    | {
        readonly kind: "kubernetes";
        readonly role: string;
        readonly mount: string;
        readonly jwtFile: string;
      };
  readonly namespace: string | undefined;
  readonly caFile: string | undefined;
}

/** Reads where the seeds live. */
export function readSignerStore(read: Reader): SignerStoreConfig {
  const store = readStore(read);
  const seal = parseSeal(read.text("SIGNER_SEAL"));
  if (seal === undefined) read.fault("SIGNER_SEAL", read.text("SIGNER_SEAL"), SEAL_FORMS);
  const masterSeed = readMasterSeed(read);
  if (store.kind === "memory" && masterSeed === undefined)
    read.fault("SIGNER_MASTER_SEED_FILE", undefined, "a file with a master seed, with SIGNER_STORE=memory");
  return {
    store,
    seal: seal ?? { kind: "passphrase" },
    passphraseFile: read.optional("SIGNER_PASSPHRASE_FILE"),
    masterSeed,
    vault:
      store.kind === "vault" || seal?.kind === "vault-transit" ? readVault(read) : readUnneededVault(read),
  };
}

type Reader = ConfigReader<(typeof SIGNER_VARIABLES)[number]["name"]>;

const VAULT_STORE = /^vault:([A-Za-z0-9_-]{1,128})\/([A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+){0,7})$/;

function readStore(read: Reader): SignerStoreConfig["store"] {
  const text = read.text("SIGNER_STORE");
  if (text === "memory") return { kind: "memory" };
  if (!text.startsWith("vault:")) return { kind: "file", file: text };
  const [, mount = "", path = ""] = VAULT_STORE.exec(text) ?? [];
  if (mount === "")
    read.fault("SIGNER_STORE", text, "vault:<mount>/<path>, with letters, digits, _ and - in each part");
  return { kind: "vault", mount, path };
}

function readMasterSeed(read: Reader): SignerStoreConfig["masterSeed"] {
  const file = read.optional("SIGNER_MASTER_SEED_FILE");
  const hex = read.optional("SIGNER_MASTER_SEED_HEX");
  if (file !== undefined && hex !== undefined)
    read.fault("SIGNER_MASTER_SEED_HEX", undefined, "no value, with SIGNER_MASTER_SEED_FILE");
  if (file !== undefined) return { kind: "file", file };
  if (hex === undefined) return undefined;
  if (!/^[0-9a-f]{64}$/i.test(hex)) read.secretFault("SIGNER_MASTER_SEED_HEX", hex, "64 hex digits");
  return { kind: "value", hex: new Secret(hex) };
}

function readVault(read: Reader): VaultConfig | undefined {
  const url = read.url("SIGNER_VAULT_URL")?.replace(/\/+$/, "");
  if (url === undefined) {
    read.fault("SIGNER_VAULT_URL", undefined, "the URL of Vault, such as https://vault.example:8200");
    return undefined;
  }
  const isParsed = URL.canParse(url);
  if (isParsed && new URL(url).origin !== url)
    read.fault("SIGNER_VAULT_URL", undefined, "a URL without a path, a query and credentials");
  if (isParsed && /^http:/i.test(url) && isPublic(new URL(url).hostname))
    read.fault("SIGNER_VAULT_URL", undefined, "an https URL, because Vault's token travels to it");
  const tokenFile = read.optional("SIGNER_VAULT_TOKEN_FILE");
  const role = read.optional("SIGNER_VAULT_ROLE");
  if ((tokenFile === undefined) === (role === undefined))
    read.fault("SIGNER_VAULT_TOKEN_FILE", undefined, "a file with a token, or SIGNER_VAULT_ROLE, not both");
  const login =
    role === undefined
      ? { kind: "token" as const, file: tokenFile ?? "" }
      : {
          kind: "kubernetes" as const,
          role,
          mount: read.required("SIGNER_VAULT_LOGIN_MOUNT", /^[A-Za-z0-9_-]+$/, "the mount of the login"),
          jwtFile: read.text("SIGNER_VAULT_JWT_FILE"),
        };
  return {
    url,
    login,
    namespace: read.optional("SIGNER_VAULT_NAMESPACE"),
    caFile: read.file("SIGNER_VAULT_CA_FILE"),
  };
}

/** `tss signer restore --from-seal` may need Vault, although the settings of the new store do not. */
function readUnneededVault(read: Reader): VaultConfig | undefined {
  return read.isSet("SIGNER_VAULT_URL") ? readVault(read) : undefined;
}
