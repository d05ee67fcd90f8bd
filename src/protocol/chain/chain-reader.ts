import { ObjectError, type SuiClientTypes } from "@mysten/sui/client";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import { MixedUpAnswerError } from "./read-errors.ts";

/** Creates a reader of objects of any type through a Sui client. */
export function createChainReader(source: SuiObjectSource): ChainReader {
  return {
    async getObjects(objectIds, signal) {
      const found = await readFullnodeObjects(source, objectIds, signal);
      return new Map([...found].map(([objectId, { content }]) => [objectId, content]));
    },
  };
}

/** Reads the contents of chain objects by id. */
export interface ChainReader {
  /**
   * Returns the BCS contents of these objects by id, without the objects that do not exist.
   * Throws if the fullnode does not answer, and {@link MixedUpAnswerError} if it answers with other objects; the caller
   * may retry both. A retry after a {@link FinalReadError} cannot help.
   */
  getObjects(objectIds: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, Uint8Array>>;
}

/** One object as a fullnode returns it. */
export interface FullnodeObject {
  /** The Move type, such as `0x…::coordinator_inner::DWallet`. */
  readonly type: string;
  /** BCS. */
  readonly content: Uint8Array;
  /** The address or the object that owns it; undefined if none does. */
  readonly owner?: string | undefined;
}

/** The part of a Sui client (`SuiGrpcClient.core`) that {@link readFullnodeObjects} uses. */
export interface SuiObjectSource {
  getObjects(options: { objectIds: string[]; include: { content: true }; signal?: AbortSignal }): Promise<{
    objects: readonly (
      | Error
      | {
          readonly objectId: string;
          readonly type: string;
          readonly content?: Uint8Array;
          readonly owner?: SuiClientTypes.ObjectOwner;
        }
    )[];
  }>;
}

/** The maximum number of objects in one request to a fullnode. */
const BATCH_COUNT = 50;

/**
 * Reads objects through a Sui client, 50 per request, one request after another. Throws as {@link ChainReader} does.
 */
export async function readFullnodeObjects(
  source: SuiObjectSource,
  objectIds: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, FullnodeObject>> {
  const found = new Map<string, FullnodeObject>();
  const unreadable: string[] = [];
  for (let start = 0; start < objectIds.length; start += BATCH_COUNT) {
    const batch = objectIds.slice(start, start + BATCH_COUNT);
    const { objects } = await source.getObjects({
      objectIds: batch,
      include: { content: true },
      ...(signal === undefined ? {} : { signal }),
    });
    for (const [index, objectId] of batch.entries()) {
      const object = objects[index];
      if (isAbsent(object)) continue;
      const isOther = object === undefined || object instanceof Error || !isSame(object.objectId, objectId);
      if (isOther) unreadable.push(objectId);
      else if (object.content !== undefined) {
        const { type, content, owner } = object;
        found.set(objectId, { type, content, owner: owner?.AddressOwner ?? owner?.ObjectOwner ?? undefined });
      }
    }
  }
  if (unreadable.length === 0) return found;
  throw new MixedUpAnswerError("object", `the fullnode did not answer for ${unreadable[0]}`, unreadable);
}

const isSame = (one: string, other: string) => normalizeSuiAddress(one) === normalizeSuiAddress(other);

/**
 * Returns the existing objects in a Sui client's answer. Throws {@link MixedUpAnswerError} if the answer does not tell
 * for some object whether it exists.
 */
export function presentObjects<T>(answers: readonly (T | Error)[]): T[] {
  return answers.flatMap((answer) => {
    if (isAbsent(answer)) return [];
    if (!(answer instanceof Error)) return [answer];
    throw new MixedUpAnswerError("object", `the fullnode did not answer: ${answer.message}`);
  });
}

/**
 * Returns whether a Sui client's answer says that the object does not exist. Any other error does not tell whether it
 * exists.
 */
function isAbsent(answer: unknown): answer is ObjectError {
  return answer instanceof ObjectError && answer.reason === "notFound";
}
