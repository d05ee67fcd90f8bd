import { type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";

/**
 * The field by which a stream can be taken up again: a string named `cursor`, in the messages of a stream and in its
 * request. `undefined` where there is none.
 */
export function cursorField(desc: DescMessage): (DescField & { fieldKind: "scalar" }) | undefined {
  const field = desc.fields.find(({ name }) => name === "cursor");
  return field?.fieldKind === "scalar" && field.scalar === ScalarType.STRING ? field : undefined;
}

/** The cursor of a message; empty where it has none. */
export function cursorOf(desc: DescMessage, message: Message): string {
  const field = cursorField(desc);
  return field === undefined ? "" : String(reflect(desc, message).get(field));
}

/** Fills the cursor of a request that has such a field and came without one. */
export function fillCursor(desc: DescMessage, message: Message, cursor: string): void {
  const field = cursorField(desc);
  if (field !== undefined && cursorOf(desc, message) === "") reflect(desc, message).set(field, cursor);
}

/**
 * Whether a message only says that its stream lives: of a type with a cursor, and with no field set but that and
 * `time`.
 */
export function isHeartbeat(desc: DescMessage, message: Message): boolean {
  if (cursorField(desc) === undefined) return false;
  const reflected = reflect(desc, message);
  return desc.fields.every(
    (field) => field.name === "cursor" || field.name === "time" || !reflected.isSet(field),
  );
}
