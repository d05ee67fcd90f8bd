import { type DescField, type DescMessage, isMessage, type Message } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";

/** The fields from a message down to one of its parts. All but the last are singular messages. */
export type FieldPath = readonly [DescField, ...DescField[]];

/** Finds the fields of a dotted path in proto or JSON names; `undefined` when there are none such. */
export function resolveFieldPath(message: DescMessage, path: string): FieldPath | undefined {
  const [name = "", ...rest] = path.split(".");
  const field = findField(message, name);
  if (field === undefined || rest.length === 0) return field && [field];
  if (field.fieldKind !== "message") return undefined;
  const tail = resolveFieldPath(field.message, rest.join("."));
  return tail && [field, ...tail];
}

/** The field of that proto or JSON name. */
export function findField(message: DescMessage, name: string): DescField | undefined {
  return message.fields.find((field) => field.name === name || field.jsonName === name);
}

/** The path in proto names. */
export function protoPath(path: FieldPath): string {
  return path.map((field) => field.name).join(".");
}

/** The last field of the path. */
export function leafOf(path: FieldPath): DescField {
  return path.at(-1) ?? path[0];
}

/** The value at the path, or `undefined` where it is not set. */
export function valueAt(desc: DescMessage, message: Message, path: FieldPath): unknown {
  let at: ReflectMessage = reflect(desc, message);
  let value: unknown;
  for (const field of path) {
    if (!at.isSet(field)) return undefined;
    value = at.get(field);
    if (field.fieldKind === "message" && isReflectMessage(value)) at = value;
  }
  return isReflectMessage(value) ? value.message : value;
}

function isReflectMessage(value: unknown): value is ReflectMessage {
  return typeof value === "object" && value !== null && "message" in value && isMessage(value.message);
}
