import { readFile } from "node:fs/promises";
import { isObjectId } from "../protocol/chain/object-id.ts";

/**
 * Creates the list of watched dWallets from a file with an id on each line, and from a project's list. A dWallet that was
 * on the list stays on it while the process runs, so that a service cannot take one off.
 */
export function createDWalletList({
  file,
  fromService,
  maxCount = DWALLETS_MAX_COUNT,
}: DWalletSource): DWalletList {
  const ids = new Set<string>();
  const add = (id: string): void => {
    if (ids.size >= maxCount && !ids.has(id)) throw new Error(`more than ${maxCount} dWallets are watched`);
    ids.add(id);
  };
  return {
    has: (id) => ids.has(id),
    count: () => ids.size,
    async refresh() {
      if (file !== undefined) for (const id of parse(await readFile(file, "utf8"), file)) add(id);
      if (fromService !== undefined) for await (const id of fromService()) add(id);
    },
  };
}

/** Where the list comes from: at least one of both. */
export interface DWalletSource {
  readonly file: string | undefined;
  readonly fromService: (() => AsyncIterable<string>) | undefined;
  /** Default {@link DWALLETS_MAX_COUNT}. */
  readonly maxCount?: number;
}

/** The watched dWallets. */
export interface DWalletList {
  has(dwalletId: string): boolean;
  count(): number;
  /** Reads the sources again. */
  refresh(): Promise<void>;
}

/** About 100 bytes each. */
const DWALLETS_MAX_COUNT = 100_000;

function parse(text: string, file: string): string[] {
  return text.split("\n").flatMap((line, index) => {
    const id = line.replace(/#.*/, "").trim();
    if (id === "") return [];
    if (isObjectId(id)) return [id];
    throw new Error(`line ${index + 1} of ${file} is not the id of a dWallet`);
  });
}
