import { mkdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { loadSignerConfig } from "../../service/config/config.ts";
import { parseSeal, type SealConfig } from "../../service/config/seal-choice.ts";
import type { SignerConfig } from "../../service/config/signer.ts";
import { createFile } from "../../signer/store/durable-file.ts";
import { createKeyFile, openKeyFile } from "../../signer/store/file-key-store.ts";
import type { StoredKey } from "../../signer/store/key-store.ts";
import { needed, openSeal, openStore, type StoreParts } from "../../signer/store/open-store.ts";
import { createVaultStore } from "../../signer/vault/vault-key-store.ts";
import { type CommandContext, UsageError } from "../command-line/command.ts";
import { refuseExisting } from "../output/write-new-file.ts";
import { withStoreParts } from "./store-parts.ts";

/** `tss signer create`. */
export async function createStore(context: CommandContext): Promise<void> {
  const config = loadSignerConfig(context.environment);
  await withStoreParts(config, context, true, (parts) => makeStore(config, parts, []));
  context.print(`created ${placeOf(config)}, without keys`);
  context.note(
    "Back it up after each new key (`tss signer backup --out <file>`), and keep what seals it, such as the passphrase, elsewhere.\n" +
      "Without both, the keys are lost for good: neither the service nor its operator has the seeds.",
  );
}

/** `tss signer backup`: opens the very octets that it copies. */
export async function backUpStore(out: string, context: CommandContext): Promise<void> {
  const config = loadSignerConfig(context.environment);
  await refuseExisting(out);
  const count = await withStoreParts(config, context, false, async (parts) => {
    const { store, seal } = config;
    if (store.kind === "memory") throw new UsageError(WHY_NO_BACKUP);
    if (store.kind === "file") return await copyChecked(store.file, out, config, parts);
    const opened = await openStore(store, seal, parts);
    try {
      const keys = opened.list();
      await createKeyFile(out, await openSeal(seal, parts), keys);
      return keys.length;
    } finally {
      await opened.close();
    }
  });
  context.print(`wrote ${out}, with ${count} key(s)`);
}

/**
 * `tss signer restore`.
 *
 * @param fromSeal what seals the copy, if it is not SIGNER_SEAL
 */
export async function restoreStore(
  from: string,
  fromSeal: string | undefined,
  context: CommandContext,
): Promise<void> {
  const config = loadSignerConfig(context.environment);
  const copySeal = fromSeal === undefined ? config.seal : parseSeal(fromSeal)!;
  // A passphrase that opens no copy is new, so a typing error would show only when the store is opened.
  const isNew = config.seal.kind === "passphrase" && copySeal.kind !== "passphrase";
  const count = await withStoreParts(config, context, isNew, async (parts) => {
    const { store } = config;
    if (store.kind === "memory") throw new UsageError(WHY_NO_BACKUP);
    if (store.kind === "file") await refuseExisting(store.file);
    if (store.kind === "file" && fromSeal === undefined) {
      makeFolder(store.file);
      return await copyChecked(from, store.file, config, parts);
    }
    const keys = await readCopy(from, copySeal, parts);
    await makeStore(config, parts, keys);
    return keys.length;
  });
  context.print(`wrote ${placeOf(config)}, with ${count} key(s)`);
  if (config.store.kind === "file")
    context.note(
      "Start no second signer with a copy of the same file: each would lack the other's new keys.",
    );
}

const WHY_NO_BACKUP =
  "SIGNER_STORE=memory has nothing to create, copy or restore: the master seed is all there is. Keep copies of that";

async function makeStore(
  { store, seal }: SignerConfig,
  parts: StoreParts,
  keys: readonly StoredKey[],
): Promise<void> {
  if (store.kind === "memory") throw new UsageError(WHY_NO_BACKUP);
  if (store.kind === "vault") {
    await createVaultStore(needed(parts.vault), store, await openSeal(seal, parts), keys);
    return;
  }
  await refuseExisting(store.file);
  const opened = await openSeal(seal, parts);
  makeFolder(store.file);
  await createKeyFile(store.file, opened, keys);
}

function makeFolder(file: string): void {
  mkdirSync(path.dirname(path.resolve(file)), { recursive: true, mode: 0o700 });
}

/** Copies a key file that opens to a new file. Returns the number of its keys. */
async function copyChecked(
  from: string,
  to: string,
  { seal }: SignerConfig,
  parts: StoreParts,
): Promise<number> {
  const opened = await openSeal(seal, parts);
  const sealed = await readFile(from);
  const { keys } = await openKeyFile(sealed, opened);
  await createFile(to, sealed);
  return keys.length;
}

async function readCopy(from: string, seal: SealConfig, parts: StoreParts): Promise<readonly StoredKey[]> {
  const opened = await openSeal(seal, parts);
  const { keys } = await openKeyFile(await readFile(from), opened);
  return keys;
}

function placeOf({ store }: SignerConfig): string {
  if (store.kind === "file") return store.file;
  return store.kind === "vault" ? `the store ${store.mount}/${store.path} in Vault` : "nothing";
}
