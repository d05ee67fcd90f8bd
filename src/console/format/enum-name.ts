import type { DescEnum } from "@bufbuild/protobuf";

/** Returns the contract's name of an enum value, or its number if this console does not know it. */
export function enumName(schema: DescEnum, value: number): string {
  return schema.value[value]?.name ?? `${value}`;
}
