import { type ComponentChildren, options, type VNode } from "preact";

/**
 * Makes invisible control characters visible in every text that the page renders, such as the one that reverses the
 * direction of a text: a name with `U+202E` could otherwise look like another name. Call it once, before the first
 * render.
 */
export function showControls(): void {
  const before = options.vnode;
  options.vnode = (node: VNode) => {
    if (typeof node.type === "string") {
      const props = node.props as Record<string, unknown>;
      if (props["children"] !== undefined) props["children"] = shown(props["children"] as ComponentChildren);
      for (const name of SHOWN_ATTRIBUTES)
        if (typeof props[name] === "string") props[name] = visibleText(props[name]);
    }
    before?.(node);
  };
}

/** Returns the text with each invisible control character as `⟨U+202E⟩`. Line breaks and tabs stay. */
export function visibleText(text: string): string {
  return text.replace(
    INVISIBLE,
    (character) => `⟨U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}

/** Control characters, and those that change the direction of a text or have no width, except joiners of scripts. */
const INVISIBLE =
  /(?![\t\n])\p{Cc}|[\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;
/** Attributes whose text a person sees or hears. */
const SHOWN_ATTRIBUTES = ["title", "aria-label", "data-label", "alt"] as const;

function shown(children: ComponentChildren): ComponentChildren {
  if (typeof children === "string") return visibleText(children);
  return Array.isArray(children) ? children.map(shown) : children;
}
