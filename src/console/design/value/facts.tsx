import type { ComponentChildren, JSX } from "preact";

/** A list of names with their values. Omits undefined values. */
export function Facts({ facts }: FactsProps): JSX.Element {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

interface FactsProps {
  readonly facts: readonly (readonly [string, ComponentChildren])[];
}

/** A figure with its name, one of a row. */
export function Stat({ name, value, note }: StatProps): JSX.Element {
  return (
    <div class="stat">
      <dt>{name}</dt>
      <dd class="stat-value">{value}</dd>
      {note !== undefined && <dd class="stat-note">{note}</dd>}
    </div>
  );
}

/** A row of figures. */
export function Stats({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <dl class="stats">{children}</dl>;
}

interface StatProps {
  readonly name: string;
  readonly value: ComponentChildren;
  readonly note?: ComponentChildren;
}
