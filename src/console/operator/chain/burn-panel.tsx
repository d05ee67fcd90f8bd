import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { BalanceBurn, GetTreasuryHistoryResponse } from "../../../../gen/client/tss/v1/operations_pb.ts";
import { isOneOf, useUrlFilter } from "../../address/use-url-filter.ts";
import { useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { TimeChart } from "../../design/chart/time-chart.tsx";
import { SelectField } from "../../design/form/field.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { Panel } from "../../design/panel.tsx";
import { Badge } from "../../design/value/badge.tsx";
import { Stat, Stats } from "../../design/value/facts.tsx";
import { formatCoin, formatDays } from "../../format/text.ts";
import { ALARM_DAYS, WARNING_DAYS } from "../overview/concerns.ts";
import { windowStart } from "../signing/sign-series.ts";

/** How many days the Treasury and the gas last, and their balances over time. */
export function BurnPanel(): JSX.Element {
  const { operations } = useSession();
  const [seconds, setSeconds] = useUrlFilter("window", "604800", isOneOf(WINDOWS));
  const history = useCall(
    (signal) => operations.getTreasuryHistory({ startTime: windowStart(seconds, Date.now()) }, { signal }),
    [seconds],
    { everyMs: 60_000 },
  );
  return (
    <Panel
      title="Days left"
      note="At the rate of the window. A worker records the balances every ten minutes; a rate needs an hour of them."
      actions={
        <SelectField label="Window" options={WINDOWS} value={seconds} isInline onSelect={setSeconds} />
      }
    >
      <Loaded call={history} lines={8}>
        {(reply) => <Burns reply={reply} />}
      </Loaded>
    </Panel>
  );
}

function Burns({ reply }: { readonly reply: GetTreasuryHistoryResponse }): JSX.Element {
  const { ika, sui, gas, steps, startTime, endTime } = reply;
  const { times, span, ikaSeries, suiSeries } = useMemo(() => {
    const noted = steps.filter(({ time }) => time !== undefined);
    return {
      span: startTime && endTime && ([timestampMs(startTime) / 1_000, timestampMs(endTime) / 1_000] as const),
      times: noted.map(({ time }) => timestampMs(time!) / 1_000),
      ikaSeries: [{ name: "Treasury", values: noted.map(({ ikaBalance }) => Number(ikaBalance) / UNITS) }],
      suiSeries: [
        { name: "Treasury", values: noted.map(({ suiBalanceMist }) => Number(suiBalanceMist) / UNITS) },
        { name: "Gas", values: noted.map(({ gasBalanceMist }) => Number(gasBalanceMist) / UNITS) },
      ],
    };
  }, [reply]);
  return (
    <>
      <Stats>
        <BurnStat name="IKA of the Treasury" of={ika} symbol="IKA" />
        <BurnStat name="SUI of the Treasury" of={sui} symbol="SUI" />
        <BurnStat name="SUI for gas" of={gas} symbol="SUI" />
      </Stats>
      {times.length > 0 && (
        <div class="charts">
          <TimeChart
            title="IKA"
            times={times}
            span={span}
            series={ikaSeries}
            isFitted
            format={formatAmount}
          />
          <TimeChart title="SUI" times={times} span={span} series={suiSeries} format={formatAmount} />
        </div>
      )}
    </>
  );
}

const UNITS = 1e9;

const formatAmount = (amount: number): string => amount.toLocaleString("en", { maximumFractionDigits: 3 });

const WINDOWS: readonly (readonly [string, string])[] = [
  ["86400", "the last day"],
  ["604800", "the last week"],
  ["2592000", "the last 30 days"],
];

/** How many days a balance lasts, with the balance and its rate. */
export function BurnStat({ name, of, symbol }: BurnStatProps): JSX.Element {
  if (of === undefined) return <Stat name={name} value="—" note="not recorded yet" />;
  const { balance, burnPerDay, daysLeft } = of;
  const amount = formatCoin(balance, symbol);
  if (burnPerDay === undefined) return <Stat name={name} value={amount} note="rate not known yet" />;
  if (daysLeft === undefined) return <Stat name={name} value={amount} note="loses nothing" />;
  return (
    <Stat
      name={name}
      value={daysText(daysLeft)}
      note={`${amount}, loses ${formatCoin(burnPerDay, symbol)} a day`}
    />
  );
}

function daysText(days: number): JSX.Element | string {
  const text = formatDays(days);
  if (days < ALARM_DAYS) return <Badge tone="bad">{text}</Badge>;
  return days < WARNING_DAYS ? <Badge tone="warn">{text}</Badge> : text;
}

interface BurnStatProps {
  readonly name: string;
  readonly of: BalanceBurn | undefined;
  readonly symbol: "IKA" | "SUI";
}
