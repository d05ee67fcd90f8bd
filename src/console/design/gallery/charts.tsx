import type { JSX } from "preact";
import { formatCount, formatDuration } from "../../format/text.ts";
import { type ShownStage, StageBars } from "../chart/stage-bars.tsx";
import { TimeChart } from "../chart/time-chart.tsx";
import { Panel } from "../panel.tsx";

/** Charts over time, and the stages of one thing. */
export function Charts(): JSX.Element {
  return (
    <>
      <Panel title="Charts">
        <div class="charts">
          <TimeChart title="Bars" times={TIMES} series={COUNTS} shape="bars" format={formatCount} />
          <TimeChart title="Lines" times={TIMES} series={LEVELS} format={formatCount} />
          <TimeChart title="A fitted axis" times={TIMES} series={BALANCE} isFitted format={formatCount} />
          <TimeChart title="No figures" times={[]} series={NOTHING} format={formatCount} />
        </div>
      </Panel>
      <Panel title="Stages" note={`A thing that has run for ${formatDuration(2_600)}.`}>
        <StageBars label="Stages" stages={STAGES} />
      </Panel>
    </>
  );
}

/** Each minute of an hour on a fixed day. */
const TIMES = Array.from({ length: 60 }, (_, minute) => Date.UTC(2027, 0, 15, 12, minute) / 1_000);
const wave = (base: number, height: number, length: number): number[] =>
  TIMES.map((_, at) => Math.round(base + height * Math.sin(at / length)));

const COUNTS = [
  { name: "Completed", values: wave(40, 20, 7) },
  { name: "Failed", values: wave(4, 4, 3) },
];
const LEVELS = [
  { name: "Ready", values: wave(80, 15, 9) },
  { name: "Low water", values: TIMES.map(() => 60) },
  { name: "On the way", values: wave(20, 12, 5) },
  { name: "Held", values: TIMES.map((_, at) => (at % 20 < 10 ? 8 : null)) },
];
const BALANCE = [{ name: "IKA", values: wave(1_000_000, 300, 20) }];
const NOTHING = [{ name: "IKA", values: [] }];

const START_MS = Date.UTC(2027, 0, 15, 12);
const STAGES: readonly ShownStage[] = [
  {
    name: "Reserved",
    doing: "a presign was taken",
    fromMs: START_MS,
    toMs: START_MS + 700,
    outcome: "done",
  },
  {
    name: "Half received",
    doing: "the service verified it",
    fromMs: START_MS + 700,
    toMs: START_MS + 1_900,
    outcome: "done",
  },
  {
    name: "Submitted",
    doing: "the network signs",
    fromMs: START_MS + 1_900,
    toMs: START_MS + 2_600,
    outcome: "now",
  },
];
