import type { JSX } from "preact";
import type { BalanceBurn } from "../../../gen/client/tss/v1/operations_pb.ts";
import { formatCoin } from "../format/money.ts";
import { Badge } from "../ui/badge.tsx";
import { Stat } from "../ui/stat.tsx";

/** How many days a balance lasts, with the balance and its rate. */
export function BurnStat({ name, of, symbol }: BurnStatProps): JSX.Element {
  if (of === undefined) return <Stat name={name} value="—" note="not recorded yet" />;
  const { balance, burnPerDay, daysLeft } = of;
  return (
    <Stat
      name={name}
      value={daysText(daysLeft, burnPerDay)}
      note={
        <>
          {formatCoin(balance, symbol)}
          {burnPerDay === undefined
            ? ", rate not known yet"
            : `, loses ${formatCoin(burnPerDay, symbol)} a day`}
        </>
      }
    />
  );
}

function daysText(days: number | undefined, burnPerDay: bigint | undefined): JSX.Element | string {
  if (days === undefined) return burnPerDay === 0n ? "loses nothing" : "—";
  const text = `${days < 10 ? days.toFixed(1) : Math.floor(days).toLocaleString("en")} days`;
  if (days < ALARM_DAYS) return <Badge tone="bad">{text}</Badge>;
  return days < WARNING_DAYS ? <Badge tone="warn">{text}</Badge> : text;
}

interface BurnStatProps {
  readonly name: string;
  readonly of: BalanceBurn | undefined;
  readonly symbol: "IKA" | "SUI";
}

const ALARM_DAYS = 3;
const WARNING_DAYS = 14;
