import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { DataTable } from "./data-table.tsx";
import { THEME_CHANGE } from "./theme-choice.tsx";

/** Lines over time, with a legend of the values under the pointer, and the same figures as a table. */
export function LineChart(props: LineChartProps): JSX.Element {
  const { title, times, series, format } = props;
  const frame = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const subject = series.map(({ name }) => name).join();
  const plot = useRef<uPlot | undefined>(undefined);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const draw = (): void => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsFor(element, latest, setPointed), dataOf(latest.current), element);
    };
    draw();
    const watcher = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    watcher.observe(element);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    // A canvas cannot use CSS custom properties, so a theme change redraws the chart.
    dark.addEventListener("change", draw);
    addEventListener(THEME_CHANGE, draw);
    return () => {
      watcher.disconnect();
      dark.removeEventListener("change", draw);
      removeEventListener(THEME_CHANGE, draw);
      plot.current?.destroy();
    };
  }, [subject]);
  useEffect(() => plot.current?.setData(dataOf(props)), [times, series]);
  const at = pointed ?? newestIndex(props);
  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-title">{title}</span>
        <ul class="legend">
          {series.map(({ name, values }, index) => (
            <li key={name}>
              <svg class={`key series-${index + 1}`} viewBox="0 0 24 8" aria-hidden="true">
                <path d="M1 4h22" stroke-dasharray={DASHES[index]?.join(" ")} />
              </svg>
              {name} <strong>{textOf(values[at], format)}</strong>
            </li>
          ))}
          <li class="muted">{times[at] !== undefined && formatPointTime(times[at])}</li>
        </ul>
      </figcaption>
      <div ref={frame} class="plot" role="img" aria-label={`${title}. The figures are in the table below.`} />
      <ChartTable title={title} times={times} series={series} format={format} />
    </figure>
  );
}

interface LineChartProps {
  readonly title: string;
  /** Seconds since 1970, ascending. */
  readonly times: readonly number[];
  /** The start and end of the time axis, in seconds since 1970. Default: those of the lines. */
  readonly span?: readonly [number, number] | undefined;
  /** At most four. */
  readonly series: readonly ChartSeries[];
  format(value: number): string;
}

const HEIGHT = 200;
const POINTS_MAX_COUNT = 120;
/** Lines differ by their dashes as well as their colour. */
const DASHES: readonly (readonly number[])[] = [[], [7, 4], [2, 3], [10, 3, 2, 3]];

const dataOf = ({ times, series }: LineChartProps): uPlot.AlignedData => [
  [...times],
  ...series.map(({ values }) => [...values]),
];

/** Returns the index of the last time with a figure. */
function newestIndex({ times, series }: LineChartProps): number {
  const index = times.findLastIndex((_, at) => series.some(({ values }) => typeof values[at] === "number"));
  return index < 0 ? times.length - 1 : index;
}

function textOf(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? "—" : format(value);
}

function optionsFor(
  element: HTMLElement,
  latest: { readonly current: LineChartProps },
  onPoint: (index: number | null) => void,
): uPlot.Options {
  const axis = {
    stroke: colourOf(element, "--muted"),
    font: `12px ${getComputedStyle(element).fontFamily}`,
    grid: { stroke: colourOf(element, "--line"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
    scales: {
      x: { range: (_plot, min, max) => [...(latest.current.span ?? ([min, max] as const))] },
      y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.1 : 1] },
    },
    axes: [
      {
        ...axis,
        space: 80,
        size: 28,
        values: (_plot, ticks) => ticks.map((tick) => formatAxisTime(tick, ticks)),
      },
      { ...axis, size: 68, values: (_plot, ticks) => ticks.map((tick) => latest.current.format(tick)) },
    ],
    series: [
      {},
      ...latest.current.series.map(({ name }, index) => ({
        label: name,
        stroke: colourOf(element, `--series-${index + 1}`),
        width: 2,
        dash: [...(DASHES[index] ?? [])],
        // A single point between two gaps has no line, so it needs a dot.
        points: { show: latest.current.times.length <= POINTS_MAX_COUNT, size: 4 },
        spanGaps: false,
      })),
    ],
  };
}

/** Resolves a CSS custom property to a colour that a canvas accepts. */
function colourOf(element: HTMLElement, property: string): string {
  const probe = element.appendChild(document.createElement("span"));
  probe.style.color = `var(${property})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** The figures of a chart as a table, newest first, for readers who cannot see it. Omits times without a figure. */
export function ChartTable({ title, times, series, format }: ChartTableProps): JSX.Element {
  const rows = times
    .map((time, index) => ({ time, index }))
    .filter(({ index }) => series.some(({ values }) => values[index] ?? false))
    .reverse();
  return (
    <details class="chart-table">
      <summary>Figures as a table</summary>
      <DataTable
        caption={title}
        columns={[
          { title: "Time", cell: ({ time }: ChartRow) => formatPointTime(time) },
          ...series.map(({ name, values }) => ({
            title: name,
            isNumber: true,
            cell({ index }: ChartRow) {
              const value = values[index];
              return value === null || value === undefined ? "—" : format(value);
            },
          })),
        ]}
        rows={rows}
        rowKey={({ time }) => `${time}`}
        empty={<p class="muted">There are no figures yet.</p>}
      />
    </details>
  );
}

/** A line of a chart: a value for each time, or null without one. */
export interface ChartSeries {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

interface ChartRow {
  readonly time: number;
  readonly index: number;
}

interface ChartTableProps {
  readonly title: string;
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  format(value: number): string;
}

/** Returns the label of a tick: the time of day, or the date if the ticks are days apart. */
export function formatAxisTime(seconds: number, ticks: readonly number[]): string {
  const [first = 0, second = first] = ticks;
  return (second - first >= DAY_SECONDS ? DATE : TIME).format(seconds * 1_000);
}

/** Formats the time of a point. */
export function formatPointTime(seconds: number): string {
  return POINT.format(seconds * 1_000);
}

const DAY_SECONDS = 86_400;
const TIME = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const DATE = new Intl.DateTimeFormat(undefined, { month: "short", day: "2-digit" });
const POINT = new Intl.DateTimeFormat(undefined, {
  ...({ month: "short", day: "2-digit", hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const),
});
