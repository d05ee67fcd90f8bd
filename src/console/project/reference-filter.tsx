import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { TextField } from "../design/form/field.tsx";
import { prefixFault } from "../format/input-faults.ts";

/** A filter of a list by how its references begin, with further filters beside it. */
export function ReferenceFilter({ wanted, onFilter, children }: ReferenceFilterProps): JSX.Element {
  const [prefix, setPrefix] = useState(wanted);
  const fault = prefixFault(prefix);
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        if (fault === undefined) onFilter(prefix);
      }}
    >
      <TextField label="Reference begins with" value={prefix} onInput={setPrefix} fault={fault} />
      <button type="submit" class="button">
        Filter
      </button>
      {children}
    </form>
  );
}

interface ReferenceFilterProps {
  /** The text that the list is filtered by; empty for all references. */
  readonly wanted: string;
  onFilter(prefix: string): void;
  readonly children?: ComponentChildren;
}
