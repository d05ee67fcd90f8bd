import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const CONSOLE = path.resolve(import.meta.dirname, "../../../src/console");
const readAll = (folder: string, ending: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(ending))
      .map((file) => [file, readFileSync(path.join(folder, file), "utf8").replaceAll(/\/\*.*?\*\//gs, "")]),
  );
const styles = readAll(path.join(CONSOLE, "design"), ".css");
const tokens = styles.get("tokens.css") ?? "";
/** The rules of the components and pages: not the list of files, the tokens, and the description of the font. */
const rules = [...styles].filter(([file]) => !["design.css", "tokens.css", "font.css"].includes(file));
const code = [...readAll(CONSOLE, ".tsx").values(), ...readAll(CONSOLE, ".ts").values()].join("\n");

const declared = (css: string): string[] => [...css.matchAll(/(--[\w-]+):/g)].map(([, name = ""]) => name);
const used = (text: string): string[] => [...text.matchAll(/var\((--[\w-]+)/g)].map(([, name = ""]) => name);

it("declares every token once for both themes, and uses each", () => {
  const root = /:root \{.*?\n\}/s.exec(tokens)?.[0] ?? "";
  expect(declared(root)).toEqual([...new Set(declared(root))]);
  expect(declared(root).length).toBeGreaterThan(30);
  const uses = new Set([...used([...styles.values()].join()), ...used(code)]);
  // A chart asks for the colour of each of its lines by number.
  const unused = declared(root).filter((name) => !uses.has(name) && !name.startsWith("--series-"));
  expect(unused).toEqual([]);
});

it("uses no token that is not declared", () => {
  for (const [file, css] of rules) {
    const known = new Set([...declared(tokens), ...declared(css)]);
    expect(
      used(css).filter((name) => !known.has(name)),
      file,
    ).toEqual([]);
  }
  expect(used(code).filter((name) => !declared(tokens).includes(name))).toEqual([]);
});

it("has colours, sizes and weights of type, shadows and durations in the tokens alone", () => {
  const literals =
    /#[\da-f]{3,8}\b|\b(?:rgb|hsl|oklch)a?\(|font-size: (?!var)|font-weight: (?!var)|font: [\d.]|box-shadow: (?!var|inset)|[\d.]+m?s\b/gi;
  for (const [file, css] of rules) expect(css.match(literals) ?? [], file).toEqual([]);
});

it("moves for at most 150 ms, and not at all if the reader asks for no motion", () => {
  const motions = [...tokens.matchAll(/--motion: (\d+)ms/g)].map(([, ms]) => Number(ms));
  expect(motions).toHaveLength(2);
  expect(motions[0]).toBeLessThanOrEqual(150);
  expect(motions[1]).toBe(0);
  expect(/@media \(prefers-reduced-motion: reduce\) \{\s*:root \{\s*--motion: 0ms/.test(tokens)).toBe(true);
  for (const [file, css] of rules) expect(css.match(/animation|@keyframes/g) ?? [], file).toEqual([]);
});

it("has a rule for no class that the console does not use", () => {
  for (const [file, css] of rules) {
    const classes = [...css.replaceAll(/@import.*/g, "").matchAll(/\.([a-z][\w-]*)/g)].map(
      ([, name = ""]) => name,
    );
    expect(
      classes.filter((name) => !isUsed(name)),
      file,
    ).toEqual([]);
  }
});

/** What elements have as their class: a text, or an expression with texts in it. */
const classTexts = [...code.matchAll(/class=(?:"[^"]*"|\{.{0,160})/gs)].join("\n");

/** A class stands in an element as a word, or as a prefix before a value, such as `badge-${tone}`. */
function isUsed(name: string): boolean {
  const prefix = `${name.slice(0, name.lastIndexOf("-") + 1)}$\{`;
  const isWord = new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(classTexts);
  return isWord || (name.includes("-") && classTexts.includes(prefix));
}
