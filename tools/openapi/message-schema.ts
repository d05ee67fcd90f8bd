import {
  type DescField,
  type DescMessage,
  type DescOneof,
  getOption,
  hasOption,
  type JsonObject,
} from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { message as messageRulesOption } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { commentOf } from "./comments.ts";
import { type Direction, fieldSchema, type TypeSchemas } from "./field-schema.ts";
import { requiredIn } from "./required-fields.ts";

/**
 * The schema of a message as an object of its fields. A reply always has its fields without presence; a request may
 * leave out what its rules do not ask for, and must have no others.
 * @param given dotted paths in proto names that come from elsewhere, from the path: allowed, but never required
 */
export function messageSchema(
  message: DescMessage,
  direction: Direction,
  types: TypeSchemas,
  given: ReadonlySet<string> = new Set(),
): JsonObject {
  const { fields } = message;
  const required = direction === "input" ? requiredIn(message) : alwaysIn(message);
  const properties = Object.fromEntries(
    fields.map((field) => [field.jsonName, propertySchema(field, direction, types, given)]),
  );
  const names = fields
    .filter((field) => required.has(field) && !isGiven(field, given))
    .map(({ jsonName }) => jsonName);
  const description = commentOf(message);
  return {
    type: "object",
    ...(description === "" ? {} : { description }),
    ...(fields.length === 0 ? {} : { properties }),
    ...(names.length === 0 ? {} : { required: names }),
    ...(direction === "input" ? { additionalProperties: false } : {}),
    ...alternatives(message, direction, required),
    ...(message.deprecated ? { deprecated: true } : {}),
  };
}

function propertySchema(
  field: DescField,
  direction: Direction,
  types: TypeSchemas,
  given: ReadonlySet<string>,
): JsonObject {
  const schema = fieldSchema(field, direction, types);
  const inside = [...given].filter((path) => path.startsWith(`${field.name}.`));
  if (field.fieldKind !== "message" || inside.length === 0) return schema;
  const tails = new Set(inside.map((path) => path.slice(field.name.length + 1)));
  return { ...messageSchema(field.message, direction, types, tails), ...withoutRef(schema) };
}

function withoutRef({ $ref, ...rest }: JsonObject): JsonObject {
  return rest;
}

function isGiven(field: DescField, given: ReadonlySet<string>): boolean {
  return [...given].some((path) => path === field.name || path.startsWith(`${field.name}.`));
}

/** Replies have implicit fields written out. */
function alwaysIn(message: DescMessage): ReadonlySet<DescField | DescOneof> {
  const { IMPLICIT, LEGACY_REQUIRED } = FeatureSet_FieldPresence;
  return new Set(
    message.fields.filter(({ presence }) => presence === IMPLICIT || presence === LEGACY_REQUIRED),
  );
}

/** At most one field of a oneof is there, and one at least where a rule says so. */
function alternatives(
  message: DescMessage,
  direction: Direction,
  required: ReadonlySet<DescField | DescOneof>,
): JsonObject {
  const groups = message.oneofs.map((oneof) => ({
    names: oneof.fields.map(({ jsonName }) => jsonName),
    isRequired: required.has(oneof),
  }));
  const rules = hasOption(message, messageRulesOption) ? getOption(message, messageRulesOption).oneof : [];
  if (direction === "input") {
    const jsonName = (name: string) => message.fields.find((field) => field.name === name)?.jsonName ?? name;
    groups.push(...rules.map((rule) => ({ names: rule.fields.map(jsonName), isRequired: rule.required })));
  }
  const pairs = groups.flatMap(({ names }) =>
    names.flatMap((name, index) => names.slice(index + 1).map((other) => ({ required: [name, other] }))),
  );
  const choices = groups
    .filter(({ isRequired }) => isRequired)
    .map(({ names }) => ({ anyOf: names.map((name) => ({ required: [name] })) }));
  const [choice, ...others] = choices;
  return {
    ...(pairs.length === 0 ? {} : { not: { anyOf: pairs } }),
    ...(others.length > 0 ? { allOf: choices } : choice),
  };
}
