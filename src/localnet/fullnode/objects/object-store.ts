import type { ChainObject } from "./object.ts";

/** Creates an empty store. */
export function createObjectStore(): ObjectStore {
  const objects = new Map<string, ChainObject>();
  const byOwner = new Map<string, Map<string, Set<string>>>();
  const byParent = new Map<string, Set<string>>();

  function index(object: ChainObject): void {
    if (object.owner.kind === "address") {
      const types = entry(byOwner, object.owner.address, () => new Map<string, Set<string>>());
      entry(types, object.type, () => new Set<string>()).add(object.id);
    } else if (object.owner.kind === "object" && object.field !== undefined) {
      entry(byParent, object.owner.parentId, () => new Set<string>()).add(object.id);
    }
  }

  function unindex(object: ChainObject): void {
    if (object.owner.kind === "address") {
      const types = byOwner.get(object.owner.address);
      const ids = types?.get(object.type);
      ids?.delete(object.id);
      if (ids?.size === 0) types?.delete(object.type);
      if (types?.size === 0) byOwner.delete(object.owner.address);
    } else if (object.owner.kind === "object" && object.field !== undefined) {
      const ids = byParent.get(object.owner.parentId);
      ids?.delete(object.id);
      if (ids?.size === 0) byParent.delete(object.owner.parentId);
    }
  }

  function remove(id: string): void {
    const current = objects.get(id);
    if (current === undefined) return;
    unindex(current);
    objects.delete(id);
  }

  return {
    get: (id) => objects.get(id),
    apply(written, deleted) {
      for (const id of deleted) remove(id);
      for (const object of written) {
        remove(object.id);
        objects.set(object.id, object);
        index(object);
      }
    },
    owned(address, type) {
      const out: ChainObject[] = [];
      for (const [ownedType, ids] of byOwner.get(address) ?? []) {
        if (type === undefined || ownedType === type || ownedType.startsWith(`${type}<`)) collect(ids, out);
      }
      return out.sort(byId);
    },
    fields(parentId) {
      const out: ChainObject[] = [];
      collect(byParent.get(parentId) ?? [], out);
      return out.sort(byId);
    },
    all: () => objects.values(),
    get size() {
      return objects.size;
    },
  };

  function collect(ids: Iterable<string>, out: ChainObject[]): void {
    for (const id of ids) {
      const object = objects.get(id);
      if (object !== undefined) out.push(object);
    }
  }
}

/** The current version of every object, with indexes for the read calls. */
export interface ObjectStore {
  get(id: string): ChainObject | undefined;
  /** Writes new versions and removes deleted ids as one step. */
  apply(written: readonly ChainObject[], deleted: readonly string[]): void;
  /** An address's objects in id order. `type` filters by a type, or by a generic type without its arguments. */
  owned(address: string, type?: string): ChainObject[];
  /** Dynamic fields of a parent in id order. */
  fields(parentId: string): ChainObject[];
  all(): Iterable<ChainObject>;
  readonly size: number;
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}

function byId(a: ChainObject, b: ChainObject): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
