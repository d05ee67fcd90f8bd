import type { SuiGrpcClient } from "@mysten/sui/grpc";

/** Returns the dynamic fields of an object with their values, page by page. Throws above `maxCount` fields. */
export async function listFields(
  client: Pick<SuiGrpcClient, "listDynamicFields">,
  parentId: string,
  maxCount: number,
): Promise<FieldContent[]> {
  const fields: FieldContent[] = [];
  let cursor: string | null = null;
  do {
    const page = await listPage(client, parentId, cursor);
    for (const { name, value } of page.dynamicFields) fields.push({ name: name.bcs, value: value.bcs });
    if (fields.length > maxCount) throw new Error(`${parentId} has more than ${maxCount} entries`);
    cursor = page.hasNextPage ? page.cursor : null;
  } while (cursor !== null);
  return fields;
}

/** A dynamic field, in BCS. */
export interface FieldContent {
  readonly name: Uint8Array;
  readonly value: Uint8Array;
}

const PAGE_SIZE = 500;

function listPage(client: Pick<SuiGrpcClient, "listDynamicFields">, parentId: string, cursor: string | null) {
  return client.listDynamicFields({ parentId, cursor, limit: PAGE_SIZE, include: { value: true } });
}
