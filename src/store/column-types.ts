import pg from "pg";

const INT8 = 20;
const BYTEA = 17;

/**
 * How columns arrive: bigint as bigint, because money is; bytea as a plain Uint8Array that shares no memory with
 * others; everything else as pg has it. Given to one pool, never set for the whole process, where Prisma's adapter
 * and others have their own ideas.
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
