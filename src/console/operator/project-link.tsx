import type { JSX } from "preact";
import { useNames } from "../api/use-names.ts";
import { Cut } from "../design/value/cut.tsx";
import { CopyButton, Id } from "../design/value/id.tsx";

/** A project by its name, with a link to its page; by its id until the name is known. */
export function ProjectLink({ id }: { readonly id: string }): JSX.Element {
  const name = useNames([id]).projects.get(id);
  const href = `#/projects/${id}`;
  if (name === undefined) return <Id id={id} what="project id" href={href} isWhole />;
  return (
    <span class="id" title={id}>
      <a href={href}>
        <Cut text={name} />
      </a>
      <CopyButton text={id} label="Copy the project id" />
    </span>
  );
}
