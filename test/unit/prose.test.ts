import { expect, it } from "vitest";
import { readSource, type SourceFile, sourcesBelow } from "../support/repository/source-files.ts";

/**
 * Patterns that have read as translated, each with a sentence that it finds and the same thought in plain English. The
 * answer to a finding is another sentence, not another word in its place.
 */
const PATTERNS: readonly (readonly [pattern: RegExp, found: string, plain: string])[] = [
  [/\bwho(?:m)?ever\b|\bsomebody\b/i, "Whoever has the seed can sign.", "Anyone with the seed can sign."],
  [/\bfor so long\b/i, "For so long a key is kept.", "How long a key is cached."],
  [
    /(?:^|[.:;] )(?:Of|From|By|With|To) (?:an?|the|its|each|every|what)\b[^.,:;]{2,60} (?:is|are) (?:told|kept|known|read|shown|made|left)\b/i,
    "Of a secret only its length is told.",
    "Logs only the length of a secret.",
  ],
  [
    /\b(?:is|are) told\b|\bTold of\b/,
    "The observer is told of each lookup.",
    "Calls the observer for each lookup.",
  ],
  [/\bhears? of\b/i, "Other replicas hear of it.", "Other replicas receive the message."],
  [
    /(?:^|[.!?] )What (?:[a-z'-]+ ){1,6}(?:is|are|comes|goes|stays|counts|has) [^.?]+\./,
    "What is waiting is retried.",
    "Retries the waiting operations.",
  ],
  [
    /(?:^|[.!?] )What (?:[a-z'-]+ ){1,4}(?:needs|takes|wants)\.?$/,
    "What a scan needs.",
    "Dependencies of a scan.",
  ],
  [
    /\b(?:thereof|therein|hereby|anew|none but|save for|in order that|of (?:its|their) own accord)\b/i,
    "None but the owner reads it, and reads it anew.",
    "Only the owner reads it, and reads it again.",
  ],
  [/\bas (?:[A-Z]\w+ )?[\w-]+ has it\b/, "Shortened as RFC 5952 has it.", "Shortened as RFC 5952 specifies."],
  [/\bwill do\b(?! (?:so|it|this|that)\b)/i, "No named key will do.", "Named keys are refused."],
  [/\b(?:gives?|gave|given) back\b/i, "The lease is given back.", "The lease is released."],
  [
    /\bgo(?:es)? on with\b/i,
    "The scan goes on with the next page.",
    "The scan continues with the next page.",
  ],
  [
    /\b(?:no|not|nothing|never|n't)\b[^.,;]{1,40} any ?more\b/i,
    "It is not read any more.",
    "It is no longer read.",
  ],
  [/\bby itself\b/i, "It ends by itself.", "It ends automatically."],
  [
    /\bread twice\b|\bunder pressure\b/i,
    "Under pressure, a page is read twice.",
    "With back-off, a page is retried.",
  ],
  [/\bpassed over\b/i, "A failed node is passed over.", "A failed node is skipped."],
  [/\bbe (?:it|they) (?:an?|the)\b/i, "A caller, be it a project.", "A caller, such as a project."],
];

const documents = [
  ...[
    ...["README.md", "SECURITY.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "AGENTS.md"],
    ...["move/treasury/README.md", "bench/README.md"],
  ].map(readSource),
  ...sourcesBelow(["docs", "deploy", "proto/tss", "examples"], [".md", ".proto", ".yml", ".json", ".html"]),
];
const code = sourcesBelow(
  ["src", "test", "tools", "bench", "examples", "move"],
  [".ts", ".tsx", ".mjs", ".move"],
).filter(({ path }) => path !== "test/unit/prose.test.ts");

it("documents, comments and texts have no sentence that reads as translated", () => {
  const paragraphs = [...documents.flatMap(paragraphsOf), ...code.flatMap(remarksOf)];
  expect(paragraphs.length).toBeGreaterThan(10_000);
  const found = PATTERNS.flatMap(([pattern, , plain]) =>
    paragraphs
      .filter(({ text }) => pattern.test(text))
      .map(({ path, text }) => `${path}: "${text.slice(0, 200)}" (compare: ${plain})`),
  );
  expect(found).toEqual([]);
});

it.each(PATTERNS)("the pattern %s finds its example and no plain sentence", (pattern, example, plain) => {
  expect(pattern.test(example)).toBe(true);
  expect(PATTERNS.filter(([other]) => other.test(plain))).toEqual([]);
});

interface Paragraph {
  readonly path: string;
  readonly text: string;
}

/** The paragraphs, list items and table rows of a document, each on one line. */
function paragraphsOf({ path, text }: SourceFile): Paragraph[] {
  return text
    .split(/\n\s*(?:\/\/|#)?\s*\n|\n(?=\s*(?:[-*|]|\d+\.) )/)
    .map((block) => ({ path, text: onOneLine(block) }));
}

const COMMENT = /\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n)+|\/\/ .*$/gm;
const STRING = /"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;

/** The comments of a source, and its strings of several words, each on one line. */
function remarksOf({ path, text }: SourceFile): Paragraph[] {
  const strings = text.replace(COMMENT, "").match(STRING) ?? [];
  return [...(text.match(COMMENT) ?? []), ...strings.filter((string) => / \w+ /.test(string))].map(
    (remark) => ({ path, text: onOneLine(remark) }),
  );
}

/** Removes line breaks and the marks of comments and quotations. */
function onOneLine(text: string): string {
  return text
    .replace(/^\s*(?:\/\*\*?|\*\/|\*|\/\/\/?|#+)/gm, "")
    .replace(/\*\/$/, "")
    .replace(/^["`]|["`]$/g, "")
    .replace(/\s+/g, " ")
    .trim();
}
