import { type DescEnum, type DescFile, type DescMessage, toBinary } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";

/** Indexes these files and all their imports. */
export function createDescriptorIndex(roots: readonly DescFile[]): DescriptorIndex {
  // Keyed by name, because a file may exist twice: as generated code, and inside a package.
  const files = new Map<string, DescFile>();
  for (const root of roots) for (const file of withImports(root)) files.set(protoName(file), file);
  const symbols = new Map<string, DescFile>();
  const extensions = new Map<string, Map<number, DescFile>>();
  for (const file of files.values()) {
    for (const type of nestedTypes(file)) {
      for (const name of namesIn(type)) symbols.set(name, file);
      if (type.kind === "message" && !extensions.has(type.typeName)) extensions.set(type.typeName, new Map());
      if (type.kind !== "extension") continue;
      const extendee = type.extendee.typeName;
      extensions.set(extendee, (extensions.get(extendee) ?? new Map()).set(type.number, file));
    }
  }
  const bytes = new Map<DescFile, Uint8Array>();
  const serialized = (file: DescFile) => {
    const known = bytes.get(file) ?? toBinary(FileDescriptorProtoSchema, file.proto);
    bytes.set(file, known);
    return known;
  };
  const reply = (file: DescFile | undefined) => file && withImports(file).map(serialized);
  return {
    fileNamed: (name) => reply(files.get(name)),
    fileOfSymbol: (name) => reply(symbols.get(name)),
    fileOfExtension: (extendee, number) => reply(extensions.get(extendee)?.get(number)),
    extensionNumbers(message) {
      const numbers = extensions.get(message);
      return numbers && [...numbers.keys()].sort((a, b) => a - b);
    },
  };
}

/** Finds descriptors. Files are serialized `FileDescriptorProto`s: the requested one first, then all its imports. */
export interface DescriptorIndex {
  fileNamed(name: string): Uint8Array[] | undefined;
  /**
   * @param name the full name, without a leading dot, of any declaration, down to fields and enum values
   */
  fileOfSymbol(name: string): Uint8Array[] | undefined;
  fileOfExtension(extendee: string, number: number): Uint8Array[] | undefined;
  /** Returns the numbers in ascending order, or `undefined` when there is no such message. */
  extensionNumbers(message: string): number[] | undefined;
}

/** Returns the file, its imports and their imports, each once. */
function withImports(root: DescFile): DescFile[] {
  const found = new Map([[protoName(root), root]]);
  // Iteration over a map includes entries that are added meanwhile.
  for (const file of found.values()) {
    for (const dependency of file.dependencies) {
      if (!found.has(protoName(dependency))) found.set(protoName(dependency), dependency);
    }
  }
  return [...found.values()];
}

/** Returns the name used in imports. A descriptor's own `name` lacks the extension. */
function protoName(file: DescFile): string {
  return file.proto.name;
}

type NestedType = ReturnType<typeof nestedTypes> extends Iterable<infer T> ? T : never;

/** Returns the full names that a type declares: its own and those of its members. */
function namesIn(type: NestedType): string[] {
  switch (type.kind) {
    case "message":
      return [
        type.typeName,
        ...[...type.fields, ...type.oneofs].map(({ name }) => `${type.typeName}.${name}`),
      ];
    case "enum":
      // The scope of enum values is the enum's parent, as in C++.
      return [type.typeName, ...type.values.map(({ name }) => join(scopeOf(type), name))];
    case "service":
      return [type.typeName, ...type.methods.map(({ name }) => `${type.typeName}.${name}`)];
    case "extension":
      return [type.typeName];
  }
}

function scopeOf({ parent, file }: DescEnum | DescMessage): string {
  return parent?.typeName ?? file.proto.package;
}

function join(scope: string, name: string): string {
  return scope === "" ? name : `${scope}.${name}`;
}
