import pg from "pg";

const INT8 = 20;
const BYTEA = 17;

/**
 * The JavaScript types of columns: bigint for bigint, a Uint8Array with its own memory for bytea, and pg's defaults for
 * the rest. They belong to one pool, because Prisma's adapter and others need other types.
 */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => {
    if (format === "binary") return pg.types.getTypeParser(oid, format);
    switch (Number(oid)) {
      case INT8:
        return (text: string) => BigInt(text);
      case BYTEA:
        return (text: string) => Uint8Array.from(Buffer.from(text.slice(2), "hex"));
      default:
        return pg.types.getTypeParser(oid, format);
    }
  },
};
