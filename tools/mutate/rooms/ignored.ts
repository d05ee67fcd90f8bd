/**
 * What is not mutated, because it decides nothing or because the compiler refuses the mutant:
 *
 * - calls of a log, and blocks of nothing else;
 * - what an Error is made with, definitions of metrics, and the name of a struct or an enum of BCS, which only its
 *   errors show: texts for people;
 * - `{}` for an object, `a.b` for `a?.b`, `""` for a string: the types refuse nearly all of them. Strings are mutated in
 *   `client/crypto`, `client/seed` and `protocol`, where labels enter hashes.
 */
export function isIgnored(node: SyntaxNode, parent?: SyntaxNode): string | undefined {
  if (node.type === "StringLiteral" && parent !== undefined && isNameOfBcs(node, parent))
    return "a name in BCS";
  if (node.type === "CallExpression" && isLogCall(node)) return "a call of a log";
  if (node.type === "NewExpression" && TEXTS.test(node.callee?.name ?? "")) return "a text for people";
  if (node.type === "BlockStatement" && node.body?.length && node.body.every(isLogStatement))
    return "a block of calls of a log";
  return undefined;
}

/** The mutators of the instrumenter that are not used in a room. */
export function excludedMutators(room: string): string[] {
  const excluded = ["ObjectLiteral", "OptionalChaining"];
  return ["client/crypto", "client/seed", "protocol"].includes(room)
    ? excluded
    : [...excluded, "StringLiteral"];
}

/** What is read of a node of Babel's syntax tree. */
export interface SyntaxNode {
  readonly type: string;
  readonly name?: string;
  readonly callee?: SyntaxNode;
  readonly arguments?: readonly SyntaxNode[];
  readonly object?: SyntaxNode;
  readonly property?: SyntaxNode;
  readonly expression?: SyntaxNode;
  readonly body?: readonly SyntaxNode[];
  readonly tag?: SyntaxNode;
  readonly quasi?: { readonly quasis: readonly TemplateText[] };
}

interface TemplateText {
  readonly value: { readonly cooked: string };
  readonly loc: { readonly start: { readonly line: number } };
}

const TEXTS = /Error$|^(?:Counter|Gauge|Histogram)$/;

function isNameOfBcs(node: SyntaxNode, { callee, arguments: [first] = [] }: SyntaxNode): boolean {
  return (
    first === node && callee?.object?.name === "bcs" && /^(?:struct|enum)$/.test(callee.property?.name ?? "")
  );
}

function isLogCall({ callee }: SyntaxNode): boolean {
  if (callee?.type !== "MemberExpression" && callee?.type !== "OptionalMemberExpression") return false;
  const owner = callee.object?.property?.name ?? callee.object?.name ?? callee.object?.property?.type ?? "";
  const privateName = (callee.object?.property as { id?: SyntaxNode } | undefined)?.id?.name ?? "";
  return (
    /^(?:debug|info|warn|error)$/.test(callee.property?.name ?? "") &&
    /log(?:ger)?$/i.test(privateName || owner)
  );
}

function isLogStatement(node: SyntaxNode): boolean {
  return (
    node.type === "ExpressionStatement" &&
    node.expression?.type === "CallExpression" &&
    isLogCall(node.expression)
  );
}
