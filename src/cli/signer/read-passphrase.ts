import type { SignerConfig } from "../../service/config/signer.ts";
import { readPrivateFile } from "../../signer/store/private-file.ts";
import { askSecret } from "../ask-secret.ts";
import { type CommandContext, UsageError } from "../command-line/command.ts";

/**
 * Returns the passphrase of the key file: from SIGNER_PASSPHRASE_FILE, or from the terminal, which does not show it.
 *
 * @param isNew whether to ask twice, because a typing error would make the file useless
 */
export async function readPassphrase(
  { passphraseFile }: Pick<SignerConfig, "passphraseFile">,
  context: CommandContext,
  isNew = false,
): Promise<string> {
  if (passphraseFile !== undefined) return readPrivateFile(passphraseFile, "the passphrase");
  const ask = (question: string) => askSecret(context, question, ASKED);
  const passphrase = await ask("Passphrase of the key file: ");
  if (isNew && (await ask("The same again: ")) !== passphrase)
    throw new UsageError("the two passphrases differ; nothing was written");
  return passphrase;
}

const ASKED = { what: "the passphrase", instead: "set SIGNER_PASSPHRASE_FILE" };
