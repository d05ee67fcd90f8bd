import type { JSX } from "preact";
import { useOnNetwork, useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { Loaded } from "../../design/loaded.tsx";
import { Panel } from "../../design/panel.tsx";
import { Badge } from "../../design/value/badge.tsx";
import { Stat, Stats } from "../../design/value/facts.tsx";
import { formatCount, formatMoney } from "../../format/text.ts";
import { BurnStat } from "../chain/burn-panel.tsx";

/** How long the Treasury and the gas last, and whether the ledger is consistent. */
export function ReservesPanel(): JSX.Element {
  const { operations } = useSession();
  const onNetwork = useOnNetwork();
  const reserves = useCall(
    async (signal) => {
      const [history, money] = await Promise.all([
        operations.getTreasuryHistory({}, { signal }),
        operations.getMoney({}, { signal }),
      ]);
      return { ...history, money };
    },
    [],
    { everyMs: 60_000 },
  );
  return (
    <Panel
      title={`Reserves${onNetwork}`}
      note={
        <>
          Days left at the rate of the last week: <a href="#/treasury">Treasury and gas</a>.
        </>
      }
    >
      <Loaded call={reserves} lines={3}>
        {({ ika, sui, gas, money }) => (
          <Stats>
            <BurnStat name="IKA of the Treasury" of={ika} symbol="IKA" />
            <BurnStat name="SUI of the Treasury" of={sui} symbol="SUI" />
            <BurnStat name="SUI for gas" of={gas} symbol="SUI" />
            <Stat
              name="Balances of projects"
              value={<a href="#/money">{formatMoney(money.balanceMicroUsd)}</a>}
              note={ledgerState(money.ledgerVerification?.differenceCount)}
            />
          </Stats>
        )}
      </Loaded>
    </Panel>
  );
}

function ledgerState(differenceCount: number | undefined): JSX.Element {
  if (differenceCount === undefined) return <Badge tone="none">ledger not verified yet</Badge>;
  if (differenceCount === 0) return <>no mismatch in the ledger</>;
  return <Badge tone="bad">{`${formatCount(differenceCount)} mismatches in the ledger`}</Badge>;
}
