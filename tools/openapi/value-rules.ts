import type { DescEnum, DescEnumValue } from "@bufbuild/protobuf";
import { isReflectMessage } from "@bufbuild/protobuf/reflect";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { type KeywordsOfRule, listOf } from "./text-rules.ts";

/** Rules on booleans, and on numbers that are numbers in JSON. */
export const keywordsOfNumber: KeywordsOfRule = (name, value) => {
  switch (name) {
    case "const":
      return { const: typeof value === "boolean" ? value : Number(value) };
    case "lt":
      return { exclusiveMaximum: Number(value) };
    case "lte":
      return { maximum: Number(value) };
    case "gt":
      return { exclusiveMinimum: Number(value) };
    case "gte":
      return { minimum: Number(value) };
    case "in":
      return { enum: listOf(value).map(Number) };
    case "not_in":
      return { not: { enum: listOf(value).map(Number) } };
    case "finite":
      return {};
    case "example":
      return { examples: listOf(value).map((one) => (typeof one === "boolean" ? one : Number(one))) };
    default:
      return undefined;
  }
};

/** Rules on numbers that are text in JSON, which cannot be bounded there: 64-bit integers, and keys of maps. */
export const keywordsOfNumberText: KeywordsOfRule = (name, value) => {
  const bound = WIDE_BOUNDS[name];
  if (bound !== undefined) return `${bound} ${String(value)}.`;
  switch (name) {
    case "const":
      return { const: String(value) };
    case "in":
      return { enum: listOf(value).map(String) };
    case "not_in":
      return { not: { enum: listOf(value).map(String) } };
    case "example":
      return { examples: listOf(value).map(String) };
    default:
      return undefined;
  }
};

const WIDE_BOUNDS: Readonly<Record<string, string>> = {
  lt: "Less than",
  lte: "At most",
  gt: "More than",
  gte: "At least",
};

/** Rules on times, which are text in JSON and cannot be bounded there. */
export const keywordsOfTime: KeywordsOfRule = (name, value) => {
  const bound = TIME_BOUNDS[name];
  if (bound === undefined || !isReflectMessage(value, TimestampSchema)) return undefined;
  const { seconds } = value.message as Timestamp;
  return `${bound} ${new Date(Number(seconds) * 1_000).toISOString().replace(".000Z", "Z")}.`;
};

const TIME_BOUNDS: Readonly<Record<string, string>> = {
  lt: "Before",
  lte: "At the latest",
  gt: "After",
  gte: "At the earliest",
};

/** Whether the value is the first name of its number. */
export function isFirstName(value: DescEnumValue): boolean {
  return value.parent.value[value.number] === value;
}

/** Rules on an enum, whose values are names in JSON. */
export function keywordsOfEnum({ values }: DescEnum): KeywordsOfRule {
  const names = (value: unknown) => {
    const numbers = listOf(value);
    return values.filter((one) => isFirstName(one) && numbers.includes(one.number)).map(({ name }) => name);
  };
  return (rule, value) => {
    switch (rule) {
      case "const":
      case "in":
        return { enum: names(value) };
      case "not_in":
        return { not: { enum: names(value) } };
      case "example":
        return { examples: names(value) };
      default:
        return undefined;
    }
  };
}
