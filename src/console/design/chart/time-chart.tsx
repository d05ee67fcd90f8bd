import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { DataTable } from "../table/data-table.tsx";
import { THEME_CHANGE } from "../theme-choice.tsx";

/** Lines or bars over time, with a legend of the values under the pointer, and the same figures as a table. */
export function TimeChart(props: TimeChartProps): JSX.Element {
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
  const isSum = props.shape === "bars" && pointed === null;
  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-title">{title}</span>
        <ul class="legend">
          {series.map(({ name, values }, index) => (
            <li key={name}>
              <svg class={`key series-${index + 1}`} viewBox="0 0 24 8" aria-hidden="true">
                {props.shape === "bars" ? (
                  <path d="M8 4h8" stroke-width="8" />
                ) : (
                  <path d="M1 4h22" stroke-dasharray={DASHES[index]?.join(" ")} />
                )}
              </svg>
              {name} <strong>{isSum ? format(sumOf(values)) : textOf(values[at], format)}</strong>
            </li>
          ))}
          <li class="muted">{isSum ? "in all" : times[at] !== undefined && formatPointTime(times[at])}</li>
        </ul>
      </figcaption>
      <div class="plot-frame">
        <div
          ref={frame}
          class="plot"
          role="img"
          aria-label={`${title}. The figures are in the table below.`}
        />
        {!hasFigures(series) && <p class="plot-empty muted">No figures in this window yet</p>}
      </div>
      <ChartTable title={title} times={times} series={series} format={format} />
    </figure>
  );
}

interface TimeChartProps {
  readonly title: string;
  /** Seconds since 1970, ascending. */
  readonly times: readonly number[];
  /** The start and end of the time axis, in seconds since 1970. Default: those of the lines. */
  readonly span?: readonly [number, number] | undefined;
  /** At most four. */
  readonly series: readonly ChartSeries[];
  /** `bars` stacks counts of a step, the first series at the bottom. Default `lines`. */
  readonly shape?: "lines" | "bars";
  /** True to fit the axis to the values, for a level that never comes near zero. Default: the axis begins at zero. */
  readonly isFitted?: boolean;
  format(value: number): string;
}

const HEIGHT = 200;
const POINTS_MAX_COUNT = 120;
/** Lines differ by their dashes as well as their colour. */
const DASHES: readonly (readonly number[])[] = [[], [7, 4], [2, 3], [10, 3, 2, 3]];

/** Bars are drawn from the tallest stack to the lowest, so that each covers all but its own part of the one before. */
function dataOf({ times, series, shape }: TimeChartProps): uPlot.AlignedData {
  if (shape !== "bars") return [[...times], ...series.map(({ values }) => [...values])];
  const stacks = series.map((_, top) =>
    times.map((_time, at) =>
      series.slice(0, top + 1).reduce((sum, { values }) => sum + (values[at] ?? 0), 0),
    ),
  );
  return [[...times], ...stacks.toReversed()];
}

/** Returns the index of the last time with a figure. */
function newestIndex({ times, series }: TimeChartProps): number {
  const index = times.findLastIndex((_, at) => series.some(({ values }) => typeof values[at] === "number"));
  return index < 0 ? times.length - 1 : index;
}

const sumOf = (values: ChartSeries["values"]): number =>
  values.reduce<number>((sum, value) => sum + (value ?? 0), 0);

function textOf(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? "—" : format(value);
}

function optionsFor(
  element: HTMLElement,
  latest: { readonly current: TimeChartProps },
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
      x: { range: (_plot, min, max) => [...(latest.current.span ?? spanOf(latest.current, min, max))] },
      y: { range: (_plot, min, max) => axisRange(min, max, latest.current.isFitted === true) },
    },
    axes: [
      {
        ...axis,
        space: 80,
        size: 28,
        values: (_plot, ticks) => ticks.map((tick) => formatAxisTime(tick, ticks)),
      },
      {
        ...axis,
        size: (_plot, labels) => axisWidth(labels ?? []),
        values: (_plot, ticks) =>
          ticks.map((tick) => (hasFigures(latest.current.series) ? latest.current.format(tick) : "")),
      },
    ],
    series: [
      {},
      ...(latest.current.shape === "bars" ? barSeries(element, latest) : lineSeries(element, latest)),
    ],
  };
}

/**
 * The axis begins with the first figure, but has at least five steps. A bar begins at the time of its step and ends
 * before the next one.
 */
export function spanOf(
  { times, series, shape }: Pick<TimeChartProps, "times" | "series" | "shape">,
  min: number,
  max: number,
): readonly [number, number] {
  const [first = 0, second = first] = times;
  const step = second - first;
  const begun = times.find((_, at) => series.some(({ values }) => typeof values[at] === "number")) ?? min;
  return [Math.max(min, Math.min(begun, max - STEPS_MIN_COUNT * step)), shape === "bars" ? max + step : max];
}

const STEPS_MIN_COUNT = 5;

interface LatestProps {
  readonly current: TimeChartProps;
}

function lineSeries(element: HTMLElement, { current: { series, times } }: LatestProps): uPlot.Series[] {
  return series.map(({ name }, index) => ({
    label: name,
    stroke: colourOf(element, `--series-${index + 1}`),
    width: 2,
    dash: [...(DASHES[index] ?? [])],
    // A single point between two gaps has no line, so it needs a dot.
    points: { show: times.length <= POINTS_MAX_COUNT, size: isSparse(series) ? 8 : 4 },
    spanGaps: false,
  }));
}

/** In the order of {@link dataOf}: the last series first. */
function barSeries(element: HTMLElement, { current: { series } }: LatestProps): uPlot.Series[] {
  const paths = uPlot.paths.bars?.({ size: [0.7, 32], align: 1 });
  return series
    .map(({ name }, index) => ({
      label: name,
      fill: colourOf(element, `--series-${index + 1}`),
      width: 0,
      points: { show: false },
      ...(paths !== undefined && { paths }),
    }))
    .toReversed();
}

/** Returns the lowest and the highest value of the axis. */
export function axisRange(min: number, max: number, isFitted: boolean): [number, number] {
  // A chart without a value.
  if (!(max > 0)) return [0, 1];
  if (!isFitted) return [0, max * 1.1];
  const margin = Math.max((max - min) * 0.1, max * 0.001);
  return [Math.max(0, min - margin), max + margin];
}

const hasFigures = (series: readonly ChartSeries[]): boolean =>
  series.some(({ values }) => values.some((value) => value !== null));

/** A few points need dots that can be seen. */
const isSparse = (series: readonly ChartSeries[]): boolean =>
  series.every(({ values }) => values.filter((value) => value !== null).length <= SPARSE_MAX_COUNT);

const SPARSE_MAX_COUNT = 3;

/** Returns the room for the longest label beside an axis, in pixels. */
function axisWidth(labels: readonly string[]): number {
  return AXIS_GAP + Math.max(...labels.map(({ length }) => length), 3) * LABEL_WIDTH;
}

const AXIS_GAP = 14;
/** The width of a digit at 12 px. */
const LABEL_WIDTH = 7;

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
