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
