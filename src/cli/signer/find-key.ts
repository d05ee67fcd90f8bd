import { readFile } from "node:fs/promises";
import type { Curve } from "../../client/sdk/index.ts";
import type { SignerConfig } from "../../service/config/signer.ts";
import { openKeyFile } from "../../signer/store/file-key-store.ts";
import type { ActiveDWallet, StoredKey } from "../../signer/store/key-store.ts";
import { openSeal, openStore, type StoreParts } from "../../signer/store/open-store.ts";
import { masterSeeds } from "../../signer/store/seed-source.ts";
import { type CommandContext, UsageError } from "../command-line/command.ts";
import { readMasterSeed, withStoreParts } from "./store-parts.ts";

/**
 * Finds a key in the store of the settings, also while a signer uses the store. With SIGNER_STORE=memory, derives its
 * seed from the master seed. The caller zeroes the seed.
 */
export async function findKey(
  values: KeyValues,
  config: SignerConfig,
  context: CommandContext,
): Promise<FoundKey> {
  const { name, curve, user: userReference } = values;
  if (config.store.kind === "memory") {
    const master = readMasterSeed(config);
    if (master === undefined) throw new UsageError("SIGNER_STORE=memory needs a master seed");
    if (curve === undefined)
      throw new UsageError("--curve is missing: SIGNER_STORE=memory has no list of the keys' curves");
    const seed = masterSeeds(master)({ name, curve, userReference });
    return { name, curve, seed, dwallet: undefined, isDerived: true };
  }
  if (curve !== undefined || userReference !== undefined)
    throw new UsageError("--curve and --user are for SIGNER_STORE=memory: this store has them");
  const keys = await withStoreParts(config, context, false, (parts) => readKeys(config, parts));
  const key = keys.find((each) => each.name === name);
  if (key === undefined) throw new Error(`the store has no key of the name ${name}`);
  const dwallet = key.progress.kind === "active" ? key.progress.dwallet : undefined;
  return { name, curve: key.curve, seed: key.seed, dwallet, isDerived: false };
}

/** Option values that name a key. */
export interface KeyValues {
  readonly name: string;
  /** Needed with SIGNER_STORE=memory alone. */
  readonly curve: Curve | undefined;
  /** The user that the key belongs to, with SIGNER_STORE=memory. */
  readonly user: string | undefined;
}

/** A key with its seed. */
export interface FoundKey {
  readonly name: string;
  readonly curve: Curve;
  readonly seed: Uint8Array;
  /** Undefined if the store does not know the dWallet. */
  readonly dwallet: ActiveDWallet | undefined;
  /** True if the seed was derived just now, so that nothing has checked the name. */
  readonly isDerived: boolean;
}

async function readKeys({ store, seal }: SignerConfig, parts: StoreParts): Promise<readonly StoredKey[]> {
  // Opening the file as a store would need the lock that a running signer has.
  if (store.kind === "file")
    return (await openKeyFile(await readFile(store.file), await openSeal(seal, parts))).keys;
  const opened = await openStore(store, seal, parts);
  try {
    return opened.list();
  } finally {
    await opened.close();
  }
}
