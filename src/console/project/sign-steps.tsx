import type { JSX } from "preact";
import { SignRequest_Status as Status } from "../../../gen/client/tss/v1/signing_pb.ts";
import { Icon } from "../ui/icon.tsx";

/** The progress of a sign request: its past states and the current one. */
export function SignSteps({ status }: { readonly status: Status }): JSX.Element {
  return (
    <ol class="steps">
      {STEPS.map(([step, title, note]) => {
        const place = status === Status.failed ? "later" : placeOf(step, status);
        return (
          <li key={step} class={`step step-${place}`} aria-current={place === "now" ? "step" : undefined}>
            <Icon name={place === "done" ? "check" : place === "now" ? "clock" : "circle"} />
            <span>
              <strong>{title}</strong>
              <span class="small muted">{note}</span>
            </span>
          </li>
        );
      })}
    </ol>
  );
}

const STEPS: readonly (readonly [Status, string, string])[] = [
  [Status.prepared, "Prepared", "a presign is reserved, the price held"],
  [Status.queued, "Queued", "the user's half is checked, the price charged"],
  [Status.submitted, "Submitted", "the transaction is final"],
  [Status.completed, "Completed", "the signature is verified"],
];

function placeOf(step: Status, status: Status): "done" | "now" | "later" {
  if (step < status || status === Status.completed) return "done";
  return step === status ? "now" : "later";
}
