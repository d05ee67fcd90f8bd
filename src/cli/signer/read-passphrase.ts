import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { SignerConfig } from "../../service/config/signer.ts";
import { readPrivateFile } from "../../signer/private-file.ts";
import { type CommandContext, UsageError } from "../command.ts";

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
  const ask = context.ask ?? askHidden;
  const passphrase = await ask("Passphrase of the key file: ");
  if (isNew && (await ask("The same again: ")) !== passphrase)
    throw new UsageError("the two passphrases differ; nothing was written");
  return passphrase;
}

async function askHidden(question: string): Promise<string> {
  if (!process.stdin.isTTY)
    throw new UsageError("there is no terminal to ask for the passphrase: set SIGNER_PASSPHRASE_FILE");
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  const stop = new AbortController();
  for (const event of ["SIGINT", "close"] as const) terminal.once(event, () => stop.abort());
  try {
    process.stderr.write(question);
    return await terminal.question("", { signal: stop.signal });
  } catch (cause) {
    throw new UsageError("no passphrase was given", { cause });
  } finally {
    terminal.close();
    process.stderr.write("\n");
  }
}
