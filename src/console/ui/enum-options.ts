import type { DescEnum } from "@bufbuild/protobuf";

/** Returns the values of an enum with their names, for a choice. Omits the unspecified one. */
export function enumOptions(schema: DescEnum): (readonly [string, string])[] {
  return schema.values.filter(({ number }) => number !== 0).map(({ number, name }) => [`${number}`, name]);
}
