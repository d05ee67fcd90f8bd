import { normalizeEscapes, type PathTemplate, parsePathTemplate } from "./path-template.ts";

/** A path that matched: what was registered, and the raw text of each variable, decoded. */
export interface PathMatch<T> {
  readonly value: T;
  /** Field path in proto names to decoded text; `undefined` where the escapes are not UTF-8. */
  readonly bindings: ReadonlyMap<string, string | undefined>;
}

interface Leaf<T> {
  readonly template: PathTemplate;
  readonly value: T;
}

interface Branch<T> {
  readonly literals: Map<string, Branch<T>>;
  wildcard: Branch<T> | undefined;
  /** What ends here, by verb. */
  readonly leaves: Map<string, Leaf<T>>;
  /** What goes on with `**` here, longest literal suffix first. */
  readonly deep: { readonly suffix: readonly string[]; readonly leaf: Leaf<T> }[];
}

/** Routes of several HTTP methods. */
export interface PathRouter<T> {
  /** @throws Error for a template that is malformed or was added before */
  add(method: string, template: string, value: T): void;
  match(method: string, path: string): PathMatch<T> | undefined;
  /** The methods that the path has a route for. */
  methodsOf(path: string): string[];
}

/** A trie over path templates, one for each HTTP method. Literals win over `*`, and `*` over `**`. */
export function createPathRouter<T>(): PathRouter<T> {
  const roots = new Map<string, Branch<T>>();
  const verbs = new Set<string>();
  const match = (method: string, path: string): PathMatch<T> | undefined => {
    const root = roots.get(method);
    if (root === undefined || !path.startsWith("/")) return undefined;
    const segments = path === "/" ? [] : path.slice(1).split("/");
    const { stem, verb } = splitVerb(segments, verbs);
    const found = find(root, stem, 0, verb);
    if (found !== undefined) return { value: found.value, bindings: bind(found.template, stem) };
    // A colon may also belong to a variable's text.
    const plain = verb === "" ? undefined : find(root, segments, 0, "");
    return plain && { value: plain.value, bindings: bind(plain.template, segments) };
  };
  return {
    match,
    methodsOf: (path) => [...roots.keys()].filter((method) => match(method, path) !== undefined),
    add(method, text, value) {
      const template = parsePathTemplate(text);
      if (template.verb !== "") verbs.add(template.verb);
      const root = roots.get(method) ?? newBranch<T>();
      roots.set(method, root);
      if (!insert(root, { template, value })) throw new Error(`the route ${method} ${text} is taken`);
    },
  };
}

function splitVerb(segments: readonly string[], verbs: ReadonlySet<string>) {
  const last = segments.at(-1) ?? "";
  const colon = last.lastIndexOf(":");
  const verb = normalizeEscapes(last.slice(colon + 1));
  if (colon < 0 || !verbs.has(verb)) return { stem: segments, verb: "" };
  return { stem: [...segments.slice(0, -1), last.slice(0, colon)], verb };
}

function newBranch<T>(): Branch<T> {
  return { literals: new Map(), wildcard: undefined, leaves: new Map(), deep: [] };
}

function insert<T>(root: Branch<T>, leaf: Leaf<T>): boolean {
  const { segments, verb } = leaf.template;
  let branch = root;
  for (const [index, segment] of segments.entries()) {
    if (segment.kind === "many") {
      const suffix = segments.slice(index + 1).map((after) => (after.kind === "literal" ? after.text : ""));
      const taken = branch.deep.some(
        (other) => other.leaf.template.verb === verb && other.suffix.join("/") === suffix.join("/"),
      );
      if (taken) return false;
      branch.deep.push({ suffix, leaf });
      branch.deep.sort((a, b) => b.suffix.length - a.suffix.length);
      return true;
    }
    branch = child(branch, segment.kind === "literal" ? segment.text : undefined);
  }
  if (branch.leaves.has(verb)) return false;
  branch.leaves.set(verb, leaf);
  return true;
}

function child<T>(branch: Branch<T>, literal: string | undefined): Branch<T> {
  if (literal === undefined) {
    branch.wildcard ??= newBranch();
    return branch.wildcard;
  }
  const next = branch.literals.get(literal) ?? newBranch<T>();
  branch.literals.set(literal, next);
  return next;
}

function find<T>(
  branch: Branch<T>,
  segments: readonly string[],
  at: number,
  verb: string,
): Leaf<T> | undefined {
  const segment = segments[at];
  if (segment === undefined) {
    const leaf = branch.leaves.get(verb);
    if (leaf !== undefined) return leaf;
  } else {
    const literal = branch.literals.get(normalizeEscapes(segment));
    const found =
      (literal && find(literal, segments, at + 1, verb)) ??
      (branch.wildcard && segment !== "" ? find(branch.wildcard, segments, at + 1, verb) : undefined);
    if (found !== undefined) return found;
  }
  const rest = segments.slice(at);
  return branch.deep.find(({ suffix, leaf }) => leaf.template.verb === verb && endsWith(rest, suffix))?.leaf;
}

function endsWith(segments: readonly string[], suffix: readonly string[]): boolean {
  const offset = segments.length - suffix.length;
  return (
    offset >= 0 && suffix.every((text, index) => normalizeEscapes(segments[offset + index] ?? "") === text)
  );
}

function bind(template: PathTemplate, path: readonly string[]): Map<string, string | undefined> {
  // `**` stands for this many segments more (or one less) than its single place in the template.
  const growth = path.length - template.segments.length;
  const manyAt = template.segments.findIndex(({ kind }) => kind === "many");
  const shift = (place: number) => (manyAt >= 0 && place > manyAt ? place + growth : place);
  return new Map(
    template.variables.map(({ fieldPath, start, end }) => {
      const covered = path.slice(shift(start), shift(end));
      const isSingle = end - start === 1 && template.segments[start]?.kind !== "many";
      return [fieldPath, isSingle ? decode(covered[0] ?? "") : decodeMany(covered)];
    }),
  );
}

/** A variable of several segments keeps `%2F`, so that its slashes stay those of the path. */
function decodeMany(segments: readonly string[]): string | undefined {
  const parts = segments.map((segment) =>
    segment.split(/(%2[Ff])/).map((part) => (/^%2f$/i.test(part) ? "%2F" : decode(part))),
  );
  if (parts.flat().includes(undefined)) return undefined;
  return parts.map((part) => part.join("")).join("/");
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
