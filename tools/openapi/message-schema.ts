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
import { type GivenPaths, isGiven, pathsBelow } from "./given-paths.ts";
import { requiredIn } from "./required-fields.ts";

/**
 * Returns the schema of a message as an object of its fields. A reply always has its fields without presence. A request
 * may omit fields that its rules do not require, and may have no unknown ones.
 * @param given dotted paths in proto names that come from the path: allowed, but never required
 */
export function messageSchema(
  message: DescMessage,
  direction: Direction,
  types: TypeSchemas,
  given: GivenPaths = new Set(),
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
    ...alternatives(message, direction, (oneof) => required.has(oneof) && !isGiven(oneof, given)),
    ...(message.deprecated ? { deprecated: true } : {}),
  };
}

function propertySchema(
  field: DescField,
  direction: Direction,
  types: TypeSchemas,
  given: GivenPaths,
): JsonObject {
  const inside = pathsBelow(field, given);
  if (field.fieldKind !== "message" || inside.size === 0) return fieldSchema(field, direction, types);
  // The relaxed message belongs only to this property, so it has no name.
  const ofMessage = () => messageSchema(field.message, direction, types, inside);
  return fieldSchema(field, direction, { ...types, ofMessage });
}

/** Whether a reply writes the field out even if it is unset. */
function alwaysIn(message: DescMessage): ReadonlySet<DescField | DescOneof> {
  const { IMPLICIT, LEGACY_REQUIRED } = FeatureSet_FieldPresence;
  return new Set(
    message.fields.filter(({ presence }) => presence === IMPLICIT || presence === LEGACY_REQUIRED),
  );
}

/** At most one field of a oneof is set, and at least one if a rule requires it. */
function alternatives(
  message: DescMessage,
  direction: Direction,
  isRequired: (oneof: DescOneof) => boolean,
): JsonObject {
  const groups = message.oneofs.map((oneof) => ({
    names: oneof.fields.map(({ jsonName }) => jsonName),
    isRequired: isRequired(oneof),
  }));
  const rules = hasOption(message, messageRulesOption) ? getOption(message, messageRulesOption).oneof : [];
  if (direction === "input") {
    const jsonName = (name: string) => message.fields.find((field) => field.name === name)?.jsonName ?? name;
    groups.push(...rules.map((rule) => ({ names: rule.fields.map(jsonName), isRequired: rule.required })));
  }
  const exclusions = groups.flatMap(({ names }) =>
    names.slice(0, -1).map((name, index) => [name, absent(names.slice(index + 1))] as const),
  );
  const choices = groups
    .filter(({ isRequired }) => isRequired)
    .map(({ names }) => ({ anyOf: names.map((name) => ({ properties: { [name]: {} }, required: [name] })) }));
  const [choice, ...others] = choices;
  return {
    ...(exclusions.length === 0 ? {} : { dependentSchemas: Object.fromEntries(exclusions) }),
    ...(others.length > 0 ? { allOf: choices } : choice),
  };
}

function absent(names: readonly string[]): JsonObject {
  return { properties: Object.fromEntries(names.map((name) => [name, false])) };
}
