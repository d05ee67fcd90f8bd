import type { DescMessage, JsonObject } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { scalarSchema } from "./scalar-schema.ts";

/** Messages without their own schema, in most cases because their JSON is not an object of their fields. */
const SCHEMAS: Readonly<Record<string, JsonObject>> = {
  "google.protobuf.Timestamp": { type: "string", format: "date-time" },
  "google.protobuf.Duration": {
    type: "string",
    pattern: "^-?[0-9]+(?:\\.[0-9]{1,9})?s$",
    description: "Seconds with up to nine decimals, ending in `s`.",
  },
  "google.protobuf.FieldMask": {
    type: "string",
    description: "Paths of fields in lowerCamelCase, separated by commas.",
  },
  "google.protobuf.Empty": { type: "object" },
  "google.protobuf.Struct": { type: "object", additionalProperties: true },
  "google.protobuf.Value": { description: "Any JSON value." },
  "google.protobuf.ListValue": { type: "array", items: {} },
  "google.protobuf.Any": {
    type: "object",
    properties: {
      "@type": { type: "string", description: "URL whose last segment is the name of the message." },
    },
    required: ["@type"],
    additionalProperties: true,
    description: "A message of any type, beside its type's URL.",
  },
};

/** Of these, the ones that a parameter's text can express. */
const TEXTS = ["google.protobuf.Timestamp", "google.protobuf.Duration", "google.protobuf.FieldMask"];

/** Returns the inline schema of such a message; undefined for all others. */
export function wellKnownSchema(message: DescMessage): JsonObject | undefined {
  return isWrapperDesc(message) ? scalarSchema(message.fields[0].scalar) : SCHEMAS[message.typeName];
}

/** Whether the text of a path or query parameter can express the message. */
export function isTextMessage(message: DescMessage): boolean {
  return isWrapperDesc(message) || TEXTS.includes(message.typeName);
}
