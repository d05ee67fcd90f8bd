import { beforeAll, describe, expect, it } from "vitest";
import { describeLibrary } from "./library-document.ts";

interface ObjectSchema {
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

let schemas: Readonly<Record<string, ObjectSchema>>;
beforeAll(() => {
  schemas = describeLibrary().components.schemas as unknown as typeof schemas;
});

const property = (message: string, name: string) => schemas[message]?.properties[name];

describe("the schema of a reply", () => {
  it("requires exactly the fields that are written even when they are unset", () => {
    expect(schemas["Book"]?.required).toEqual(["name", "binding", "editions"]);
    expect(schemas["Everything"]?.required).toEqual([
      "text",
      "octets",
      "real",
      "wide",
      "yes",
      "nothing",
      "byTruth",
    ]);
  });

  it("follows protobuf's JSON mapping", () => {
    expect(schemas["Everything"]?.properties).toEqual({
      text: { type: "string" },
      octets: { type: "string", contentEncoding: "base64" },
      real: {
        anyOf: [
          { type: "number", format: "double" },
          { type: "string", enum: ["NaN", "Infinity", "-Infinity"] },
        ],
      },
      wide: { type: "string", format: "int64", pattern: "^-?[0-9]+$" },
      yes: { type: "boolean" },
      any: expect.objectContaining({ required: ["@type"] }),
      value: { description: "Any JSON value." },
      nothing: { type: "null" },
      wideOrNot: { type: "string", format: "int64", pattern: "^-?[0-9]+$" },
      byTruth: {
        type: "object",
        additionalProperties: { type: "string", contentEncoding: "base64" },
        propertyNames: { enum: ["true", "false"] },
      },
    });
  });

  it("has no rules, which apply only to requests", () => {
    expect(property("Book", "name")).toEqual({ type: "string", description: "Its name." });
  });

  it("allows at most one field of a oneof", () => {
    expect(schemas["Book"]).toMatchObject({
      dependentSchemas: { shelf: { properties: { reader: false } } },
    });
  });

  it("has each value of an enum under its first name", () => {
    expect(schemas["Binding"]).toMatchObject({
      enum: ["BINDING_UNSPECIFIED", "BINDING_PAPER", "BINDING_CLOTH"],
    });
  });
});

describe("the schema of a request", () => {
  it("is separate if the message is in replies too", () => {
    expect(schemas["BookInput"]?.required).toEqual(["name", "binding"]);
    expect(property("BookInput", "sequelOf")).toMatchObject({ $ref: "#/components/schemas/BookInput" });
    expect(property("Book", "sequelOf")).toMatchObject({ $ref: "#/components/schemas/Book" });
    expect(property("FindRequest", "like")).toMatchObject({
      items: { $ref: "#/components/schemas/BookInput" },
    });
  });

  it("admits no unknown fields", () => {
    expect(schemas["BookInput"]).toMatchObject({ additionalProperties: false });
  });

  it("requires the fields that the server requires", () => {
    expect(schemas["Rules"]?.required).toEqual(["id", "exact", "digest", "ratio", "agreed"]);
    expect(schemas["Rules"]).toMatchObject({
      anyOf: [{ required: ["left"] }, { required: ["right"] }],
    });
    expect(schemas["EverythingInput"]).toMatchObject({
      anyOf: [{ required: ["text"] }, { required: ["octets"] }],
      dependentSchemas: { text: { properties: { octets: false } } },
    });
  });

  it.each([
    ["Rules", "id", { type: "string", format: "uuid" }],
    ["Rules", "exact", { type: "string", minLength: 4, maxLength: 4 }],
    ["Rules", "maybe", { type: "string", anyOf: [{ const: "" }, { minLength: 3 }] }],
    ["Rules", "unruled", { type: "string" }],
    ["Rules", "re2", { type: "string", description: "Must match the RE2 expression `(?i)^a*$`." }],
    ["Rules", "digest", { type: "string", contentEncoding: "base64", minLength: 27, maxLength: 28 }],
    ["Rules", "small", { type: "string", contentEncoding: "base64", maxLength: 8 }],
    ["Rules", "wide", { type: "string", format: "int64", pattern: "^-?[0-9]+$", not: { enum: ["7"] } }],
    ["Rules", "ratio", { type: "number", format: "double", exclusiveMinimum: 0, maximum: 1 }],
    ["Rules", "even", { type: "string", description: "Must have an even length." }],
    ["Rules", "wrapped", { type: "string", enum: ["a"] }],
    [
      "Rules",
      "past",
      { type: "string", format: "date-time", description: "Must satisfy the rule `timestamp.lt_now`." },
    ],
    ["Rules", "agreed", { type: "boolean", const: true }],
    [
      "FindRequest",
      "pageSize",
      { type: "integer", format: "uint32", minimum: 0, exclusiveMaximum: 100, description: "How many." },
    ],
    [
      "BookInput",
      "name",
      {
        type: "string",
        minLength: 2,
        maxLength: 9,
        pattern: "[0-9]$",
        allOf: [{ pattern: "^b" }],
        description: "Its name.",
      },
    ],
    [
      "BookInput",
      "binding",
      {
        $ref: "#/components/schemas/Binding",
        enum: ["BINDING_PAPER", "BINDING_CLOTH"],
        description: "Its binding.",
      },
    ],
    [
      "BookInput",
      "pages",
      { type: "string", format: "uint64", pattern: "^[0-9]+$", description: "At most 9000.\n\nMore than 0." },
    ],
    [
      "BookInput",
      "editions",
      {
        type: "object",
        additionalProperties: { $ref: "#/components/schemas/BookInput" },
        propertyNames: { pattern: "^-?[0-9]+$", description: "At least 1." },
        maxProperties: 3,
      },
    ],
  ])("expresses the rules of %s.%s in keywords, or else in words", (message, name, schema) => {
    expect(property(message, name)).toEqual(schema);
  });
});
