import { create, type JsonValue, toJson } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TransportError } from "../../../../src/transport/calls/transport-error.ts";
import { decodeJson } from "../../../../src/transport/rest/decode-request.ts";
import { parametersToJson, readQuery } from "../../../../src/transport/rest/parameters.ts";
import { Parameters } from "./gallery.ts";

function decode(query: string) {
  return decodeJson(Parameters, parametersToJson(readQuery(Parameters, query, new Set())));
}

function refusal(run: () => unknown): TransportError {
  try {
    run();
  } catch (error) {
    expect(error).toMatchObject({ name: "TransportError", fault: "VALIDATION" });
    return error as TransportError;
  }
  throw new Error("it was not refused");
}

describe("a query parameter", () => {
  it.each<[string, JsonValue]>([
    ["string_value=a%20b+c", { stringValue: "a b c" }],
    ["stringValue=%C3%A9%3D%26", { stringValue: "é=&" }],
    ["string_value=a=b", { stringValue: "a=b" }],
    ["&string_value=a&", { stringValue: "a" }],
    ["optional_string", { optionalString: "" }],
    ["optional_string=", { optionalString: "" }],
    ["optional_uint32=0", { optionalUint32: 0 }],
    ["bool_value=true", { boolValue: true }],
    ["int32_value=-2147483648", { int32Value: -2147483648 }],
    ["int32_value=-0", {}],
    ["fixed64_value=18446744073709551615", { fixed64Value: "18446744073709551615" }],
    ["sfixed64_value=-9223372036854775808", { sfixed64Value: "-9223372036854775808" }],
    ["double_value=-1.5e3", { doubleValue: -1500 }],
    ["bytes_value=AQL_-w==", { bytesValue: "AQL/+w==" }],
    ["bytes_value=AQL%2F%2Bw", { bytesValue: "AQL/+w==" }],
    ["enum_value=ENUM_VALUE", { enumValue: "ENUM_VALUE" }],
    ["enum_value=1", { enumValue: "ENUM_VALUE" }],
    ["enum_value=-7", { enumValue: -7 }],
    ["string_list=a&stringList=b&string_list=", { stringList: ["a", "b", ""] }],
    ["double_list=1&double_list=NaN", { doubleList: [1, "NaN"] }],
    ["bytes_list=AQ&bytes_list=-w", { bytesList: ["AQ==", "+w=="] }],
    ["enum_list=ENUM_VALUE&enum_list=1", { enumList: ["ENUM_VALUE", "ENUM_VALUE"] }],
    ["int64_wrapper_list=1&int64_wrapper_list=-2", { int64WrapperList: ["1", "-2"] }],
    ["timestamp_list=2024-01-02T03:04:05Z", { timestampList: ["2024-01-02T03:04:05Z"] }],
    ["timestamp=2024-01-02T03:04:05%2B01:00", { timestamp: "2024-01-02T02:04:05Z" }],
    ["duration=-1.5s", { duration: "-1.500s" }],
    ["field_mask=fooBar,baz.qux", { fieldMask: "fooBar,baz.qux" }],
    ["int64_value_wrapper=0", { int64ValueWrapper: "0" }],
    ["bool_value_wrapper=false", { boolValueWrapper: false }],
    ["nested.string_value=x", { nested: { stringValue: "x" } }],
    [
      "nested.nested.stringValue=x&nested.enumValue=1",
      { nested: { nested: { stringValue: "x" }, enumValue: "ENUM_VALUE" } },
    ],
    ["oneof_nested.count=1&oneof_nested.left=a", { oneofNested: { count: 1, left: "a" } }],
    ["", {}],
  ])("%s is read", (query, expected) => {
    expect(toJson(Parameters, decode(query))).toEqual(expected);
  });

  it.each([
    ...["bool_value=1", "bool_value=TRUE", "bool_value=", "bool_value_wrapper=yes"],
    ...["int32_value=2147483648", "int32_value=-2147483649", "int32_value=1.0", "int32_value=1e2"],
    ...["uint32_value=-1", "uint32_value=4294967296", "uint32_value=+1", "uint32_value=0x1", "uint32_value="],
    ...["int64_value=9223372036854775808", "uint64_value=-1", "uint64_value=18446744073709551616"],
    ...["fixed32_value=4294967296", "sfixed32_value=2147483648", "sint64_value=%201"],
    ...["uint32_value_wrapper=4294967296", "int64_wrapper_list=1&int64_wrapper_list=a"],
    ...[
      "float_value=3.5e38",
      "float_value=-3.5e38",
      "double_value=1e309",
      "double_value=.5",
      "double_value=1.",
    ],
    ...["double_value=inf", "double_value=0x10", "double_value=", "float_value_wrapper=1e39"],
    ...["bytes_value=A", "bytes_value=AQ=", "bytes_value=A+Q", "bytes_value=AQ==AQ==", "bytes_value=%25"],
    ...["enum_value=BLUE", "enum_value=enum_value", "enum_value=2147483648", "enum_value=", "enum_value=1.0"],
    ...["timestamp=yesterday", "timestamp=10000-01-01T00:00:00Z", "duration=1", "field_mask=foo_bar"],
    ...["nested=%7B%7D", "string_map=a", "string_map.a=b", "nested_list=a", "nested_list.count=1"],
    ...["nested.nope=1", "string_value.x=1", "nope=1", "=1", ".=1", "nested.=1", "nested..count=1"],
    ...["string_value=a&string_value=b", "string_value=a&stringValue=b", "nested.count=1&nested.count=1"],
    ...["string_value=%ff", "string_value=%zz", "string_value=%"],
  ])("%s is refused, and the field is named", (query) => {
    const { violations } = refusal(() => decode(query));
    const [name = ""] = query.split("=");
    expect(violations).toEqual([
      { field: expect.stringMatching(expectedName(name)), description: expect.stringMatching(/./) },
    ]);
  });

  it.each([
    ["oneof_double_value=1&oneof_enum_value=1", "oneof_enum_value", "oneof_double_value"],
    ["oneof_nested.count=1&oneof_double_value=1", "oneof_double_value", "oneof_nested"],
    ["nested.left=a&nested.right=b", "nested.right", "nested.left"],
  ])("%s is refused, because its fields exclude each other", (query, field, other) => {
    expect(refusal(() => decode(query)).violations).toEqual([
      { field, description: `cannot be set together with ${other}` },
    ]);
  });

  it("must not set a field of the path or the body, nor a part of it", () => {
    const read = (query: string) => readQuery(Parameters, query, new Set(["nested"]));
    expect(refusal(() => read("nested.count=1")).message).toMatch(/^nested\.count: already set by/);
    expect(read("string_value=x")).toMatchObject([{ texts: ["x"] }]);
  });

  it("is quoted only briefly in a refusal", () => {
    const long = "x".repeat(5000);
    for (const query of [`${long}=1`, `int32_value=${long}`, `enum_value=${long}`, `timestamp=${long}`]) {
      expect(refusal(() => decode(query)).message.length).toBeLessThan(200);
    }
    expect(refusal(() => decode(`${"nested.".repeat(2000)}count=1`)).message.length).toBeLessThan(200);
  });

  it("is unescaped into the text, number or bytes", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme" }),
        fc.double(),
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        fc.uint8Array({ maxLength: 20 }),
        fc.constantFrom("base64", "base64url" as const),
        (stringValue, doubleValue, int64Value, bytesValue, alphabet) => {
          const query = new URLSearchParams({
            string_value: stringValue,
            double_value: String(doubleValue),
            int64_value: String(int64Value),
            bytes_value: Buffer.from(bytesValue).toString(alphabet),
          });
          const fields = { stringValue, doubleValue: Number(String(doubleValue)), int64Value, bytesValue };
          expect(decode(query.toString())).toEqual(create(Parameters, fields));
        },
      ),
    );
  });
});

/** The field's name in a refusal: the path in proto names, with the item's index. */
function expectedName(name: string): RegExp {
  const proto = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return new RegExp(`^${proto.replaceAll(".", "\\.")}(?:\\[\\d+\\])?$`);
}

describe("JSON that does not decode", () => {
  it.each<[JsonValue, string]>([
    [{ nested: { nested: { count: "x" } } }, "nested.nested.count"],
    [{ stringValue: "ok", nested: { nope: 1 } }, "nested.nope"],
    [{ nested: 5 }, "nested"],
    [{ enumList: ["ENUM_VALUE", "BLUE"] }, "enum_list[1]"],
    [{ stringList: "a" }, "string_list"],
    [{ stringList: ["a", null] }, "string_list[1]"],
    [{ nestedList: [{ count: 1 }, { count: 2 ** 31 }] }, "nested_list[1].count"],
    [{ nestedList: [{ count: 1 }, { nope: 1 }] }, "nested_list[1].nope"],
    [{ stringMap: { a: 1 } }, "string_map"],
    [{ timestamp: "x" }, "timestamp"],
    [{ oneofDoubleValue: 1, oneofNested: {} }, "oneof_nested"],
    [{ nested: { left: "a", right: null, count: 1.5 } }, "nested.count"],
    [{ nested: { left: "a", right: "b" } }, "nested.right"],
    [{ stringValue: "a", string_value: "a" }, "string_value"],
  ])("%j is refused, naming the field %s", (json, field) => {
    expect(refusal(() => decodeJson(Parameters, json)).violations).toEqual([
      { field, description: expect.any(String) },
    ]);
  });

  it.each<[JsonValue]>([[null], [[]], ["text"], [1], [true]])("%j is refused as no object", (json) => {
    expect(refusal(() => decodeJson(Parameters, json)).message).toMatch(/^expected an object/);
  });

  it("is not repeated in the refusal", () => {
    const secret = "hunter2";
    for (const json of [{ int32Value: secret }, { enumValue: secret }, { timestamp: secret }, secret]) {
      expect(refusal(() => decodeJson(Parameters, json)).message).not.toContain(secret);
    }
  });

  it.each([101, 150, 200, 1000, 20_000])("nested %d deep is refused without harm", (depth) => {
    const json = JSON.parse(`${'{"recursive":'.repeat(depth)}{}${"}".repeat(depth)}`) as JsonValue;
    expect(refusal(() => decodeJson(Parameters, json)).message).toBe("the message nests too deeply");
  });
});
