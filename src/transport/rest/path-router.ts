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

/**
 * Parses a path template by the grammar and the comments in google/api/http.proto: `**` comes last, variables do not
 * nest or repeat. Beyond the grammar, `/` alone is the template of the root.
 * @throws SyntaxError with the position
 */
export function parsePathTemplate(text: string): PathTemplate {
  const cursor = createCursor(text);
  const segments: Segment[] = [];
  const variables: Variable[] = [];
  let verb = "";
  cursor.expect("/");
  if (!cursor.isAtEnd()) {
    readSegments(cursor, segments, variables);
    if (cursor.take(":")) verb = readLiteral(cursor);
  }
  if (!cursor.isAtEnd()) throw cursor.error("unexpected character");
  if (segments.slice(0, -1).some(({ kind }) => kind === "many")) {
    throw cursor.error("a segment after '**'");
  }
  return { segments, variables, verb };
}

/** One segment of a template. Literals keep their escapes, normalized by {@link normalizeEscapes}. */
export type Segment =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "one" }
  | { readonly kind: "many" };

/** A variable: the field path in proto names and the segments it covers. `end` is exclusive and counts `**` as one. */
export interface Variable {
  readonly fieldPath: string;
  readonly start: number;
  readonly end: number;
}

/** A parsed path template of google.api.HttpRule. */
export interface PathTemplate {
  readonly segments: readonly Segment[];
  readonly variables: readonly Variable[];
  /** The text after the last colon; empty for none. */
  readonly verb: string;
}

/**
 * @param variables collects the variables; `undefined` inside a variable
 */
function readSegments(cursor: Cursor, segments: Segment[], variables: Variable[] | undefined): void {
  do {
    if (cursor.take("**")) segments.push({ kind: "many" });
    else if (cursor.take("*")) segments.push({ kind: "one" });
    else if (variables !== undefined && cursor.take("{")) readVariable(cursor, segments, variables);
    else segments.push({ kind: "literal", text: readLiteral(cursor) });
  } while (cursor.take("/"));
}

function readVariable(cursor: Cursor, segments: Segment[], variables: Variable[]): void {
  const start = segments.length;
  const fieldPath = cursor.match(/[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*/y, "a field path");
  if (variables.some((other) => other.fieldPath === fieldPath)) {
    throw cursor.error(`duplicate variable ${fieldPath}`);
  }
  if (cursor.take("=")) readSegments(cursor, segments, undefined);
  else segments.push({ kind: "one" });
  cursor.expect("}");
  variables.push({ fieldPath, start, end: segments.length });
}

/** RFC 3986 path characters except those with a meaning in templates. */
function readLiteral(cursor: Cursor): string {
  return normalizeEscapes(cursor.match(/(?:[\w\-.~!$&'()+,;=@]|%[0-9A-Fa-f]{2})+/y, "a literal"));
}

interface Cursor {
  take(token: string): boolean;
  expect(token: string): void;
  /** @param pattern sticky */
  match(pattern: RegExp, what: string): string;
  isAtEnd(): boolean;
  error(message: string): SyntaxError;
}

function createCursor(text: string): Cursor {
  let at = 0;
  const error = (message: string) =>
    new SyntaxError(`${message} at ${at + 1} in path template ${JSON.stringify(text)}`);
  const take = (token: string) => {
    if (!text.startsWith(token, at)) return false;
    at += token.length;
    return true;
  };
  return {
    take,
    error,
    isAtEnd: () => at === text.length,
    expect(token) {
      if (!take(token)) throw error(`expected '${token}'`);
    },
    match(pattern, what) {
      pattern.lastIndex = at;
      const match = pattern.exec(text);
      if (match === null) throw error(`expected ${what}`);
      at += match[0].length;
      return match[0];
    },
  };
}

/** Decodes escapes of characters that need none, and writes the others in upper case (RFC 3986, 6.2.2). */
export function normalizeEscapes(text: string): string {
  if (!text.includes("%")) return text;
  return text.replace(/%[0-9A-Fa-f]{2}/g, (triplet) => {
    const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
    return /[A-Za-z0-9\-._~]/.test(character) ? character : triplet.toUpperCase();
  });
}
