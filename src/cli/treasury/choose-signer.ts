import type { Keypair } from "@mysten/sui/cryptography";
import { UsageError } from "../command.ts";
import type { ChangeValues } from "./change-options.ts";
import { readKeyFile } from "./read-key-file.ts";

/**
 * Returns the signing key; undefined for unsigned bytes and a dry run. Throws a UsageError for a wrong combination of
 * options.
 */
export function chooseSigner({
  keyFile,
  unsigned,
  sender,
  dryRun: isTry,
}: ChangeValues): Keypair | undefined {
  if (keyFile !== undefined && unsigned !== undefined)
    throw new UsageError("--key-file and --unsigned exclude each other");
  if (keyFile !== undefined && sender !== undefined)
    throw new UsageError("--key-file and --sender exclude each other: the key determines the sender");
  if (keyFile === undefined && unsigned === undefined && !isTry)
    throw new UsageError("--key-file, --unsigned or --dry-run is missing");
  return keyFile === undefined ? undefined : readKeyFile(keyFile);
}
