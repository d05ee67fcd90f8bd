/** All that this project needs to read chain objects: their contents by id. */
export interface ChainReader {
  /**
   * The BCS contents of these objects, by id. An object that does not exist is absent from the result.
   * Throws when the fullnode does not answer; a caller may try again.
   */
  getObjects(objectIds: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, Uint8Array>>;
}

/** The part of a Sui client (`SuiGrpcClient.core`) that {@link createChainReader} uses. */
export interface SuiObjectSource {
  getObjects(options: {
    objectIds: string[];
    include: { content: true };
    signal?: AbortSignal;
  }): Promise<{ objects: readonly (Error | { readonly objectId: string; readonly content?: Uint8Array })[] }>;
}

/** How many objects one request to a fullnode may name. */
const BATCH_COUNT = 50;

/** Reads through a Sui client, 50 objects a request, the requests in order. */
export function createChainReader(source: SuiObjectSource): ChainReader {
  return {
    async getObjects(objectIds, signal) {
      const contents = new Map<string, Uint8Array>();
      for (let start = 0; start < objectIds.length; start += BATCH_COUNT) {
        const batch = objectIds.slice(start, start + BATCH_COUNT);
        const { objects } = await source.getObjects({
          objectIds: batch,
          include: { content: true },
          ...(signal === undefined ? {} : { signal }),
        });
        for (const object of objects) {
          // The client answers with an Error in the place of an object that does not exist.
          if (object instanceof Error || object.content === undefined) continue;
          contents.set(object.objectId, object.content);
        }
      }
      return contents;
    },
  };
}
