import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import path from "node:path";

/** Stores parameters in `<dataDirectory>/parameters`. Files appear complete or not at all. */
export function createParameterStore(dataDirectory: string): ParameterStore {
  const folder = path.join(dataDirectory, "parameters");
  const blob = (sha256: string) => path.join(folder, `${sha256}.bin`);
  const note = (networkKeyId: string, curve: number) => path.join(folder, `${networkKeyId}-${curve}.json`);
  return {
    async find(networkKeyId) {
      const found: StoredParameters[] = [];
      for (let curve = 0; curve < CURVE_COUNT; curve++) {
        const parameters = await readNote(note(networkKeyId, curve));
        if (parameters && (await isWhole(blob(parameters.sha256), parameters.sha256))) found.push(parameters);
      }
      return found;
    },
    async put(networkKeyId, curve, bytes) {
      await mkdir(folder, { recursive: true });
      const parameters = { curve, sha256: digest(bytes), sizeBytes: bytes.length };
      await writeWhole(blob(parameters.sha256), bytes);
      await writeWhole(note(networkKeyId, curve), JSON.stringify(parameters));
      return parameters;
    },
    async size(sha256) {
      return stat(blob(sha256)).then(
        ({ size }) => size,
        () => undefined,
      );
    },
    read: (sha256, offset, chunkBytes) =>
      createReadStream(blob(sha256), { start: offset, highWaterMark: chunkBytes }),
  };
}

/** Protocol parameters by their digest. */
export interface StoredParameters {
  /** The chain's integer. */
  readonly curve: number;
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** Protocol parameters on disk, addressed by content, with their network key and curve. */
export interface ParameterStore {
  /** The complete parameters of this network key. */
  find(networkKeyId: string): Promise<StoredParameters[]>;
  put(networkKeyId: string, curve: number, bytes: Uint8Array): Promise<StoredParameters>;
  /** Returns their size in bytes, or undefined if no parameters have this digest. */
  size(sha256: string): Promise<number | undefined>;
  /** Reads the bytes from an offset on, in chunks. */
  read(sha256: string, offset: number, chunkBytes: number): AsyncIterable<Uint8Array>;
}

const CURVE_COUNT = 4;

const digest = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

async function readNote(file: string): Promise<StoredParameters | undefined> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as StoredParameters;
  } catch {
    return undefined;
  }
}

/** A file that a crash or a disk has damaged counts as absent, so the service builds it again. */
async function isWhole(file: string, sha256: string): Promise<boolean> {
  return readFile(file).then(
    (bytes) => digest(bytes) === sha256,
    () => false,
  );
}

async function writeWhole(file: string, content: Uint8Array | string): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, content);
  await rename(temporary, file);
}
