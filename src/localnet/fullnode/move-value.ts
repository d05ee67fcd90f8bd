import type { WorkingObject } from "./execution-state.ts";

/** A value that the commands of a transaction exchange. */
export type MoveValue =
  | {
      /** A value that is not an object. `type` is undefined for the untyped bytes of a pure input. */
      readonly kind: "data";
      readonly type: string | undefined;
      readonly bytes: Uint8Array;
      readonly copyable: boolean;
      readonly droppable: boolean;
    }
  | { readonly kind: "object"; readonly object: WorkingObject }
  /** A ticket to receive an object that was sent to another object. */
  | { readonly kind: "receiving"; readonly object: WorkingObject }
  | { readonly kind: "objects"; readonly objects: readonly WorkingObject[] };

/** Returns a value with `copy` and `drop`: every primitive, ID and option of those. */
export function plainValue(type: string, bytes: Uint8Array): MoveValue {
  return { kind: "data", type, bytes, copyable: true, droppable: true };
}

export function objectValue(object: WorkingObject): MoveValue {
  return { kind: "object", object };
}
