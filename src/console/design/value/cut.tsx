import type { JSX } from "preact";

/** A text of any length, such as a name, cut to one line. The pointer shows the whole. */
export function Cut({ text }: { readonly text: string }): JSX.Element {
  return (
    <span class="cut" title={text}>
      {text}
    </span>
  );
}
