import type { AnyDesc, DescEnum, DescFile, DescMessage } from "@bufbuild/protobuf";
import type { FileDescriptorProto } from "@bufbuild/protobuf/wkt";

/** The numbers of the fields that lead from a file's descriptor to a declaration (google/protobuf/descriptor.proto). */
const AT = {
  package: [2],
  message: 4,
  enum: 5,
  service: 6,
  messageField: 2,
  messageMessage: 3,
  messageEnum: 4,
  messageOneof: 8,
  enumValue: 2,
  serviceMethod: 2,
} as const;

/** Descriptors that can have a comment. */
type Commented = Exclude<AnyDesc, { kind: "file" | "extension" }>;

/**
 * Returns the comment of a declaration: the one before it, or else the one after it; empty for none. Descriptors
 * without source info have none.
 */
export function commentOf(desc: Commented): string {
  return commentAt(fileOf(desc).proto, pathOf(desc));
}

/** The comment of the file's package declaration. */
export function packageCommentOf(file: DescFile): string {
  return commentAt(file.proto, AT.package);
}

const indices = new WeakMap<FileDescriptorProto, Map<string, string>>();

function commentAt(file: FileDescriptorProto, path: readonly number[]): string {
  let index = indices.get(file);
  if (index === undefined) {
    index = new Map(
      (file.sourceCodeInfo?.location ?? []).map((location) => [
        location.path.join("."),
        tidy(location.leadingComments || location.trailingComments),
      ]),
    );
    indices.set(file, index);
  }
  return index.get(path.join(".")) ?? "";
}

/** Removes the space after each slash, and instructions to linters. */
function tidy(comment: string): string {
  return comment
    .split("\n")
    .filter((line) => !/^\s*buf:lint:/.test(line))
    .map((line) => line.replace(/^ /, "").trimEnd())
    .join("\n")
    .trim();
}

function fileOf(desc: Commented): DescFile {
  switch (desc.kind) {
    case "field":
    case "oneof":
    case "enum_value":
    case "rpc":
      return desc.parent.file;
    default:
      return desc.file;
  }
}

function pathOf(desc: Commented): number[] {
  switch (desc.kind) {
    case "message":
    case "enum":
      return pathOfType(desc);
    case "field":
      return [...pathOfType(desc.parent), AT.messageField, desc.parent.proto.field.indexOf(desc.proto)];
    case "oneof":
      return [...pathOfType(desc.parent), AT.messageOneof, desc.parent.proto.oneofDecl.indexOf(desc.proto)];
    case "enum_value":
      return [...pathOfType(desc.parent), AT.enumValue, desc.parent.proto.value.indexOf(desc.proto)];
    case "service":
      return [AT.service, desc.file.proto.service.indexOf(desc.proto)];
    case "rpc":
      return [...pathOf(desc.parent), AT.serviceMethod, desc.parent.proto.method.indexOf(desc.proto)];
    default:
      throw new Error("not a declaration with a comment");
  }
}

function pathOfType(desc: DescMessage | DescEnum): number[] {
  const { file, parent } = desc;
  if (desc.kind === "message") {
    return parent === undefined
      ? [AT.message, file.proto.messageType.indexOf(desc.proto)]
      : [...pathOfType(parent), AT.messageMessage, parent.proto.nestedType.indexOf(desc.proto)];
  }
  return parent === undefined
    ? [AT.enum, file.proto.enumType.indexOf(desc.proto)]
    : [...pathOfType(parent), AT.messageEnum, parent.proto.enumType.indexOf(desc.proto)];
}
