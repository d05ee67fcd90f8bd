import { readFile } from "node:fs/promises";
import { isObjectId } from "../protocol/chain/object-id.ts";

/**
 * Creates the list of watched dWallets from a file with an id on each line, and from a project's list. A dWallet that was
 * on the list stays on it while the process runs, so that a service cannot take one off. The file has its own maximum, so
 * that a service cannot use it up either.
 */
export function createDWalletList({
  file,
  fromService,
  maxCount = DWALLETS_MAX_COUNT,
}: DWalletSource): DWalletList {
  const ofFile = new Set<string>();
  const ofService = new Set<string>();
  const tooMany = () => new Error(`more than ${maxCount} dWallets are watched`);
  const add = (ids: Set<string>, id: string): void => {
    if (ids.size >= maxCount && !ids.has(id)) throw tooMany();
    ids.add(id);
  };
  const addListed = async (list: AsyncIterable<string>): Promise<void> => {
    let count = 0;
    for await (const id of list) {
      // A hostile list names the same dWallet without end.
      if (++count > maxCount) throw tooMany();
      if (isObjectId(id)) add(ofService, id);
    }
  };
  return {
    has: (id) => ofFile.has(id) || ofService.has(id),
    count: () => new Set([...ofFile, ...ofService]).size,
    async refresh() {
      if (file !== undefined) for (const id of parse(await readFile(file, "utf8"), file)) add(ofFile, id);
      if (fromService === undefined) return;
      const signal = AbortSignal.timeout(SERVICE_TIMEOUT_MS);
      await addListed(fromService(signal)).catch((cause: unknown) => {
        throw new ServiceListError(cause);
      });
    },
  };
}

/** Where the list comes from: at least one of both. */
export interface DWalletSource {
  readonly file: string | undefined;
  /** Ends with an error once the signal fires. */
  readonly fromService: ((signal: AbortSignal) => AsyncIterable<string>) | undefined;
  /** The maximum of each of both. Default {@link DWALLETS_MAX_COUNT}. */
  readonly maxCount?: number;
}

/** The watched dWallets. */
export interface DWalletList {
  has(dwalletId: string): boolean;
  count(): number;
  /** Reads the sources again. Rejects with a {@link ServiceListError} if only the service has failed. */
  refresh(): Promise<void>;
}

/** Thrown if the service does not list the project's dWallets. Those of the file are watched all the same. */
export class ServiceListError extends Error {
  override readonly name = "ServiceListError";

  constructor(cause: unknown) {
    super(`the service did not list the dWallets: ${cause instanceof Error ? cause.message : "unknown"}`, {
      cause,
    });
  }
}

/** About 100 bytes each. */
const DWALLETS_MAX_COUNT = 100_000;
/** A service that answers slowly must not keep the file from being read again. */
const SERVICE_TIMEOUT_MS = 120_000;

function parse(text: string, file: string): string[] {
  return text.split("\n").flatMap((line, index) => {
    const id = line.replace(/#.*/, "").trim();
    if (id === "") return [];
    if (isObjectId(id)) return [id];
    throw new Error(`line ${index + 1} of ${file} is not the id of a dWallet`);
  });
}
