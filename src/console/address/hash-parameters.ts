/**
 * Returns the hash of an address with a parameter changed, as in `#/signs?state=2`; a default value is omitted. Another
 * filter is another list, so a change of one returns every list to its first page.
 */
export function withParameter(
  hash: string,
  {
    name,
    value,
    defaultValue,
  }: { readonly name: string; readonly value: string; readonly defaultValue: string },
): string {
  const [path = "", query = ""] = hash.split("?", 2);
  const parameters = new URLSearchParams(query);
  if (value === defaultValue) parameters.delete(name);
  else parameters.set(name, value);
  if (!VIEW.test(name)) for (const key of [...parameters.keys()]) if (PAGE.test(key)) parameters.delete(key);
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}

/** Returns a parameter of a hash; null if it has none of that name. */
export function parameterOf(hash: string, name: string): string | null {
  return new URLSearchParams(hash.split("?")[1] ?? "").get(name);
}

/** Parameters about how a list is shown, as in `keys.sort`, which do not change what it has. */
const VIEW = /\.(?:page|sort|hidden)$/;
const PAGE = /\.page$/;

/** A place in a list: the page's number from 1 on, and the token that the service gave for it. */
export interface ListPlace {
  readonly number: number;
  readonly token: string;
}

/** Returns the place in a parameter such as `3.dG9rZW4`; the first page for anything else. */
export function placeOf(text: string): ListPlace {
  const [, number = "1", token = ""] = /^([2-9]|[1-9]\d{1,5})\.(.{1,1024})$/s.exec(text) ?? [];
  return { number: Number(number), token };
}

/** Returns the parameter of a place; empty for the first page. */
export function placeText({ number, token }: ListPlace): string {
  return token === "" ? "" : `${number}.${token}`;
}
