/**
 * Keeps only the fields of `message` that the mask names. A path consists of proto names joined by dots and keeps
 * everything below it; `*` keeps everything. Without a mask, `defaults` apply. Unknown paths are ignored.
 */
export function applyReadMask<T extends object>(
  shape: MessageShape,
  message: T,
  mask: { readonly paths: readonly string[] } | undefined,
  defaults: readonly string[],
): T {
  const paths = mask === undefined || mask.paths.length === 0 ? defaults : mask.paths;
  if (paths.includes("*")) return message;
  return project(shape, message, treeOf(paths)) as T;
}

/** The part of a protobuf message type that the projection uses. */
export interface MessageShape {
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

/** Returns true if the mask names this path, or a path above or below it. */
export function masks(
  mask: { readonly paths: readonly string[] } | undefined,
  defaults: readonly string[],
  path: string,
): boolean {
  const paths = mask === undefined || mask.paths.length === 0 ? defaults : mask.paths;
  return paths.some(
    (item) => item === "*" || item === path || item.startsWith(`${path}.`) || path.startsWith(`${item}.`),
  );
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
      const value = source[field.oneof] as { oneofKind?: string } | undefined;
      if (value?.oneofKind === field.localName && subtree !== undefined) out[field.oneof] = value;
      else out[field.oneof] ??= { oneofKind: undefined };
      continue;
    }
    const value = source[field.localName];
    if (subtree === undefined || value === undefined) {
      if ((field.repeat ?? 0) !== 0) out[field.localName] = [];
      else if (field.kind === "map") out[field.localName] = {};
      continue;
    }
    out[field.localName] = subtree.size === 0 ? value : below(field.T, value, subtree);
  }
  return out;
}

function below(type: unknown, value: unknown, subtree: Tree): unknown {
  if (typeof type !== "function") return value;
  const shape = (type as () => MessageShape)();
  if (Array.isArray(value)) return value.map((item) => project(shape, item as object, subtree));
  return project(shape, value as object, subtree);
}
