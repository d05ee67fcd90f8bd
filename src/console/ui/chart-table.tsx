import type { JSX } from "preact";
import { formatPointTime } from "./chart-times.ts";
import { DataTable } from "./data-table.tsx";

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
            ...{ title: name, isNumber: true },
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
