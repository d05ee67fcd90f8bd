import type { SuiGrpcClient } from "@mysten/sui/grpc";
import type { Read } from "../retry-read.ts";

/**
 * Returns the dynamic fields of an object with their values, page by page. Runs each call with `read`, by default once.
 * Throws above `maxCount` fields.
 */
export async function listFields(
  client: Pick<SuiGrpcClient, "listDynamicFields">,
  parentId: string,
  maxCount: number,
  read: Read = once,
): Promise<FieldContent[]> {
  const fields: FieldContent[] = [];
  let cursor: string | null = null;
  do {
    const after: string | null = cursor;
    const page: Awaited<ReturnType<typeof listPage>> = await read((signal) =>
      listPage(client, { parentId, cursor: after, signal }),
    );
    for (const { fieldId, name, value } of page.dynamicFields)
      fields.push({ fieldId, name: name.bcs, value: value.bcs });
    if (fields.length > maxCount) throw new Error(`${parentId} has more than ${maxCount} entries`);
    cursor = page.hasNextPage ? page.cursor : null;
  } while (cursor !== null);
  return fields;
}

/** A dynamic field, in BCS. */
export interface FieldContent {
  /** The id of the field's object. */
  readonly fieldId: string;
  readonly name: Uint8Array;
  readonly value: Uint8Array;
}

const PAGE_SIZE = 500;

const once: Read = (call) => call(new AbortController().signal);

function listPage(
  client: Pick<SuiGrpcClient, "listDynamicFields">,
  page: { readonly parentId: string; readonly cursor: string | null; readonly signal: AbortSignal },
) {
  return client.listDynamicFields({ ...page, limit: PAGE_SIZE, include: { value: true } });
}
