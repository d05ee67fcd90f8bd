import type { JSX } from "preact";
import { useSession } from "../api/session.ts";
import { useCall } from "../api/use-call.ts";
import { formatMoney } from "../format/money.ts";
import { Stat, Stats } from "../ui/facts.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { PageFrame } from "../ui/page-frame.tsx";
import { LedgerPanel } from "./ledger-panel.tsx";

/** The project's balance and ledger. */
export function BalancePage(): JSX.Element {
  const { billing } = useSession();
  const balance = useCall((signal) => billing.getBalance({}, { signal }), [], { everyMs: 10_000 });
  return (
    <PageFrame title="Balance" actions={<DepositLink />}>
      <section class="panel" aria-label="Balance">
        <Loaded call={balance} lines={2}>
          {({ balanceMicroUsd, heldMicroUsd }) => (
            <Stats>
              <Stat name="To spend" value={formatMoney(balanceMicroUsd - heldMicroUsd)} />
              <Stat name="Held" value={formatMoney(heldMicroUsd)} note="for open reservations" />
              <Stat name="Balance" value={formatMoney(balanceMicroUsd)} />
            </Stats>
          )}
        </Loaded>
      </section>
      <LedgerPanel />
    </PageFrame>
  );
}

function DepositLink(): JSX.Element {
  return (
    <a class="button button-primary" href="#/deposits">
      Deposit
    </a>
  );
}
