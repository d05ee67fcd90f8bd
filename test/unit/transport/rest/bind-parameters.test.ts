import { create, createFileRegistry, type DescMessage, fromJson } from "@bufbuild/protobuf";
import {
  FileDescriptorProtoSchema,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { queryToJson } from "../../../../src/transport/rest/bind-parameters.ts";
import { decodeJson } from "../../../../src/transport/rest/decode-json.ts";

/** A message with a field of every kind that a parameter may fill. */
const Everything = everything();

function decode(query: string) {
  const { $typeName, ...fields } = decodeJson(
    Everything,
    queryToJson(Everything, query, new Set()),
  ) as Record<string, unknown> & { $typeName: string };
  expect($typeName).toBe("test.Everything");
  return fields;
}

describe("a query parameter", () => {
  it.each([
    ["text=a%20b+c", { text: "a b c" }],
    ["flag=true", { flag: true }],
    ["small=-5", { small: -5 }],
    ["big=18446744073709551615", { big: 2n ** 64n - 1n }],
    ["ratio=-1.5e3", { ratio: -1500 }],
    ["ratio=NaN", { ratio: Number.NaN }],
    ["raw=AQL_-w==", { raw: new Uint8Array([1, 2, 255, 251]) }],
    ["raw=AQL%2F%2Bw", { raw: new Uint8Array([1, 2, 255, 251]) }],
    ["colour=RED", { colour: 1 }],
    ["colour=1", { colour: 1 }],
    ["maybe=0", { maybe: 0 }],
    ["many_texts=a&manyTexts=b", { manyTexts: ["a", "b"] }],
    ["colours=RED&colours=1", { colours: [1, 1] }],
    ["wrapped=7", { wrapped: 7n }],
    ["truth=false", { truth: false }],
    ["at=2024-01-02T03:04:05Z", { at: expect.objectContaining({ seconds: 1_704_164_645n }) }],
    ["inner.text=x", { inner: expect.objectContaining({ text: "x" }) }],
    [
      "inner.inner.text=x&inner.flag=true",
      { inner: expect.objectContaining({ flag: true, inner: expect.objectContaining({ text: "x" }) }) },
    ],
  ])("%s is read", (query, expected) => {
    expect(decode(query)).toMatchObject(expected);
  });

  it.each([
    ["flag=1", "flag"],
    ["small=2147483648", "small"],
    ["small=1.0", "small"],
    ["big=-1", "big"],
    ["ratio=0x10", "ratio"],
    ["raw=%%%", "raw"],
    ["colour=BLUE", "colour"],
    ["wrapped=a", "wrapped"],
    ["at=yesterday", "at"],
    ["inner=%7B%7D", "inner"],
    ["inner.nope=1", "inner.nope"],
    ["text.x=1", "text.x"],
    ["names=1", "names"],
    ["text=a&text=b", "text"],
    ["left=a&right=b", "left"],
    ["inner.small=x", "inner.small"],
  ])("%s is refused with the name %s", (query, field) => {
    expect(() => decode(query)).toThrow(expect.objectContaining({ fault: "VALIDATION" }));
    expect(() => decode(query)).toThrow(new RegExp(field.split(".")[0] ?? ""));
  });

  it("may not fill what the path or the body fills, nor a part of it", () => {
    const taken = new Set(["inner"]);
    expect(() => queryToJson(Everything, "inner.text=x", taken)).toThrow(/^inner\.text: given by/);
    expect(queryToJson(Everything, "text=x", taken)).toEqual({ text: "x" });
  });
});

describe("JSON that does not decode", () => {
  it.each([
    [{ inner: { inner: { small: "x" } } }, "inner.inner.small"],
    [{ text: "ok", inner: { nope: 1 } }, "inner.nope"],
    [{ colours: ["RED", "BLUE"] }, "colours"],
    [{ names: { a: 1 } }, "names"],
  ])("%j names %s", (json, field) => {
    expect(() => fromJson(Everything, json)).toThrow();
    expect(() => decodeJson(Everything, json)).toThrow(
      expect.objectContaining({ violations: [{ field, description: expect.any(String) }] }),
    );
  });
});

function everything(): DescMessage {
  const scalar = (name: string, number: number, type: Type, rest = {}) => ({
    name,
    number,
    type,
    label: Label.OPTIONAL,
    // A compiler fills this in.
    jsonName: name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    ...rest,
  });
  const message = (name: string, number: number, typeName: string, rest = {}) =>
    scalar(name, number, Type.MESSAGE, { typeName, ...rest });
  const colour = { typeName: ".test.Colour" };
  const repeated = { label: Label.REPEATED };
  const file = create(FileDescriptorProtoSchema, {
    name: "test/everything.proto",
    package: "test",
    syntax: "proto3",
    dependency: ["google/protobuf/wrappers.proto", "google/protobuf/timestamp.proto"],
    enumType: [
      {
        name: "Colour",
        value: [
          { name: "NONE", number: 0 },
          { name: "RED", number: 1 },
        ],
      },
    ],
    messageType: [
      {
        name: "Everything",
        field: [
          scalar("text", 1, Type.STRING),
          scalar("flag", 2, Type.BOOL),
          scalar("small", 3, Type.INT32),
          scalar("big", 4, Type.UINT64),
          scalar("ratio", 5, Type.DOUBLE),
          scalar("raw", 6, Type.BYTES),
          scalar("colour", 7, Type.ENUM, colour),
          scalar("maybe", 8, Type.UINT32, { proto3Optional: true, oneofIndex: 1 }),
          scalar("many_texts", 9, Type.STRING, repeated),
          scalar("colours", 10, Type.ENUM, { ...colour, ...repeated }),
          message("wrapped", 11, ".google.protobuf.Int64Value"),
          message("truth", 12, ".google.protobuf.BoolValue"),
          message("at", 13, ".google.protobuf.Timestamp"),
          message("inner", 14, ".test.Everything"),
          message("names", 15, ".test.Everything.NamesEntry", repeated),
          scalar("left", 16, Type.STRING, { oneofIndex: 0 }),
          scalar("right", 17, Type.STRING, { oneofIndex: 0 }),
        ],
        oneofDecl: [{ name: "side" }, { name: "_maybe" }],
        nestedType: [
          {
            name: "NamesEntry",
            options: { mapEntry: true },
            field: [scalar("key", 1, Type.STRING), scalar("value", 2, Type.STRING)],
          },
        ],
      },
    ],
  });
  const known = [file_google_protobuf_wrappers, file_google_protobuf_timestamp];
  const registry = createFileRegistry(file, (name) => known.find(({ proto }) => proto.name === name)?.proto);
  const desc = registry.getMessage("test.Everything");
  if (desc === undefined) throw new Error("the descriptor is not there");
  return desc;
}
