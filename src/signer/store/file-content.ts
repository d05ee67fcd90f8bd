import { bytesToHex } from "@noble/hashes/utils.js";
import { Curve } from "../../client/sdk/index.ts";
import { hexToBytes } from "../../protocol/bytes.ts";
import type { KeyProgress, StoredKey } from "./key-store.ts";

/** Encodes the keys as the content of the encrypted file. */
export function encodeKeys(keys: Iterable<StoredKey>): Uint8Array {
  const written: WrittenKey[] = [...keys].map(({ seed, ...rest }) => ({
    ...rest,
    seedHex: bytesToHex(seed),
  }));
  return new TextEncoder().encode(JSON.stringify({ version: VERSION, keys: written } satisfies WrittenKeys));
}

/** Decodes the content of an opened file. Throws for a newer version; the seal has proven the rest. */
export function decodeKeys(content: Uint8Array): StoredKey[] {
  const { version, keys } = JSON.parse(new TextDecoder().decode(content)) as WrittenKeys;
  if (version !== VERSION)
    throw new Error(`the key file is of version ${version}, and this signer reads version ${VERSION}`);
  return keys.map(({ seedHex, ...rest }) => {
    if (!Object.hasOwn(Curve, rest.curve)) throw new Error("the key file has a key on an unknown curve");
    return { ...rest, seed: hexToBytes(seedHex) };
  });
}

const VERSION = 1;

interface WrittenKeys {
  readonly version: number;
  readonly keys: readonly WrittenKey[];
}

interface WrittenKey extends Omit<StoredKey, "seed"> {
  readonly seedHex: string;
  readonly progress: KeyProgress;
}
