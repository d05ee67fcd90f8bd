import type { DescFile } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import type { DescriptorProto, EnumDescriptorProto, FieldDescriptorProto } from "@bufbuild/protobuf/wkt";
import { Edition, FieldDescriptorProto_Label, FieldDescriptorProto_Type } from "@bufbuild/protobuf/wkt";

/**
 * Prints a file descriptor as `.proto` source: messages, enums, oneofs, maps, extensions, defaults and reserved names.
 * Comments and custom options are omitted, so the result is for importing, not for reading.
 */
export function printProto(file: DescFile): string {
  const proto3 = file.edition === Edition.EDITION_PROTO3;
  const printer = new ProtoPrinter(proto3);
  printer.line(`syntax = "${proto3 ? "proto3" : "proto2"}";`);
  printer.line(`package ${file.proto.package};`);
  printer.fileOptions(file);
  for (const dependency of file.proto.dependency) printer.line(`import "${dependency}";`);
  for (const message of file.proto.messageType) printer.message(message);
  for (const enumeration of file.proto.enumType) printer.enumeration(enumeration);
  printer.extensions(file.proto.extension);
  return printer.text();
}

class ProtoPrinter {
  readonly #lines: string[] = [];
  readonly #proto3: boolean;
  #depth = 0;

  constructor(proto3: boolean) {
    this.#proto3 = proto3;
  }

  text(): string {
    return `${this.#lines.join("\n")}\n`;
  }

  /** The options that say where other languages put their generated code. */
  fileOptions({ proto: { options } }: DescFile): void {
    if (options?.goPackage) this.line(`option go_package = ${JSON.stringify(options.goPackage)};`);
    if (options?.javaPackage) this.line(`option java_package = ${JSON.stringify(options.javaPackage)};`);
    if (options?.javaMultipleFiles) this.line("option java_multiple_files = true;");
  }

  line(text: string): void {
    this.#lines.push("  ".repeat(this.#depth) + text);
  }

  block(head: string, body: () => void): void {
    this.line(`${head} {`);
    this.#depth++;
    body();
    this.#depth--;
    this.line("}");
  }

  message(message: DescriptorProto): void {
    const maps = new Map(message.nestedType.filter((n) => n.options?.mapEntry).map((n) => [n.name, n]));
    this.block(`message ${message.name}`, () => {
      message.oneofDecl.forEach((oneof, index) => {
        const members = message.field.filter((f) => inOneof(f) && f.oneofIndex === index);
        if (members.length === 0) return;
        this.block(`oneof ${oneof.name}`, () => {
          for (const field of members) this.field(field, "");
        });
      });
      for (const field of message.field) {
        if (inOneof(field)) continue;
        const entry = maps.get(field.typeName.split(".").pop() ?? "");
        const [key, value] = entry?.field ?? [];
        if (key && value)
          this.line(`map<${typeName(key)}, ${typeName(value)}> ${field.name} = ${field.number};`);
        else this.field(field, this.#label(field));
      }
      for (const range of message.extensionRange) {
        this.line(`extensions ${range.start} to ${range.end >= 536870912 ? "max" : range.end - 1};`);
      }
      for (const range of message.reservedRange) this.line(`reserved ${range.start} to ${range.end - 1};`);
      for (const name of message.reservedName) this.line(`reserved "${name}";`);
      for (const nested of message.nestedType) if (!nested.options?.mapEntry) this.message(nested);
      for (const nested of message.enumType) this.enumeration(nested);
      this.extensions(message.extension);
    });
  }

  enumeration(enumeration: EnumDescriptorProto): void {
    this.block(`enum ${enumeration.name}`, () => {
      if (enumeration.options?.allowAlias) this.line("option allow_alias = true;");
      for (const value of enumeration.value) this.line(`${value.name} = ${value.number};`);
    });
  }

  extensions(fields: FieldDescriptorProto[]): void {
    for (const field of fields)
      this.block(`extend ${field.extendee}`, () => this.field(field, this.#label(field)));
  }

  field(field: FieldDescriptorProto, label: string): void {
    const options: string[] = [];
    if (field.options?.packed) options.push("packed = true");
    if (field.defaultValue !== "" && !this.#proto3) {
      const quoted = field.type === FieldDescriptorProto_Type.STRING;
      options.push(`default = ${quoted ? JSON.stringify(field.defaultValue) : field.defaultValue}`);
    }
    const suffix = options.length > 0 ? ` [${options.join(", ")}]` : "";
    this.line(`${label}${typeName(field)} ${field.name} = ${field.number}${suffix};`);
  }

  #label(field: FieldDescriptorProto): string {
    if (field.label === FieldDescriptorProto_Label.REPEATED) return "repeated ";
    if (field.label === FieldDescriptorProto_Label.REQUIRED) return "required ";
    return !this.#proto3 || field.proto3Optional ? "optional " : "";
  }
}

const inOneof = (field: FieldDescriptorProto): boolean =>
  Object.hasOwn(field, "oneofIndex") && !field.proto3Optional;

const SCALARS = new Map<number, string>(
  Object.entries(ScalarType).flatMap(([name, number]) =>
    typeof number === "number" ? [[number, name.toLowerCase()] as const] : [],
  ),
);

const typeName = (field: FieldDescriptorProto): string =>
  field.typeName || (SCALARS.get(field.type) ?? "bytes");
