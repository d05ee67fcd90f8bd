import { RpcFailure, Status } from "../execution/failures.ts";

/**
 * Parses the read mask of a call. A path consists of proto names joined by dots and keeps everything below it; below a
 * map it names a key. `*` keeps everything. Without a mask, `defaults` apply. Throws INVALID_ARGUMENT, like Sui's nodes,
 * with the first path that `shape` does not have.
 *
 * @example parseReadMask(GrpcTypes.Object, { paths: ["owner.kind"] }, ["object_id"]).project(object)
 */
export function parseReadMask<T extends object>(
  shape: MessageShape,
  mask: FieldMask,
  defaults: readonly string[],
): ReadMask<T> {
  const paths = mask === undefined || mask.paths.length === 0 ? defaults : mask.paths;
  for (const path of paths) {
    if (path !== "*" && !hasPath(shape, path.split(".")))
      throw new RpcFailure(Status.InvalidArgument, `invalid read_mask path: ${path.slice(0, 200)}`);
  }
  const isWhole = paths.includes("*");
  const tree = treeOf(paths);
  return {
    keeps: (path) =>
      paths.some(
        (item) => item === "*" || item === path || item.startsWith(`${path}.`) || path.startsWith(`${item}.`),
      ),
    project: (message) => (isWhole ? message : (project(shape, message, tree) as T)),
  };
}

/** `google.protobuf.FieldMask`, if the request has one. */
export type FieldMask = { readonly paths: readonly string[] } | undefined;

/** The fields that a caller asked for. */
export interface ReadMask<T> {
  /** Returns true if the mask names this path, or a path above or below it. */
  keeps(path: string): boolean;
  /** Returns the message with only the fields that the mask names. */
  project(message: T): T;
}

/** The part of a protobuf message type that the projection uses. */
export interface MessageShape {
  readonly typeName: string;
  readonly fields: readonly {
    readonly name: string;
    readonly localName: string;
    readonly kind: string;
    readonly repeat?: number;
    readonly oneof?: string | undefined;
    readonly T?: unknown;
  }[];
}

type Tree = Map<string, Tree>;

function hasPath(shape: MessageShape, [name, ...rest]: readonly string[]): boolean {
  const field = shape.fields.find((item) => item.name === name);
  if (field === undefined) return false;
  if (rest.length === 0) return true;
  if (field.kind === "map") return rest.length === 1 && rest[0] !== "";
  const below = shapeBelow(field.T);
  return below !== undefined && hasPath(below, rest);
}

/** Returns the shape of a message field. On Sui, a mask cannot select parts of Google's types, such as a timestamp. */
function shapeBelow(type: unknown): MessageShape | undefined {
  if (typeof type !== "function") return undefined;
  const shape = (type as () => MessageShape)();
  return shape.typeName.startsWith("google.") ? undefined : shape;
}

function treeOf(paths: readonly string[]): Tree {
  const root: Tree = new Map();
  for (const path of paths) {
    let node = root;
    const parts = path.split(".");
    for (const [index, part] of parts.entries()) {
      const known = node.get(part);
      // An empty subtree keeps everything, so a longer path below it adds nothing.
      if (known !== undefined && known.size === 0) break;
      const next: Tree = known ?? new Map();
      if (index === parts.length - 1) next.clear();
      node.set(part, next);
      node = next;
    }
  }
  return root;
}

function project(shape: MessageShape, message: object, tree: Tree): object {
  const source = message as Record<string, unknown>;
  const out: Record<string, unknown> = {};
  for (const field of shape.fields) {
    const subtree = tree.get(field.name);
    if (field.oneof !== undefined) {
      const value = source[field.oneof] as OneofValue | undefined;
      if (value?.oneofKind === field.localName && subtree !== undefined) {
        const member = keep(field, value[field.localName], subtree);
        out[field.oneof] = { oneofKind: field.localName, [field.localName]: member };
      } else out[field.oneof] ??= { oneofKind: undefined };
      continue;
    }
    const value = source[field.localName];
    if (subtree === undefined || value === undefined) {
      if ((field.repeat ?? 0) !== 0) out[field.localName] = [];
      else if (field.kind === "map") out[field.localName] = {};
      continue;
    }
    out[field.localName] = keep(field, value, subtree);
  }
  return out;
}

type OneofValue = { readonly oneofKind?: string } & Readonly<Record<string, unknown>>;

function keep(field: MessageShape["fields"][number], value: unknown, subtree: Tree): unknown {
  if (subtree.size === 0) return value;
  if (field.kind === "map")
    return Object.fromEntries(Object.entries(value as object).filter(([key]) => subtree.has(key)));
  const shape = shapeBelow(field.T);
  if (shape === undefined) return value;
  if (Array.isArray(value)) return value.map((item) => project(shape, item as object, subtree));
  return project(shape, value as object, subtree);
}
