import { normalizeEscapes, type PathTemplate, parsePathTemplate } from "./path-template.ts";

/**
 * Creates a trie of path templates, one per HTTP method. Literals take precedence over `*`, and `*` over `**`; a verb
 * takes precedence over a colon in a variable's text. `**` matches the rest of a path, even an empty one. An empty
 * segment matches neither `*` nor a variable, so that no two paths bind the same values.
 */
export function createPathRouter<T>(): PathRouter<T> {
  const roots = new Map<string, Branch<T>>();
  const verbs = new Set<string>();
  const matchIn = (root: Branch<T> | undefined, path: string): PathMatch<T> | undefined => {
    if (root === undefined || !path.startsWith("/")) return undefined;
    const segments = path === "/" ? [] : path.slice(1).split("/");
    const { stem, verb } = splitVerb(segments, verbs);
    const found = find(root, stem, 0, verb);
    if (found !== undefined) return { value: found.value, bindings: bind(found.template, stem) };
    const plain = verb === "" ? undefined : find(root, segments, 0, "");
    return plain && { value: plain.value, bindings: bind(plain.template, segments) };
  };
  return {
    match: (method, path) => matchIn(roots.get(method), path) ?? matchIn(roots.get(ANY_METHOD), path),
    methodsOf: (path) => [...roots].filter(([, root]) => matchIn(root, path)).map(([method]) => method),
    add(method, text, value) {
      const template = parsePathTemplate(text);
      if (template.verb !== "") verbs.add(template.verb);
      const root = roots.get(method) ?? newBranch<T>();
      roots.set(method, root);
      const ends = endsOf(root, template);
      if (ends.has(template.verb)) throw new Error(`the route ${method} ${text} already exists`);
      ends.set(template.verb, { template, value });
    },
  };
}

/** A match: the registered value, and the text of each variable. */
export interface PathMatch<T> {
  readonly value: T;
  /** Field paths in proto names to decoded texts; `undefined` when the escapes are not UTF-8. */
  readonly bindings: ReadonlyMap<string, string | undefined>;
}

interface Leaf<T> {
  readonly template: PathTemplate;
  readonly value: T;
}

interface Branch<T> {
  readonly literals: Map<string, Branch<T>>;
  wildcard: Branch<T> | undefined;
  /** The templates that end here, by verb. */
  readonly leaves: Map<string, Leaf<T>>;
  /** The templates that end with `**` here, by verb. */
  readonly deep: Map<string, Leaf<T>>;
}

/** Routes of several HTTP methods. */
export interface PathRouter<T> {
  /**
   * @param method `*` stands for every method without its own route on the path
   * @throws Error for a malformed or duplicate template
   */
  add(method: string, template: string, value: T): void;
  match(method: string, path: string): PathMatch<T> | undefined;
  /** Returns the methods that have a route for the path. */
  methodsOf(path: string): string[];
}

const ANY_METHOD = "*";

function splitVerb(segments: readonly string[], verbs: ReadonlySet<string>) {
  const last = segments.at(-1) ?? "";
  const colon = last.lastIndexOf(":");
  const verb = normalizeEscapes(last.slice(colon + 1));
  if (colon < 0 || !verbs.has(verb)) return { stem: segments, verb: "" };
  return { stem: [...segments.slice(0, -1), last.slice(0, colon)], verb };
}

function newBranch<T>(): Branch<T> {
  return { literals: new Map(), wildcard: undefined, leaves: new Map(), deep: new Map() };
}

/** Returns the node of the template's leaf, and adds missing branches. */
function endsOf<T>(root: Branch<T>, { segments }: PathTemplate): Map<string, Leaf<T>> {
  let branch = root;
  for (const segment of segments) {
    if (segment.kind === "many") return branch.deep;
    if (segment.kind === "one") {
      branch.wildcard ??= newBranch();
      branch = branch.wildcard;
    } else {
      const next = branch.literals.get(segment.text) ?? newBranch<T>();
      branch.literals.set(segment.text, next);
      branch = next;
    }
  }
  return branch.leaves;
}

function find<T>(
  branch: Branch<T>,
  segments: readonly string[],
  at: number,
  verb: string,
): Leaf<T> | undefined {
  const segment = segments[at];
  if (segment === undefined) return branch.leaves.get(verb) ?? branch.deep.get(verb);
  const deep = branch.deep.get(verb);
  const literal = branch.literals.get(normalizeEscapes(segment));
  return (
    (literal && find(literal, segments, at + 1, verb)) ??
    (branch.wildcard && segment !== "" ? find(branch.wildcard, segments, at + 1, verb) : undefined) ??
    (deep && (!endsInVariable(deep.template) || !segments.includes("", at)) ? deep : undefined)
  );
}

function endsInVariable({ segments, variables }: PathTemplate): boolean {
  return variables.some(({ end }) => end === segments.length);
}

function bind(template: PathTemplate, path: readonly string[]): Map<string, string | undefined> {
  const { segments, variables } = template;
  const many = segments.at(-1)?.kind === "many" ? segments.length - 1 : undefined;
  return new Map(
    variables.map(({ fieldPath, start, end }) => {
      const isSingle = end - start === 1 && start !== many;
      if (isSingle) return [fieldPath, decode(path[start] ?? "")];
      const covered = path.slice(start, many !== undefined && end > many ? undefined : end);
      return [fieldPath, decodeMany(covered)];
    }),
  );
}

/** A variable of several segments keeps `%2F`, so that its slashes remain those of the path. */
function decodeMany(segments: readonly string[]): string | undefined {
  const parts = segments.map((segment) =>
    segment.split(/(%2[Ff])/).map((part) => (/^%2f$/i.test(part) ? part : decode(part))),
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
