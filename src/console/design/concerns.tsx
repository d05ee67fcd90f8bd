import type { JSX } from "preact";
import type { Concern } from "../format/concern.ts";
import { Icon } from "./value/icon.tsx";

/** The state in a sentence: what needs the reader, then the figures. */
export function Headline({ concerns, figures, stop }: HeadlineProps): JSX.Element {
  const [tone, words] = stop === undefined ? verdictOf(concerns) : (["bad", stop] as const);
  return (
    <p class={`headline headline-${tone}`} role="status">
      <Icon name={tone === "good" ? "check" : "alert"} />
      <span>
        <strong>{words}</strong> {figures}
      </span>
    </p>
  );
}

interface HeadlineProps {
  readonly concerns: readonly Concern[];
  /** A sentence, such as `1,204 signatures in the last day.` */
  readonly figures: string;
  /** The sentence for a state that is worse than every concern. */
  readonly stop?: string | undefined;
}

function verdictOf(concerns: readonly Concern[]): readonly ["good" | "warn" | "bad", string] {
  const urgent = concerns.filter(({ tone }) => tone === "bad").length;
  if (urgent > 0) return ["bad", `${thingsOf(urgent)} you now.`];
  if (concerns.length > 0) return ["warn", `${thingsOf(concerns.length)} you soon.`];
  return ["good", "All well."];
}

const thingsOf = (count: number): string => (count === 1 ? "One thing needs" : `${count} things need`);

/** What needs the reader, each with what mends it and a link to its page. Nothing if there is none. */
export function Concerns({ of }: { readonly of: readonly Concern[] }): JSX.Element | null {
  if (of.length === 0) return null;
  return (
    <ul class="concerns" aria-label="What needs you">
      {of.map(({ tone, text, remedy, href, page, runbook }) => (
        <li key={text} class={`concern concern-${tone}`}>
          <Icon name={tone === "bad" ? "cross" : "alert"} />
          <div>
            <p class="concern-text">{text}</p>
            <p class="wrap">{remedy}</p>
            {runbook !== undefined && (
              <p class="small">
                <a href={`#/runbook/${runbook}`}>Runbook: {runbook}</a>
              </p>
            )}
          </div>
          <a class="button button-small" href={href}>
            {page}
          </a>
        </li>
      ))}
    </ul>
  );
}
