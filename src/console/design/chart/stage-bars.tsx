import type { JSX } from "preact";
import { formatDuration } from "../../format/text.ts";
import { Icon } from "../value/icon.tsx";

/** Stages as bars on one axis of time, each with its duration and the time when it began. */
export function StageBars({ stages, label }: StageBarsProps): JSX.Element {
  const startMs = stages[0]?.fromMs ?? 0;
  const wholeMs = Math.max(1, (stages.at(-1)?.toMs ?? 1) - startMs);
  const percent = (ms: number): string => `${((ms / wholeMs) * 100).toFixed(3)}%`;
  return (
    <div class="stages">
      <ol class="stage-list" aria-label={label}>
        {stages.map(({ name, doing, fromMs, toMs, outcome }) => (
          <li
            key={name}
            class={`stage stage-${outcome}`}
            aria-current={outcome === "now" ? "step" : undefined}
          >
            <div class="stage-name">
              <Icon name={ICONS[outcome]} />
              <span>
                <strong>{name}</strong>
                <span class="small muted">{doing}</span>
              </span>
            </div>
            <svg class="stage-track" aria-hidden="true">
              <rect class="stage-rail" width="100%" height="100%" />
              <rect
                class="stage-bar"
                x={percent(fromMs - startMs)}
                width={percent(toMs - fromMs)}
                height="100%"
              />
            </svg>
            <div class="stage-times">
              <strong>
                {formatDuration(toMs - fromMs)}
                {OUTCOMES[outcome]}
              </strong>
              <time class="small muted" dateTime={isoText(fromMs)} title={isoText(fromMs)}>
                <span class="visually-hidden">, since </span>
                {CLOCK.format(fromMs)}
              </time>
            </div>
          </li>
        ))}
      </ol>
      <div class="stage-axis small muted" aria-hidden="true">
        <span>0</span>
        <span>{formatDuration(wholeMs / 2)}</span>
        <span>{formatDuration(wholeMs)}</span>
      </div>
    </div>
  );
}

interface StageBarsProps {
  /** In order. The axis begins with the first and ends with the last. */
  readonly stages: readonly ShownStage[];
  /** What the stages are, for a screen reader. */
  readonly label: string;
}

/** A stage between two times, in milliseconds since 1970. */
export interface ShownStage {
  readonly name: string;
  readonly doing: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly outcome: "done" | "now" | "failed";
}

const ICONS = { done: "check", now: "clock", failed: "cross" } as const;
const OUTCOMES = { done: "", now: " so far", failed: ", then failed" } as const;
const CLOCK = new Intl.DateTimeFormat(undefined, {
  ...({ hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" } as const),
  fractionalSecondDigits: 3,
});

const isoText = (ms: number): string => new Date(ms).toISOString();
