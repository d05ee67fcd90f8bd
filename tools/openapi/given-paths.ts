import type { DescField, DescOneof } from "@bufbuild/protobuf";

/** The parts of a request that come from its path, as dotted paths in proto names. */
export type GivenPaths = ReadonlySet<string>;

/** Whether the path gives the field, a part of it, or one field of the oneof. */
export function isGiven(member: DescField | DescOneof, given: GivenPaths): boolean {
  if (member.kind === "oneof") return member.fields.some((field) => isGiven(field, given));
  return given.has(member.name) || pathsBelow(member, given).size > 0;
}

/** Returns the given parts of the field's own message, as paths in that message. */
export function pathsBelow({ name }: DescField, given: GivenPaths): GivenPaths {
  const inside = [...given].filter((path) => path.startsWith(`${name}.`));
  return new Set(inside.map((path) => path.slice(name.length + 1)));
}
