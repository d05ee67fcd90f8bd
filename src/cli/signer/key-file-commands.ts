import { mkdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { loadSignerConfig } from "../../service/config/config.ts";
import { createFile } from "../../signer/store/durable-file.ts";
import { createKeyFile, openKeyFile } from "../../signer/store/file-key-store.ts";
import type { CommandContext } from "../command.ts";
import { refuseExisting } from "../write-new-file.ts";
import { readPassphrase } from "./read-passphrase.ts";

/** `tss signer create`. */
export async function createStore(context: CommandContext): Promise<void> {
  const config = loadSignerConfig(context.environment);
  const { store } = config;
  await refuseExisting(store);
  const passphrase = await readPassphrase(config, context, true);
  mkdirSync(path.dirname(path.resolve(store)), { recursive: true, mode: 0o700 });
  await createKeyFile(store, passphrase);
  context.print(`created ${store}, without keys`);
  context.note(
    "Back up the file after each new key (`tss signer backup --out <file>`), and keep the passphrase elsewhere. Without both, the keys\n" +
      "are lost for good: neither the service nor its operator has the seeds.",
  );
}

/** `tss signer backup`: checks the very octets that it copies. */
export async function backUpStore(out: string, context: CommandContext): Promise<void> {
  const config = loadSignerConfig(context.environment);
  await refuseExisting(out);
  const count = await copyChecked(config.store, out, await readPassphrase(config, context));
  context.print(`wrote ${out}, with ${count} key(s)`);
}

/** `tss signer restore`. */
export async function restoreStore(from: string, context: CommandContext): Promise<void> {
  const config = loadSignerConfig(context.environment);
  const { store } = config;
  await refuseExisting(store);
  const passphrase = await readPassphrase(config, context);
  mkdirSync(path.dirname(path.resolve(store)), { recursive: true, mode: 0o700 });
  const count = await copyChecked(from, store, passphrase);
  context.print(`wrote ${store}, with ${count} key(s)`);
  context.note("Start no second signer with a copy of the same file: each would lack the other's new keys.");
}

/** Copies a key file that opens with the passphrase to a new file. Returns the number of its keys. */
async function copyChecked(from: string, to: string, passphrase: string): Promise<number> {
  const sealed = await readFile(from);
  const { keys } = await openKeyFile(sealed, passphrase);
  await createFile(to, sealed);
  return keys.length;
}
