import type { ComponentChildren, JSX } from "preact";
import type { Usage } from "../../../../gen/client/tss/v1/billing_pb.ts";
import { Stat, Stats } from "../../design/value/facts.tsx";
import { formatCount, formatMoney } from "../../format/text.ts";

/** The sums of signatures, dWallets and charges, with further figures after them. */
export function UsageStats({ total, children }: UsageStatsProps): JSX.Element {
  return (
    <Stats>
      <Stat
        name="Signatures"
        value={formatCount(total?.signCount ?? 0n)}
        note={`${formatCount(total?.signRefundCount ?? 0n)} refunded`}
      />
      <Stat
        name="dWallets"
        value={formatCount(total?.dwalletCount ?? 0n)}
        note={`${formatCount(total?.dwalletRefundCount ?? 0n)} refunded`}
      />
      <Stat name="Charged" value={formatMoney(total?.chargedMicroUsd ?? 0n)} note="minus refunds" />
      {children}
    </Stats>
  );
}

interface UsageStatsProps {
  readonly total: Usage | undefined;
  readonly children?: ComponentChildren;
}
