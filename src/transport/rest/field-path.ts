import { type DescField, type DescMessage, isMessage, type Message } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";

/** The fields from a message to one of its parts. All but the last are singular messages. */
export type FieldPath = readonly [DescField, ...DescField[]];

/** More than the nesting limit of JSON messages, so no valid path is longer. */
const MAX_DEPTH = 100;

/** Resolves a dotted path of proto or JSON names, or returns `undefined` when there is no such field. */
export function resolveFieldPath(message: DescMessage, path: string): FieldPath | undefined {
  const names = path.split(".", MAX_DEPTH + 1);
  if (names.length > MAX_DEPTH) return undefined;
  const fields: DescField[] = [];
  let at: DescMessage | undefined = message;
  for (const name of names) {
    const field: DescField | undefined = at && findField(at, name);
    if (field === undefined) return undefined;
    fields.push(field);
    at = field.fieldKind === "message" ? field.message : undefined;
  }
  const [first, ...rest] = fields;
  return first && [first, ...rest];
}

/** Returns the field of a proto or JSON name. */
export function findField(message: DescMessage, name: string): DescField | undefined {
  return message.fields.find((field) => field.name === name || field.jsonName === name);
}

/** Returns the path in proto names. */
export function protoPath(path: FieldPath): string {
  return path.map((field) => field.name).join(".");
}

/** Returns the last field of the path. */
export function leafOf(path: FieldPath): DescField {
  return path.at(-1) ?? path[0];
}

/** Returns the value at the path, or `undefined` when it is not set. A message is returned as its reflection. */
export function valueAt(desc: DescMessage, message: Message, path: FieldPath): unknown {
  let at: ReflectMessage = reflect(desc, message);
  let value: unknown;
  for (const field of path) {
    if (!at.isSet(field)) return undefined;
    value = at.get(field);
    if (isReflectMessage(value)) at = value;
  }
  return value;
}

/** Returns the path of the oneof member that a value at `path` would replace, or `undefined`. */
export function replacedMember(
  desc: DescMessage,
  message: Message,
  path: FieldPath,
): readonly DescField[] | undefined {
  let at: ReflectMessage = reflect(desc, message);
  for (const [depth, field] of path.entries()) {
    const member = field.oneof && at.oneofCase(field.oneof);
    if (member !== undefined && member !== field) return [...path.slice(0, depth), member];
    const value = at.isSet(field) ? at.get(field) : undefined;
    if (!isReflectMessage(value)) return undefined;
    at = value;
  }
  return undefined;
}

/** Whether a value from {@link valueAt} is a message. */
export function isReflectMessage(value: unknown): value is ReflectMessage {
  return typeof value === "object" && value !== null && "message" in value && isMessage(value.message);
}
