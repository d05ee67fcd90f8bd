import type { DescEnum, DescField, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { getOption, hasOption } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import {
  type FieldRules,
  FieldRulesSchema,
  field as fieldRulesOption,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { type KeywordsOfRule, keywordsOfBytes, keywordsOfItems, keywordsOfString } from "./text-rules.ts";
import { keywordsOfEnum, keywordsOfNumber, keywordsOfNumberText, keywordsOfTime } from "./value-rules.ts";

/** The rules of protovalidate as JSON Schema. */
export interface RuleKeywords {
  readonly keywords: JsonObject;
  /** Sentences for rules that JSON Schema cannot express. */
  readonly notes: readonly string[];
}

/** The kind of value that rules apply to, in addition to its type. */
export interface RuledValue {
  readonly enumeration?: DescEnum | undefined;
  /** Whether it is the key of a map, which is always text in JSON. */
  readonly isKey?: boolean;
}

/** Returns the field's `buf.validate.field` rules, if it has any. */
export function rulesOf(field: DescField): FieldRules | undefined {
  return hasOption(field, fieldRulesOption) ? getOption(field, fieldRulesOption) : undefined;
}

/** Rules without a keyword: JSON by name has only defined enum values, and the parent expresses `required`. */
const SILENT = ["enum.defined_only", "repeated.items", "map.keys", "map.values", "string.strict"];
const WIDE = ["int64", "uint64", "sint64", "fixed64", "sfixed64"];

/** Converts the rules of one value to keywords. Rules on items and entries belong to those and are omitted. */
export function ruleKeywords(rules: FieldRules, { enumeration, isKey }: RuledValue = {}): RuleKeywords {
  const { case: kind } = rules.type;
  const say = isKey && kind !== "string" ? keywordsOfNumberText : sayerOf(kind, enumeration);
  const parts: JsonObject[] = [];
  const notes = rules.cel.map((rule) => rule.message || `Must satisfy \`${rule.expression}\`.`);
  notes.push(...rules.celExpression.map((expression) => `Must satisfy \`${expression}\`.`));
  for (const [name, value] of setRules(rules)) {
    if (SILENT.includes(`${kind}.${name}`)) continue;
    const said = say(name, value) ?? `Must satisfy the rule \`${kind}.${name}\`.`;
    if (typeof said === "string") notes.push(said);
    else parts.push(said);
  }
  return { keywords: merge(parts), notes };
}

function sayerOf(kind: FieldRules["type"]["case"], enumeration: DescEnum | undefined): KeywordsOfRule {
  if (kind === "string") return keywordsOfString;
  if (kind === "bytes") return keywordsOfBytes;
  if (kind === "repeated" || kind === "map") return keywordsOfItems;
  if (kind === "timestamp") return keywordsOfTime;
  if (kind === "enum" && enumeration !== undefined) return keywordsOfEnum(enumeration);
  return kind !== undefined && WIDE.includes(kind) ? keywordsOfNumberText : keywordsOfNumber;
}

/** Returns the rules that are set for the value's type, by name. */
function setRules({ type }: FieldRules): [string, unknown][] {
  const member = FieldRulesSchema.fields.find((field) => field.localName === type.case);
  if (type.value === undefined || member?.fieldKind !== "message") return [];
  const at = reflect(member.message, type.value);
  return at.fields.filter((field) => at.isSet(field)).map((field) => [field.name, at.get(field)]);
}

/** Two rules may need the same keyword, such as a pattern and a prefix; the second one goes into `allOf`. */
function merge(parts: readonly JsonObject[]): JsonObject {
  const merged: JsonObject = {};
  const others: JsonValue[] = [];
  for (const part of parts) {
    if (Object.keys(part).some((keyword) => keyword in merged)) others.push(part);
    else Object.assign(merged, part);
  }
  return others.length === 0 ? merged : { ...merged, allOf: others };
}
