import { concatBytes } from "@noble/hashes/utils.js";
import { encodeUleb128 } from "../../../protocol/bytes.ts";
import { blake2b256 } from "../../../protocol/chain/sui-hash.ts";
import type { ExecutionState, WorkingObject } from "../execution/execution-state.ts";
import { moveAbort } from "../execution/failures.ts";
import type { FieldInfo } from "./object.ts";
import { addressBytes, addressOfBytes, ID_TYPE, SUI_FRAMEWORK, typeTagBytes, u64Bytes } from "./sui-types.ts";

const DYNAMIC_FIELD = `${SUI_FRAMEWORK}::dynamic_field`;
/** Sui hashes the ids of dynamic fields under this prefix. */
const FIELD_ID_INTENT = 0xf0;
/** `0x2::dynamic_field::EFieldAlreadyExists` */
const FIELD_ALREADY_EXISTS = 0;
/** `0x2::dynamic_field::EFieldDoesNotExist` */
const FIELD_DOES_NOT_EXIST = 1;

/** The name of a dynamic field: its Move type and BCS bytes. */
export interface FieldName {
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** A `Table`, `ObjectTable` or `Bag` inside its parent object. Its entries are dynamic fields of its own id. */
export interface TableHandle {
  id: string;
  size: string;
}

/** Returns a field name of Move type `address` or `ID`. */
export function idName(id: string, type: "address" | "ID" = "ID"): FieldName {
  return { type: type === "ID" ? ID_TYPE : "address", bytes: addressBytes(id) };
}

/** Returns a field name of Move type `u64`. */
export function u64Name(value: bigint): FieldName {
  return { type: "u64", bytes: u64Bytes(value) };
}

/** Returns a field name of Move type `vector<u8>`. */
export function bytesName(value: Uint8Array): FieldName {
  return { type: "vector<u8>", bytes: concatBytes(encodeUleb128(value.length), value) };
}

/** Returns the id of the field object under `name`, derived by the same hash as on Sui. */
export function fieldId(parentId: string, name: FieldName): string {
  const parts = [
    addressBytes(parentId),
    u64Bytes(BigInt(name.bytes.length)),
    name.bytes,
    typeTagBytes(name.type),
  ];
  return addressOfBytes(blake2b256(Uint8Array.of(FIELD_ID_INTENT), ...parts));
}

/** Returns the id of the field object under `name` in a table of objects. */
export function objectFieldId(parentId: string, name: FieldName): string {
  return fieldId(parentId, { type: wrapperType(name.type), bytes: name.bytes });
}

/** Returns the parts of a field object that contains its value. */
export function fieldParts(parentId: string, name: FieldName, valueType: string, value: Uint8Array) {
  const id = fieldId(parentId, name);
  const field: FieldInfo = { nameType: name.type, name: name.bytes, valueType, childId: undefined };
  const contents = concatBytes(addressBytes(id), name.bytes, value);
  return { id, type: fieldType(name.type, valueType), contents, field };
}

/** Returns the parts of a field object that points to a child object. */
export function objectFieldParts(parentId: string, name: FieldName, childId: string, childType: string) {
  const wrapped = { type: wrapperType(name.type), bytes: name.bytes };
  const parts = fieldParts(parentId, wrapped, ID_TYPE, addressBytes(childId));
  return { ...parts, field: { nameType: name.type, name: name.bytes, valueType: childType, childId } };
}

/** Adds a value under `name`. Aborts if the name is taken. */
export function addField(
  state: ExecutionState,
  table: TableHandle,
  name: FieldName,
  valueType: string,
  value: Uint8Array,
): void {
  const parts = fieldParts(table.id, name, valueType, value);
  state.countField(parts.id);
  if (state.find(parts.id) !== undefined) throw moveAbort(`${DYNAMIC_FIELD}::add`, FIELD_ALREADY_EXISTS);
  state.create({ ...parts, owner: { kind: "object", parentId: table.id } });
  resize(table, 1n);
}

/** Returns the bytes under `name`, or undefined if there are none. */
export function fieldValue(
  state: ExecutionState,
  table: TableHandle,
  name: FieldName,
): Uint8Array | undefined {
  const id = fieldId(table.id, name);
  state.countField(id);
  const object = state.find(id);
  return object === undefined ? undefined : state.contents(object).subarray(32 + name.bytes.length);
}

/** Removes and returns the value under `name`. Aborts if there is none. */
export function removeField(state: ExecutionState, table: TableHandle, name: FieldName): Uint8Array {
  const value = fieldValue(state, table, name);
  const object = state.find(fieldId(table.id, name));
  if (value === undefined || object === undefined) {
    throw moveAbort(`${DYNAMIC_FIELD}::remove`, FIELD_DOES_NOT_EXIST);
  }
  state.remove(object);
  resize(table, -1n);
  return value;
}

/** Adds an object under `name`. Aborts if the name is taken. */
export function addObject(
  state: ExecutionState,
  table: TableHandle,
  name: FieldName,
  child: WorkingObject,
): void {
  const parts = objectFieldParts(table.id, name, child.id, child.type);
  state.countField(parts.id);
  if (state.find(parts.id) !== undefined) throw moveAbort(`${DYNAMIC_FIELD}::add`, FIELD_ALREADY_EXISTS);
  state.create({ ...parts, owner: { kind: "object", parentId: table.id } });
  state.countField(child.id);
  child.owner = { kind: "object", parentId: parts.id };
  child.mutated = true;
  resize(table, 1n);
}

/** Returns the object under `name`, or undefined if there is none. */
export function findObject(
  state: ExecutionState,
  table: TableHandle,
  name: FieldName,
): WorkingObject | undefined {
  const id = objectFieldId(table.id, name);
  state.countField(id);
  const childId = state.find(id)?.field?.childId;
  if (childId === undefined) return undefined;
  state.countField(childId);
  return state.find(childId);
}

/** Returns the object under `name`. Aborts if there is none. */
export function borrowObject(state: ExecutionState, table: TableHandle, name: FieldName): WorkingObject {
  const child = findObject(state, table, name);
  if (child === undefined) throw moveAbort(`${DYNAMIC_FIELD}::borrow_child_object`, FIELD_DOES_NOT_EXIST);
  return child;
}

/** Removes the object under `name`, so that the transaction holds it. Aborts if there is none. */
export function removeObject(state: ExecutionState, table: TableHandle, name: FieldName): WorkingObject {
  const field = state.find(objectFieldId(table.id, name));
  const child = findObject(state, table, name);
  if (field === undefined || child === undefined) {
    throw moveAbort(`${DYNAMIC_FIELD}::remove_child_object`, FIELD_DOES_NOT_EXIST);
  }
  state.remove(field);
  child.owner = undefined;
  child.mutated = true;
  resize(table, -1n);
  return child;
}

function fieldType(nameType: string, valueType: string): string {
  return `${DYNAMIC_FIELD}::Field<${nameType},${valueType}>`;
}

function wrapperType(nameType: string): string {
  return `${SUI_FRAMEWORK}::dynamic_object_field::Wrapper<${nameType}>`;
}

function resize(table: TableHandle, by: bigint): void {
  table.size = (BigInt(table.size) + by).toString();
}
