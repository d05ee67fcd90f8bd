import { ObjectError } from "@mysten/sui/client";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import { MixedUpAnswerError } from "./mixed-up-answer.ts";

/** All that this project needs to read chain objects: their contents by id. */
export interface ChainReader {
  /**
   * The BCS contents of these objects, by id. An object that does not exist is absent from the result.
   * Throws when the fullnode does not answer, and {@link MixedUpAnswerError} when it answers for some objects with
   * others; a caller may try again. After a {@link FinalReadError} that cannot help.
   */
  getObjects(objectIds: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, Uint8Array>>;
}

/** One object as a fullnode gives it. */
export interface FullnodeObject {
  /** The Move type, such as `0x…::coordinator_inner::DWallet`. */
  readonly type: string;
  /** BCS. */
  readonly content: Uint8Array;
}

/** The part of a Sui client (`SuiGrpcClient.core`) that {@link readFullnodeObjects} uses. */
export interface SuiObjectSource {
  getObjects(options: { objectIds: string[]; include: { content: true }; signal?: AbortSignal }): Promise<{
    objects: readonly (
      | Error
      | { readonly objectId: string; readonly type: string; readonly content?: Uint8Array }
    )[];
  }>;
}

/** How many objects one request to a fullnode may name. */
const BATCH_COUNT = 50;

/** Reads through a Sui client, 50 objects a request, the requests in order. Throws as {@link ChainReader} does. */
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
        found.set(objectId, { type: object.type, content: object.content });
      }
    }
  }
  if (unreadable.length === 0) return found;
  throw new MixedUpAnswerError("object", `the fullnode did not answer for ${unreadable[0]}`, unreadable);
}

/** A reader of objects of any type through a Sui client. */
export function createChainReader(source: SuiObjectSource): ChainReader {
  return {
    async getObjects(objectIds, signal) {
      const found = await readFullnodeObjects(source, objectIds, signal);
      return new Map([...found].map(([objectId, { content }]) => [objectId, content]));
    },
  };
}

const isSame = (one: string, other: string) => normalizeSuiAddress(one) === normalizeSuiAddress(other);

/**
 * The objects in a Sui client's answer, without those that do not exist. Throws {@link MixedUpAnswerError} where the
 * answer says neither that an object is there nor that it is not.
 */
export function presentObjects<T>(answers: readonly (T | Error)[]): T[] {
  return answers.flatMap((answer) => {
    if (isAbsent(answer)) return [];
    if (!(answer instanceof Error)) return [answer];
    throw new MixedUpAnswerError("object", `the fullnode did not answer: ${answer.message}`);
  });
}

/**
 * Whether a Sui client's answer in an object's place says that the object does not exist. Any other error in its place
 * says nothing about that.
 */
function isAbsent(answer: unknown): answer is ObjectError {
  return answer instanceof ObjectError && answer.reason === "notFound";
}
