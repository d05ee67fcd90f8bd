/** Cuts a name from the caller, so that a reply does not repeat a long one. */
export function shorten(name: string): string {
  return name.length <= MAX_CHARACTERS ? name : `${name.slice(0, MAX_CHARACTERS)}…`;
}

const MAX_CHARACTERS = 64;
