const FORM = /^(?<kind>[a-z]+)(?:\([^()\s]+\))?!?: \S/;
const MAX_LENGTH = 72;

/**
 * Returns why the subject of a commit determines no version, or why it is hard to read. Undefined if it is fine.
 * @param kinds the allowed prefixes of a subject, such as `feat`
 */
export function faultOfSubject(subject: string, kinds: readonly string[]): string | undefined {
  const kind = FORM.exec(subject)?.groups?.["kind"];
  if (kind === undefined) return "write `kind: what changes` or `kind(part): what changes`";
  if (!kinds.includes(kind)) return `the kinds are ${kinds.join(", ")}`;
  return subject.length > MAX_LENGTH ? `keep it below ${MAX_LENGTH + 1} characters` : undefined;
}
