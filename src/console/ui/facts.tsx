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
