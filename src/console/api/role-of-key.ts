/** Returns the role of a key by its form: a project's key names its network; every other key is an operator's. */
export function roleOfKey(key: string): "operator" | "project" {
  return /^tss_(?:local|test|live)_/.test(key) ? "project" : "operator";
}
