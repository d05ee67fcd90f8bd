import type { JSX } from "preact";
import type { Allowance, Budget, BudgetLeft } from "../../../gen/client/tss/v1/allowance_pb.ts";
import { SignatureAlgorithmSchema } from "../../../gen/client/tss/v1/types_pb.ts";
import { Time } from "../design/value/time.tsx";
import { budgetText } from "../format/limits.ts";
import { enumName } from "../format/text.ts";

/** The limits of a narrow key, a line each, with what is left of its budget. */
export function KeyLimits({ of: { allowance, budgetLeft } }: KeyLimitsProps): JSX.Element {
  if (allowance === undefined) return <span class="muted">none</span>;
  const { userReferences, dwalletIds, algorithms, budget } = allowance;
  return (
    <ul class="plain-list">
      {userReferences.length > 0 && <li class="spaces">users {userReferences.join(", ")}</li>}
      {dwalletIds.length > 0 && (
        <li title={dwalletIds.join("\n")}>
          {dwalletIds.length === 1 ? "one dWallet" : `${dwalletIds.length} dWallets`}
        </li>
      )}
      {algorithms.length > 0 && (
        <li>{algorithms.map((algorithm) => enumName(SignatureAlgorithmSchema, algorithm)).join(", ")}</li>
      )}
      {budget !== undefined && <BudgetLine budget={budget} left={budgetLeft} />}
    </ul>
  );
}

interface KeyLimitsProps {
  readonly of: LimitedKey;
}

/** The fields of a key about its limits. */
export interface LimitedKey {
  readonly allowance?: Allowance | undefined;
  readonly budgetLeft?: BudgetLeft | undefined;
}

function BudgetLine({ budget, left }: BudgetLineProps): JSX.Element {
  return (
    <li>
      {budgetText(budget, left)}
      {left?.growTime !== undefined && (
        <>
          , more <Time of={left.growTime} />
        </>
      )}
    </li>
  );
}

interface BudgetLineProps {
  readonly budget: Budget;
  readonly left: BudgetLeft | undefined;
}
