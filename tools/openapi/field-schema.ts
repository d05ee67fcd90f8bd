import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import { type FieldRules, Ignore } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { commentOf } from "./comments.ts";
import { ruleKeywords, rulesOf } from "./rule-keywords.ts";
import { mapKeySchema, scalarSchema } from "./scalar-schema.ts";

/** Whether a schema describes the server's input or output. Rules apply to input. */
export type Direction = "input" | "output";

/** Finds the schemas of messages and enums. */
export interface TypeSchemas {
  ofMessage(message: DescMessage, direction: Direction): JsonObject;
  ofEnum(enumeration: DescEnum): JsonObject;
}

/** Returns the schema of a field in its message's JSON, with its comment and its rules. */
export function fieldSchema(field: DescField, direction: Direction, types: TypeSchemas): JsonObject {
  const rules = direction === "input" ? rulesOf(field) : undefined;
  const { schema, notes } = ruled(shapeOf(field, direction, types, rules), field, rules);
  const description = [commentOf(field), ...notes].filter((text) => text !== "").join("\n\n");
  return {
    ...schema,
    ...(description === "" ? {} : { description }),
    ...(field.deprecated ? { deprecated: true } : {}),
  };
}

/** The schema of a field, or of the items of a list or map. */
interface Value {
  readonly scalar?: ScalarType | undefined;
  readonly message?: DescMessage | undefined;
  readonly enum?: DescEnum | undefined;
}

function shapeOf(
  field: DescField,
  direction: Direction,
  types: TypeSchemas,
  rules: FieldRules | undefined,
): JsonObject {
  const itemSchema = (itemRules: FieldRules | undefined) => {
    const { schema, notes } = ruled(valueSchema(field, direction, types), field, itemRules, true);
    return notes.length === 0 ? schema : { ...schema, description: notes.join(" ") };
  };
  const type = rules?.type;
  if (field.fieldKind === "list") {
    return { type: "array", items: itemSchema(type?.case === "repeated" ? type.value.items : undefined) };
  }
  if (field.fieldKind !== "map") return valueSchema(field, direction, types);
  const { keys, values } = type?.case === "map" ? type.value : {};
  const said = keys && ruleKeywords(keys, { isKey: true });
  const names = { ...mapKeySchema(field.mapKey), ...said?.keywords };
  if (said !== undefined && said.notes.length > 0) names["description"] = said.notes.join(" ");
  return {
    type: "object",
    additionalProperties: itemSchema(values),
    ...(Object.keys(names).length === 0 ? {} : { propertyNames: names }),
  };
}

function valueSchema(value: Value, direction: Direction, types: TypeSchemas): JsonObject {
  if (value.message !== undefined) return types.ofMessage(value.message, direction);
  if (value.enum !== undefined) return types.ofEnum(value.enum);
  return scalarSchema(value.scalar ?? ScalarType.STRING);
}

/** Adds rules to a schema. @param isItem whether the rules are those of the field's items */
function ruled(
  schema: JsonObject,
  field: DescField,
  rules: FieldRules | undefined,
  isItem = false,
): { schema: JsonObject; notes: readonly string[] } {
  if (rules === undefined || rules.ignore === Ignore.ALWAYS) return { schema, notes: [] };
  const { keywords, notes } = ruleKeywords(rules, { enumeration: field.enum });
  if (Object.keys(keywords).length === 0) return { schema, notes };
  const bare = withoutWords(schema);
  if (rules.ignore === Ignore.IF_ZERO_VALUE) {
    return { schema: { ...bare, anyOf: [{ const: zeroOf(field, isItem) }, keywords] }, notes };
  }
  const joined: JsonObject = { ...bare, ...keywords };
  if ("exclusiveMinimum" in keywords && !("minimum" in keywords)) delete joined["minimum"];
  if ("exclusiveMaximum" in keywords && !("maximum" in keywords)) delete joined["maximum"];
  return { schema: joined, notes };
}

/** A floating-point number may be a word such as NaN, but no word satisfies a rule. */
function withoutWords(schema: JsonObject): JsonObject {
  const { anyOf, ...rest } = schema;
  const [number] = Array.isArray(anyOf) ? anyOf : [];
  return isObject(number) ? { ...rest, ...number } : schema;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The JSON of the value that an omitted field without presence has. */
function zeroOf(field: DescField, isItem: boolean): JsonValue {
  if (!isItem && field.fieldKind === "list") return [];
  if (!isItem && field.fieldKind === "map") return {};
  if (field.enum !== undefined) return field.enum.values[0]?.name ?? 0;
  const { type, contentEncoding } = scalarSchema(field.scalar ?? ScalarType.STRING);
  if (type === "boolean") return false;
  if (type !== "string") return 0;
  return field.scalar === ScalarType.STRING || contentEncoding !== undefined ? "" : "0";
}
