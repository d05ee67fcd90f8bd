/**
 * Says why a form cannot be sent yet, as a sentence; undefined if it can. The first empty text counts, then the first
 * fault, which stands beside its own field.
 */
export function missingText({ required, faults = [] }: FormState): string | undefined {
  const [empty] = required.filter(([, text]) => text.trim() === "");
  if (empty !== undefined) return `Fill in “${empty[0]}”.`;
  return faults.some((fault) => fault !== undefined) ? "Mend the marked field first." : undefined;
}

interface FormState {
  /** The labels of the fields that must not be empty, with their texts. */
  readonly required: readonly (readonly [string, string])[];
  /** What is wrong with the fields. */
  readonly faults?: readonly (string | undefined)[];
}

/** Returns true if somebody has typed a name, or what the console shows for a name with invisible characters. */
export function isNameTyped(typed: string, name: string, shownName: string): boolean {
  return typed === name || typed === shownName || (name.trim() !== "" && typed.trim() === name.trim());
}
