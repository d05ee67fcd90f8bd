import { expect, it } from "vitest";
import { spanOf } from "../../../src/console/design/chart/time-chart.tsx";

const times = Array.from({ length: 100 }, (_, at) => at * 60);
const spanFrom = (firstFigure: number, shape: "lines" | "bars" = "lines") =>
  spanOf(
    {
      times,
      shape,
      series: [{ name: "Ready", values: times.map((_, at) => (at < firstFigure ? null : 1)) }],
    },
    0,
    99 * 60,
  );

it("begins the time axis of a chart with its first figure, and keeps at least five steps", () => {
  expect(spanFrom(0)).toEqual([0, 99 * 60]);
  expect(spanFrom(40)).toEqual([40 * 60, 99 * 60]);
  expect(spanFrom(99)).toEqual([94 * 60, 99 * 60]);
  expect(spanFrom(100)).toEqual([0, 99 * 60]);
});

it("leaves room for the last bar", () => {
  expect(spanFrom(40, "bars")).toEqual([40 * 60, 100 * 60]);
});
