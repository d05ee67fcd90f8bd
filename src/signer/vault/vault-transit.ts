import type { KeyWrapper } from "../seals/wrapped-seal.ts";
import { type VaultClient, VaultError } from "./vault-client.ts";

/** Wraps keys with a key of Vault's Transit, which binds them to the context as associated data. */
export function vaultTransit(vault: VaultClient, mount: string, key: string): KeyWrapper {
  const name = encodeURIComponent(key);
  return {
    by: "vault-transit",
    keyName: `${mount}/${key}`,
    async wrap(plain, context) {
      const body = { plaintext: base64(plain), associated_data: base64(Buffer.from(context)) };
      const made = await vault.call("POST", `${mount}/encrypt/${name}`, body);
      const ciphertext = made?.["ciphertext"];
      if (typeof ciphertext !== "string" || !/^vault:v\d+:/.test(ciphertext))
        throw new VaultError(`Vault has no Transit key ${mount}/${key}`);
      return new Uint8Array(Buffer.from(ciphertext));
    },
    async unwrap(wrapped, context) {
      const ciphertext = Buffer.from(wrapped).toString();
      const body = { ciphertext, associated_data: base64(Buffer.from(context)) };
      const opened = await vault.call("POST", `${mount}/decrypt/${name}`, body);
      const plaintext = opened?.["plaintext"];
      if (typeof plaintext !== "string") throw new VaultError(`Vault has no Transit key ${mount}/${key}`);
      return new Uint8Array(Buffer.from(plaintext, "base64"));
    },
  };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
