import { type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";

/**
 * Returns the field that resumes a stream: a string named `cursor`, in the stream's messages and in its request.
 * Returns `undefined` when there is none.
 */
export function cursorField(desc: DescMessage): (DescField & { fieldKind: "scalar" }) | undefined {
  const field = desc.fields.find(({ name }) => name === "cursor");
  return field?.fieldKind === "scalar" && field.scalar === ScalarType.STRING ? field : undefined;
}

/** Returns the cursor of a message; empty when it has none. */
export function cursorOf(desc: DescMessage, message: Message): string {
  const field = cursorField(desc);
  return field === undefined ? "" : String(reflect(desc, message).get(field));
}

/** Sets the cursor of a request that has such a field and arrived without one. */
export function fillCursor(desc: DescMessage, message: Message, cursor: string): void {
  const field = cursorField(desc);
  if (field !== undefined && cursorOf(desc, message) === "") reflect(desc, message).set(field, cursor);
}

/** Whether a message is a heartbeat: its type has a cursor, and no field is set except that and `time`. */
export function isHeartbeat(desc: DescMessage, message: Message): boolean {
  if (cursorField(desc) === undefined) return false;
  const reflected = reflect(desc, message);
  return desc.fields.every(
    (field) => field.name === "cursor" || field.name === "time" || !reflected.isSet(field),
  );
}
