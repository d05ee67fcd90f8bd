import { GrpcTypes } from "@mysten/sui/grpc";
import { toHex } from "@mysten/sui/utils";

/**
 * Returns the structs that a compiled Move module defines, in its order. It reads only the tables that a struct needs,
 * in the format of the Move VM: version 6 or 7, as `sui move build` writes it. Throws for a module that defines an enum,
 * which no package of this network does, and for bytes that are no such module.
 *
 * @param module the module's bytes
 * @param packageId the package that has the module; a compiled module calls itself 0x0
 */
export function datatypesOf(module: Uint8Array, packageId: string): ModuleDatatypes {
  const { tables, selfHandle } = readTables(module);
  if (tables.has(Table.enumDefinitions)) throw new Error("the module defines an enum");
  const names = items(tables.get(Table.identifiers), (reader) => text(reader));
  const addresses = items(tables.get(Table.addresses), (reader) => addressOf(reader, packageId));
  const modules = items(tables.get(Table.moduleHandles), (reader) => ({
    address: addresses[reader.uleb()]!,
    name: names[reader.uleb()]!,
  }));
  const handles = items(tables.get(Table.datatypeHandles), (reader): DatatypeHandle => {
    const home = modules[reader.uleb()]!;
    const name = names[reader.uleb()]!;
    const abilities = abilitiesOf(reader.byte());
    const typeParameters = list(reader, () => ({
      constraints: abilitiesOf(reader.byte()),
      isPhantom: reader.byte() === 1,
    }));
    return { address: home.address, module: home.name, name, abilities, typeParameters };
  });
  const datatypes = items(tables.get(Table.structDefinitions), (reader) => {
    const handle = handles[reader.uleb()]!;
    if (reader.byte() !== DECLARED_FIELDS) throw new Error(`${handle.name} is no struct with fields`);
    const fields = list(reader, (position) => ({
      name: names[reader.uleb()]!,
      position,
      type: readType(reader, handles),
    }));
    return describe(handle, fields);
  });
  return { module: modules[selfHandle]!.name, datatypes };
}

/** The datatypes of one module. */
export interface ModuleDatatypes {
  readonly module: string;
  readonly datatypes: GrpcTypes.DatatypeDescriptor[];
}

interface DatatypeHandle {
  readonly address: string;
  readonly module: string;
  readonly name: string;
  readonly abilities: GrpcTypes.Ability[];
  readonly typeParameters: GrpcTypes.TypeParameter[];
}

/** The kinds of tables that are read. */
const Table = {
  moduleHandles: 0x1,
  datatypeHandles: 0x2,
  identifiers: 0x7,
  addresses: 0x8,
  structDefinitions: 0xa,
  enumDefinitions: 0x11,
} as const;

const MAGIC = "a11ceb0b";
const DECLARED_FIELDS = 2;

/** Returns the bytes of each table, and the index of the module's own handle, which stands after the last table. */
function readTables(module: Uint8Array): { tables: ReadonlyMap<number, Uint8Array>; selfHandle: number } {
  if (toHex(module.subarray(0, 4)) !== MAGIC) throw new Error("the bytes are no Move module");
  const reader = new Cursor(module.subarray(4));
  // The version of the format; its last byte is Sui's flavour.
  reader.bytes(4);
  const headers = list(reader, () => ({
    kind: reader.byte(),
    offset: reader.uleb(),
    length: reader.uleb(),
  }));
  const body = reader.rest();
  const end = Math.max(...headers.map(({ offset, length }) => offset + length));
  const tables = headers.map(
    ({ kind, offset, length }) => [kind, body.subarray(offset, offset + length)] as const,
  );
  return { tables: new Map(tables), selfHandle: new Cursor(body.subarray(end)).uleb() };
}

/** Reads bytes from the first to the last. Throws at their end. */
class Cursor {
  #rest: Uint8Array;
  constructor(all: Uint8Array) {
    this.#rest = all;
  }
  bytes(count: number): Uint8Array {
    if (count > this.#rest.length) throw new Error("the module ends too early");
    const taken = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(count);
    return taken;
  }
  byte(): number {
    return this.bytes(1)[0]!;
  }
  /** An unsigned number of at most 32 bits in LEB128. */
  uleb(): number {
    for (let [value, shift] = [0, 0]; shift < 32; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new Error("the module has a number that is too long");
  }
  rest(): Uint8Array {
    return this.#rest;
  }
}

/** Reads the items of a table to its end. */
function items<Item>(table: Uint8Array | undefined, read: (reader: Cursor) => Item): Item[] {
  const all: Item[] = [];
  if (table === undefined) return all;
  const reader = new Cursor(table);
  while (reader.rest().length > 0) all.push(read(reader));
  return all;
}

/** Reads a list that begins with its length. */
function list<Item>(reader: Cursor, read: (index: number) => Item): Item[] {
  return Array.from({ length: reader.uleb() }, (_, index) => read(index));
}

const text = (reader: Cursor): string => new TextDecoder().decode(reader.bytes(reader.uleb()));

function addressOf(reader: Cursor, packageId: string): string {
  const bytes = reader.bytes(32);
  return bytes.every((byte) => byte === 0) ? packageId : `0x${toHex(bytes)}`;
}

const ABILITIES = [
  [1, GrpcTypes.Ability.COPY],
  [2, GrpcTypes.Ability.DROP],
  [4, GrpcTypes.Ability.STORE],
  [8, GrpcTypes.Ability.KEY],
] as const;

const abilitiesOf = (bits: number): GrpcTypes.Ability[] =>
  ABILITIES.flatMap(([bit, ability]) => ((bits & bit) === 0 ? [] : [ability]));

const BodyType = GrpcTypes.OpenSignatureBody_Type;

/** The types without parts, by their tags. */
const PRIMITIVES: ReadonlyMap<number, GrpcTypes.OpenSignatureBody_Type> = new Map([
  [0x1, BodyType.BOOL],
  [0x2, BodyType.U8],
  [0x3, BodyType.U64],
  [0x4, BodyType.U128],
  [0x5, BodyType.ADDRESS],
  [0xd, BodyType.U16],
  [0xe, BodyType.U32],
  [0xf, BodyType.U256],
]);

/** Reads the type of a field. The VM bounds how deep one is. */
function readType(reader: Cursor, handles: readonly DatatypeHandle[]): GrpcTypes.OpenSignatureBody {
  const tag = reader.byte();
  const type = PRIMITIVES.get(tag);
  if (type !== undefined) return { type, typeParameterInstantiation: [] };
  switch (tag) {
    case 0x8:
      return datatype(handles[reader.uleb()]!, []);
    case 0x9: {
      const typeParameter = reader.uleb();
      return { type: BodyType.TYPE_PARAMETER, typeParameter, typeParameterInstantiation: [] };
    }
    case 0xa:
      return { type: BodyType.VECTOR, typeParameterInstantiation: [readType(reader, handles)] };
    case 0xb: {
      const handle = handles[reader.uleb()]!;
      return datatype(
        handle,
        list(reader, () => readType(reader, handles)),
      );
    }
    default:
      throw new Error(`a field has the type ${tag}, which no field can have`);
  }
}

const datatype = (
  { address, module, name }: DatatypeHandle,
  typeParameterInstantiation: GrpcTypes.OpenSignatureBody[],
): GrpcTypes.OpenSignatureBody => ({
  type: BodyType.DATATYPE,
  typeName: `${address}::${module}::${name}`,
  typeParameterInstantiation,
});

function describe(
  { address, module, name, abilities, typeParameters }: DatatypeHandle,
  fields: GrpcTypes.FieldDescriptor[],
): GrpcTypes.DatatypeDescriptor {
  return {
    typeName: `${address}::${module}::${name}`,
    definingId: address,
    module,
    name,
    abilities,
    typeParameters,
    kind: GrpcTypes.DatatypeDescriptor_DatatypeKind.STRUCT,
    fields,
    variants: [],
  };
}
