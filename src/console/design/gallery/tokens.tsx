import type { JSX } from "preact";
import { Panel } from "../panel.tsx";

/** The colours, the sizes of type and the spaces, read from the page's style sheet. */
export function Tokens(): JSX.Element {
  const names = tokenNames();
  const colours = names.filter((name) => CSS.supports("color", tokenValue(name)));
  return (
    <>
      <Panel title="Colours">
        <div class="swatches">
          {colours.map((name) => (
            <div key={name} class="swatch">
              <div class="swatch-colour" style={{ background: `var(${name})` }} />
              <code>{name}</code>
            </div>
          ))}
        </div>
      </Panel>
      <Panel
        title="Type"
        note="Inter in three weights. Figures have one width, so that they stand in columns."
      >
        {names
          .filter((name) => name.startsWith("--type-"))
          .map((name) => (
            <div key={name} class="type-line" style={{ fontSize: `var(${name})` }}>
              <code>{name}</code>
              <span>Signatures 1,204</span>
              <span style={{ fontWeight: "var(--medium)" }}>Signatures 1,204</span>
              <strong>Signatures 1,204</strong>
            </div>
          ))}
      </Panel>
      <Panel title="Space">
        {names
          .filter((name) => /^--s\d$/.test(name))
          .map((name) => (
            <div key={name} class="swatch">
              <code>{name}</code>
              <div class="swatch-space" style={{ width: `var(${name})` }} />
            </div>
          ))}
      </Panel>
    </>
  );
}

/** Returns the names of the custom properties of the root, in their order. */
function tokenNames(): string[] {
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
  const roots = rules.filter((rule) => rule instanceof CSSStyleRule && rule.selectorText === ":root");
  const names = roots.flatMap((rule) => [...(rule as CSSStyleRule).style]);
  return [...new Set(names.filter((name) => name.startsWith("--")))];
}

const tokenValue = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name);
