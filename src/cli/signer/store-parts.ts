import type { SignerConfig } from "../../service/config/signer.ts";
import { Secret } from "../../service/platform/telemetry/secret.ts";
import type { StoreParts } from "../../signer/store/open-store.ts";
import { readPrivateFile } from "../../signer/store/private-file.ts";
import { MASTER_SEED } from "../../signer/store/seed-source.ts";
import { openVault } from "../../signer/vault/vault-client.ts";
import type { CommandContext } from "../command-line/command.ts";
import { readPassphrase } from "./read-passphrase.ts";

/**
 * Does work with the parts that a store is made of, and closes them.
 *
 * @param isNew whether a passphrase from the terminal is asked twice
 */
export async function withStoreParts<T>(
  config: SignerConfig,
  context: CommandContext,
  isNew: boolean,
  work: (parts: StoreParts) => Promise<T>,
): Promise<T> {
  const { close, ...parts } = openStoreParts(config, context, isNew);
  try {
    return await work(parts);
  } finally {
    await close();
  }
}

/** Opens the parts that a store is made of. The passphrase is asked once. */
export function openStoreParts(
  config: SignerConfig,
  context: CommandContext,
  isNew = false,
): StoreParts & { close(): Promise<void> } {
  const vault = config.vault && openVault(config.vault);
  let asked: Promise<string> | undefined;
  return {
    vault,
    passphrase() {
      asked ??= readPassphrase(config, context, isNew);
      return asked;
    },
    close: async () => await vault?.close(),
  };
}

/** Returns the master seed, or undefined for random seeds. Throws without quoting it. */
export function readMasterSeed({ masterSeed }: Pick<SignerConfig, "masterSeed">): Secret | undefined {
  if (masterSeed === undefined) return undefined;
  if (masterSeed.kind === "value") return masterSeed.hex;
  const text = readPrivateFile(masterSeed.file, "the master seed");
  if (!MASTER_SEED.test(text))
    throw new Error(
      `the master seed in ${masterSeed.file} must have 64 hex digits, such as the output of: openssl rand -hex 32`,
    );
  return new Secret(text);
}
